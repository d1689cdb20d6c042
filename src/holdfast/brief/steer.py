"""Words for the client's summariser: what to keep exactly, and what may be dropped. Plain text, at
most 2,000 characters; at most 600 where the client shows them to the user.

The user's words are never among what may be dropped. They come first, the newest before all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.brief.item import MOST_ARCHIVED, Archived
from holdfast.brief.quotes import quotes
from holdfast.budget.estimate import units
from holdfast.record import open_items
from holdfast.record.model import Record
from holdfast.redact import redact
from holdfast.text import fence
from holdfast.text.fence import code, flat

MOST_UNITS = 2000
SHOWN_UNITS = 600  # the screen of `/compact` shows them, and the next request holds them again
WORDS_UNITS, SHOWN_WORDS_UNITS = 1000, 160  # of the user's words, beside the request
MOST_FAILING, MOST_TASKS, MOST_COMMANDS = 3, 4, 3


def steer(
    record: Record,
    whose: str = "the user",
    archived: Sequence[Archived] = (),
    *,
    shown: bool = False,
) -> str:
    """What the summary must hold word for word, most important first; then what is archived.
    Where it is `shown` to the user, only what the work hangs on: the brief restores the rest.
    Empty for a record that holds nothing."""
    lines = ["Keep these word for word in the summary:"]
    if record.planning:
        lines.append("- plan mode is on: only read and plan until the user approves the plan")
    lines += _words(record, whose, SHOWN_WORDS_UNITS if shown else WORDS_UNITS)
    for call in open_items.calls(record)[-1:]:
        what = f" {code(call.what, 120)}" if call.what else ""
        lines.append(f"- step in flight: {call.tool}{what}")
    failing = [one for one in open_items.failures(record) if not one.verdict]
    for one in failing[:MOST_FAILING]:
        said = f": {flat(one.lines[0], 120)}" if one.lines else ""
        lines.append(f"- still failing: {code(one.command, 120)}{said}")
    for task in open_items.tasks(record)[:MOST_TASKS]:
        lines.append(f"- open task: {flat(task.text, 120)}")
    warm = sorted(record.commands.values(), key=lambda one: one.op)[-MOST_COMMANDS:]
    lines += [f"- command: {code(one.line, 160)}" for one in warm]
    if len(lines) == 1:
        return ""
    lines.append("Say what is done only where a result shows it; name files by their path.")
    if shown:
        return redact(_fitting(lines, SHOWN_UNITS))
    return redact(_fitting([*lines, *_droppable(archived)], MOST_UNITS))


def _words(record: Record, whose: str, room: int) -> Iterator[str]:
    """The last words as the request; then the others, newest first, as far as they go. What was
    typed behind `/compact` asks nothing of the work."""
    known = [one for one in quotes(record) if not one.text.startswith("/compact")]
    typed = [one for one in known if one.order == int(one.order)]  # not answers to questions
    last = typed[-1] if typed else None
    if last is not None:
        answers = f" (to “{last.reply_to}”)" if last.reply_to else ""
        yield f"- request: “{flat(last.text, 300)}”{answers}"
    for one in reversed([one for one in known if one is not last]):
        line = f"- said by {whose}: “{flat(one.text, 160)}”"
        room -= units(line)
        if room < 0:
            return
        yield line


def _droppable(archived: Sequence[Archived]) -> list[str]:
    """Those that the brief names, so that what is dropped can be recalled."""
    if not archived:
        return []
    told = [
        f"- {flat(topic, 90)}" + (f" ({flat(', '.join(files), 60)})" if files else "")
        for _, topic, files in reversed(archived[-MOST_ARCHIVED:])
    ]
    heading = "Archived and recallable; may be dropped, but for the user's own words:"
    return [heading, *told]


def _fitting(lines: list[str], most: int) -> str:
    """Whole lines, from the first, as far as they go."""
    room = most * 9 // 10  # redaction may lengthen a line
    kept: list[str] = []
    for line in map(fence.line, lines):
        room -= units(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(kept)
