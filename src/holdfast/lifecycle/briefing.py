"""What a window is handed back: its facts, the rules the client forgets, and what was set for it.

One place, so that `holdfast brief` and `holdfast budget` show what the hook would say.
"""

from __future__ import annotations

import os

from holdfast.brief.compose import DEFAULT_TOKENS, Brief, compose
from holdfast.budget import ledger
from holdfast.checkpoint.facts import Facts
from holdfast.client.marked_rules import marked_rules
from holdfast.lifecycle import keeping
from holdfast.window.state import State
from holdfast.wire import places
from holdfast.work.projection import read_projection


def composed(
    state: State, folder: str, facts: Facts, max_tokens: int | None = None, role: str = ""
) -> Brief:
    """As large as the user set it, unless a size is asked for."""
    return compose(
        facts,
        wanted_tokens(state.project) if max_tokens is None else max_tokens,
        role,
        agent_type=state.agent_type,
        marked=marked_rules(state.project, read_files(facts)),
        work=read_projection(folder),
        budget=ledger.read(state.project, state.session_id),
        archived=keeping.archived(state),
    )


def wanted_tokens(project: str) -> int:
    """What the user set. A compaction waits for us, and loading settings takes as long as 1.6
    interpreter starts: whoever has not set it does without."""
    named = any(name in os.environ for name in ("HOLDFAST_BRIEF_TOKENS", "max_tokens"))
    if not named and b"brief_tokens" not in places.read_small(f"{places.home()}/settings.toml"):
        return DEFAULT_TOKENS
    from holdfast.settings import load

    return load.load(project).whole("brief_tokens")


def read_files(facts: Facts) -> list[str]:
    """What was read or changed, the newest first: reading it is what loads a folder's rules."""
    used = [(one.op, path) for path, one in facts.files.items() if one.reads or one.edits]
    return [path for _, path in sorted(used, reverse=True)]
