"""What a hook may print, in the client's own form; nothing else is ever written to stdout.

`additionalContext` reaches the model, `systemMessage` the user, and only inside these shapes:
a missing event name or an unknown decision makes the client throw the whole answer away.
"""

from __future__ import annotations

import json

TAKES_CONTEXT = frozenset(
    (
        *("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"),
        *("SubagentStart", "SubagentStop"),
    )
)


def block(reason: str, *, to_user: str = "") -> str:
    """The turn goes on, and the model is told why."""
    said = {"decision": "block", "reason": reason}
    return json.dumps({**said, "systemMessage": to_user} if to_user else said, ensure_ascii=False)


def answer(event: str, *, to_model: str = "", to_user: str = "") -> str:
    """The JSON for one event, or nothing when there is nothing to say."""
    body: dict[str, object] = {}
    if to_user:
        body["systemMessage"] = to_user
    if to_model and event in TAKES_CONTEXT:
        body["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": to_model}
    return json.dumps(body, ensure_ascii=False) if body else ""
