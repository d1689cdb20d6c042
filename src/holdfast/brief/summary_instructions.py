"""Instructions for the client's summariser: what to keep exactly, and what may be dropped. Plain
text of at most 2,000 characters; at most 600 if the client shows them to the user.

The request and what is open come first, then the user's other words. These are never among what may
be dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from holdfast.brief.item import MOST_ARCHIVED, Archived
from holdfast.brief.quotes import Quote, quotes
from holdfast.budget.compartments import units
from holdfast.record import commands, open_items
from holdfast.record.model import Record
from holdfast.record.turns import TAKEN_BACK, TERSE_CHARS
from holdfast.redact.find import redact
from holdfast.text import fence
from holdfast.text.fence import code, flat, quoted

MOST_UNITS = 2000
SHOWN_UNITS = 600  # `/compact` shows them on screen, and the next request contains them again
OPEN_SHARE, PIN_SHARE = 0.5, 0.3  # of the room, for what is open and for pins
WORDS_UNITS = 1000  # of the user's words, beside the request
MOST_FAILING, MOST_TASKS, MOST_QUESTIONS, MOST_COMMANDS = 3, 4, 2, 3
HEADING = "Keep these word for word in the summary:"
CLOSING = "Say what is done only where a result shows it; name files by their path."


def write_instructions(
    record: Record,
    whose: str = "the user",
    archived: Sequence[Archived] = (),
    pins: Sequence[str] = (),
    *,
    shown: bool = False,
) -> str:
    """Return what the summary must contain word for word, most important first; then what is
    archived. If it is `shown` to the user, only the most important lines."""
    most = (SHOWN_UNITS if shown else MOST_UNITS) * 9 // 10  # redaction may lengthen a line
    room = most - _cost([HEADING, CLOSING])
    all_quotes = [quote for quote in quotes(record) if _still_holds(quote)]
    # Not answers to questions.
    typed = [quote for quote in all_quotes if quote.order == int(quote.order)]
    request = typed[-1] if typed else None
    lines = _fitting(_at_hand(record, request, 160 if shown else 300), room)
    lines += _fitting(
        (f"- pinned: {flat(pin, 160)}" for pin in pins), min(room, int(most * PIN_SHARE))
    )
    room = most - _cost([HEADING, *lines, CLOSING])
    lines += _fitting(_open(record, 80 if shown else 120), min(room, int(most * OPEN_SHARE)))
    words = _words([quote for quote in all_quotes if quote is not request], whose)
    lines += _fitting(words, min(WORDS_UNITS, most - _cost([HEADING, *lines, CLOSING])))
    if not shown:
        lines += _fitting(_commands(record), most - _cost([HEADING, *lines, CLOSING]))
    if not lines:
        return ""
    lines = [HEADING, *lines, CLOSING]
    if not shown:
        lines += _fitting(_droppable(archived), most - _cost(lines))
    return redact("\n".join(lines))


def _still_holds(quote: Quote) -> bool:
    """Whether the words are not `/compact` itself, and were not taken back."""
    return not (quote.text.startswith("/compact") or quote.stopped.startswith(TAKEN_BACK))


def _at_hand(record: Record, request: Quote | None, longest: int) -> Iterator[str]:
    if request is not None:
        answers = f" (to {quoted(flat(request.reply_to, 160))})" if request.reply_to else ""
        yield f"- request: {_last_message(request, longest)}{answers}"
    for call in open_items.calls(record)[-1:]:
        yield f"- step in flight: {open_items.describe_call(call, 120)}"


def _open(record: Record, longest: int) -> Iterator[str]:
    for line, failure in commands.failing(record)[:MOST_FAILING]:
        words = " / ".join(flat(row, longest) for row in failure.lines[:2])
        yield f"- failed at step {failure.place.op}: {code(line, longest)}: {words}"
    for task in open_items.tasks(record)[:MOST_TASKS]:
        yield f"- open task: {flat(task.text, longest)}"
    for question in open_items.questions(record)[:MOST_QUESTIONS]:
        yield f"- open question: {quoted(flat(question.text, longest))}"


def _words(all_quotes: Sequence[Quote], whose: str) -> Iterator[str]:
    """Yield the words newest first; short replies come last, each with what it answers."""
    for quote in sorted(all_quotes, key=lambda quote: (_is_short_reply(quote), -quote.order)):
        answers = f" (to {quoted(flat(quote.reply_to, 80))})" if _is_short_reply(quote) else ""
        yield f"- said by {whose}: {_last_message(quote, 160)}{answers}"


def _last_message(quote: Quote, most: int) -> str:
    """Return words of the user in quotation marks; an act, such as approving a plan, gets none."""
    return f"({flat(quote.text, most)})" if quote.is_act else quoted(flat(quote.text, most))


def _is_short_reply(quote: Quote) -> bool:
    return bool(quote.reply_to) and len(quote.text) < TERSE_CHARS


def _commands(record: Record) -> list[str]:
    checks = commands.newest_checks(record)[:MOST_COMMANDS]
    return [f"- command: {code(run.line, 160)}" for run in checks]


def _droppable(archived: Sequence[Archived]) -> list[str]:
    """List only segments that the brief names, so that what is dropped can be recalled."""
    if not archived:
        return []
    told = [
        f"- {flat(topic, 90)}" + (f" ({flat(', '.join(files), 60)})" if files else "")
        for _, topic, files in reversed(archived[-MOST_ARCHIVED:])
    ]
    heading = "Archived; the summary may leave these out, except the user's own words:"
    return [heading, *told]


def _fitting(lines: Iterable[str], room: int) -> list[str]:
    kept: list[str] = []
    for line in map(fence.line, lines):
        if _cost([line]) <= room:
            room -= _cost([line])
            kept.append(line)
    return kept


def _cost(lines: Sequence[str]) -> int:
    return sum(units(line) + 1 for line in lines)
