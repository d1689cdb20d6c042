"""Words for the client's summariser: what to keep exactly, and what is safe elsewhere. Plain text,
at most 2,000 characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.brief import fence
from holdfast.brief.fence import code, flat
from holdfast.brief.size import units
from holdfast.checkpoint.facts import Facts
from holdfast.checkpoint.request import request
from holdfast.redact import redact

if TYPE_CHECKING:
    from holdfast.brief.item import Archived  # a compaction waits for whatever is loaded here

MOST_UNITS = 2000


def steer(facts: Facts, whose: str = "the user", archived: Sequence[Archived] = ()) -> str:
    """What the summary must hold word for word, most important first; then what is archived.
    Empty with no facts."""
    lines = ["Keep these word for word in the summary:"]
    lines += [f"- request: “{flat(one.text, 300)}”" for one in request(facts)[:1]]
    if facts.planning:
        lines.append("- plan mode is on: only read and plan until the user approves the plan")
    lines += [
        f"- rule of {whose}: “{flat(one.text, 160)}”"
        for one in reversed(facts.rules)
        if one.kind in ("rule", "correction")
    ][:8]
    if facts.recent and facts.recent[-1].what:
        last = facts.recent[-1]
        lines.append(f"- step in flight: {last.tool} {code(last.what, 120)}")
    still = [one for one in facts.failures if one.fixed is None]
    lines += [
        f"- still failing: {code(one.command, 120)}: {flat(one.lines[0], 120)}"
        for one in still[-3:]
        if one.lines
    ]
    warm = sorted(facts.commands.values(), key=lambda one: one.op)[-3:]
    lines += [f"- command: {code(one.line, 160)}" for one in warm]
    if len(lines) == 1:
        return ""
    lines.append("Say what is done only where a result shows it; name files by their path.")
    return redact(_fitting([*lines, *_droppable(archived)]))


def _droppable(archived: Sequence[Archived]) -> list[str]:
    """The newest first: where there is no room for all, those are still in the window."""
    if not archived:
        return []
    told = [
        f"- {flat(topic, 90)}" + (f" ({flat(', '.join(files), 60)})" if files else "")
        for _, topic, files in reversed(archived)
    ]
    return ["Already archived, may be dropped from the summary:", *told]


def _fitting(lines: list[str]) -> str:
    """Whole lines, from the first, as far as they go."""
    room = MOST_UNITS - 200  # redaction may lengthen a line
    kept: list[str] = []
    for line in map(fence.line, lines):
        room -= units(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(kept)
