"""From facts to the two faces of a checkpoint: sections for people, a snapshot for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast.checkpoint.extract.outcomes import resolved
from holdfast.checkpoint.facts import REPORTED, Command, Facts, Failure, Prompt, Rule, Used
from holdfast.checkpoint.git_state import git_state
from holdfast.checkpoint.request import request

MOST_ITEMS = 40
MOST_CHARS = 600
MOST_FAILURES = 12
IN_PROGRESS = "In Progress"
AS_ASKED = f"the request under {IN_PROGRESS}"
GO_ON = "go on with the request"
ALL_REPORTED = "nothing is left open: the request was reported done"
_ASKED, _DONE_ASKED = "request: ", "request, reported done by the model: "
_DONE, _LAST, _STEP = "reported done by the model: ", "last said: ", "step: "
_LABELS = (_ASKED, _DONE_ASKED, _DONE, _LAST, _STEP)
PLAN_MODE = "mode: plan mode is on; read and plan only until the user approves the plan"

# What stands where there are no words of anybody's; the last two as they were called before.
_OURS = frozenset(
    {
        AS_ASKED,
        GO_ON,
        ALL_REPORTED,
        PLAN_MODE,
        f"go on with {AS_ASKED}",
        f"nothing known: the model has reported {AS_ASKED} done",
    }
)


def somebodys(section: str, entry: str) -> str:
    """The words of an entry that are not ours, for whoever looks for what was said."""
    if section == IN_PROGRESS:
        label = next((one for one in _LABELS if entry.startswith(one)), "")
        entry = entry.removeprefix(label)
    return "" if entry in _OURS else entry


def sections_of(facts: Facts) -> dict[str, list[str]]:
    """What is known, under the headings a reader looks for; empty ones are left out later."""
    found = {
        IN_PROGRESS: list(_in_progress(facts)),
        "User Rules": [_rule(rule) for rule in facts.rules],
        "What Changed": [_changed(*pair) for pair in _recent(facts) if pair[1].edits],
        "Why Changed": list(dict.fromkeys(_reasons(facts))),
        "Active Issues": [*_lost(facts), *map(_open, _failing(facts)), *_left_behind(facts)],
        "Key Decisions": [_cut(one.text) for one in facts.decisions],
        "Next Steps": list(_next_steps(facts)),
        "Open Questions": [_cut(text) for text in facts.questions],
        "Commands": [_ran(one) for one in _last_commands(facts)],
        "Errors Resolved": [_resolved(one) for one in resolved(facts)[-MOST_FAILURES:]],
        "Files Used": [_used(*pair) for pair in _recent(facts) if not pair[1].edits],
        "References": [_reference(facts, text) for text in list(facts.references)[-20:]],
        "Agents": [_cut(f"{a.kind}: {a.asked} → {a.answer or a.status}") for a in _agents(facts)],
    }
    return {name: items[-MOST_ITEMS:] for name, items in found.items()}


def snapshot_of(facts: Facts) -> dict[str, Any]:
    """The same as plain values, under the names existing readers of snapshots expect."""
    changed = [path for path, used in facts.files.items() if used.edits]
    return {
        "session_id": facts.session_id,
        "context_summary": _asked(facts),
        "active_tasks": [
            {"description": task.text, "status": task.status}
            for task in facts.tasks.values()
            if task.is_open
        ][-MOST_ITEMS:],
        "modified_files": changed[-MOST_ITEMS:],
        "key_decisions": [_cut(one.text) for one in facts.decisions[-MOST_ITEMS:]],
        "decided": [
            {"decision": _cut(one.text), "at": one.place.at}
            for one in facts.decisions[-MOST_ITEMS:]
        ],
        "agent_states": [
            {
                "agent_id": name,
                "agent_type": agent.kind,
                "status": agent.status,
                "summary": _cut(agent.answer or agent.asked),
            }
            for name, agent in list(facts.agents.items())[-MOST_ITEMS:]
        ],
        "recent_actions": [
            {"tool_name": call.tool, "detail": _cut(call.what)} for call in facts.recent
        ],
        "tools_used": dict(facts.tools),
    }


def _in_progress(facts: Facts) -> Iterator[str]:
    """The request being worked on, the last words, and calls that have no result yet."""
    if facts.prompts:
        label = _DONE_ASKED if facts.reported_done else _ASKED
        yield label + _asked(facts) + _where(facts)
    if facts.planning:
        yield PLAN_MODE
    if told := [task.text for task in facts.tasks.values() if task.status == REPORTED]:
        yield _cut(_DONE + " / ".join(told))
    if facts.last_texts:
        yield _LAST + _cut(facts.last_texts[-1])
    for call in [*facts.calls.values()][-3:] or facts.recent[-1:]:
        yield f"{_STEP}{call.tool} {_cut(call.what)}"
    for root in facts.roots[:1]:
        if state := git_state(root):
            yield "git: " + state


def _reasons(facts: Facts) -> Iterator[str]:
    """What was asked, oldest first; the request itself is not said again."""
    for one in facts.prompts[-4:]:
        yield AS_ASKED if one in request(facts)[:1] else _said(facts, one)


def _asked(facts: Facts) -> str:
    """The request being worked on: "go on" is none."""
    return _said(facts, request(facts)[0]) if facts.prompts else ""


def _said(facts: Facts, prompt: Prompt) -> str:
    """Their words, and which of them they have taken back since."""
    taken = [text for text in facts.revoked if text in prompt.text]
    if not taken:
        return _cut(prompt.text)
    which = "" if prompt.text.strip() in taken else ": " + " / ".join(taken)
    return f"{_cut(prompt.text)} (taken back since{_cut(which)})"


def _where(facts: Facts) -> str:
    """Where the rest of a long request is."""
    one = request(facts)[0]
    cut = one.line and one.chars > MOST_CHARS
    return f" (whole in line {one.line} of the transcript)" if cut else ""


def _next_steps(facts: Facts) -> Iterator[str]:
    open_tasks = [task for task in facts.tasks.values() if task.is_open]
    for task in open_tasks[-MOST_ITEMS:]:
        yield f"{_cut(task.text)} ({task.status})"
    if open_tasks or not facts.prompts:
        return
    reported = any(task.status == REPORTED for task in facts.tasks.values())
    yield ALL_REPORTED if reported or facts.reported_done else GO_ON


def _recent(facts: Facts) -> list[tuple[str, Used]]:
    return sorted(facts.files.items(), key=lambda pair: pair[1].op)[-MOST_ITEMS:]


def _changed(path: str, used: Used) -> str:
    lines = ", ".join(f"{first}-{last}" for first, last in used.ranges[-4:])
    place = f"{path}:{lines}" if lines else path
    since = ", removed or moved since" if used.gone else ""
    return f"{place} - edited {used.edits} time{'' if used.edits == 1 else 's'}{since}"


def _used(path: str, used: Used) -> str:
    return f"{path} - read {used.reads}, named {used.runs + used.seen}"


def _lost(facts: Facts) -> Iterator[str]:
    if facts.lost:
        yield f"{facts.lost} entries of the transcript could not be read, and are missing here"


def _left_behind(facts: Facts) -> Iterator[str]:
    for path, used in _recent(facts):
        for note in used.left:
            yield f"{path}: {_cut(note)}"


def _failing(facts: Facts) -> list[Failure]:
    return [one for one in facts.failures if one.fixed is None][-MOST_FAILURES:]


def _open(failure: Failure) -> str:
    return _cut(f"{failure.command}: " + " / ".join(failure.lines))


def _resolved(failure: Failure) -> str:
    by = f" after edits in {', '.join(failure.fix[-3:])}" if failure.fix else ""
    said = failure.lines[0] if failure.lines else "failed"
    return _cut(f"{failure.command} passes again{by}; it had said: {said}")


def _last_commands(facts: Facts) -> list[Command]:
    return sorted(facts.commands.values(), key=lambda one: one.op)[-20:]


def _ran(command: Command) -> str:
    went = {True: "passed", False: "failed", None: "no result yet"}[command.ok]
    return f"{command.line} ({went})"


def _rule(rule: Rule) -> str:
    if rule.before:
        return f"{_cut(rule.text)} (instead of: {_cut(rule.before)})"
    return _cut(rule.text) + (f" (said to: {_cut(rule.about)})" if rule.about else "")


def _reference(facts: Facts, text: str) -> str:
    one = facts.references[text]
    return f"{one.kind} {text}" + (f": {_cut(one.note)}" if one.note else "")


def _agents(facts: Facts) -> list[Any]:
    return list(facts.agents.values())[-10:]


def _cut(text: str) -> str:
    """Commands stay whole; long words are cut where a reader can see it."""
    flat = text.strip()
    return flat if len(flat) <= MOST_CHARS else flat[: MOST_CHARS - 1] + "…"
