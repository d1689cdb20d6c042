"""Items from the end of the session: the mode, the model's last words and last calls; and
remarks."""

from collections.abc import Iterator, Sequence

from holdfast.brief.item import MOST_ARCHIVED, Archived, BriefItem, quote_ends
from holdfast.record import commands, open_items
from holdfast.record.git import quotes
from holdfast.record.model import Call, Record
from holdfast.record.turns import began, turn_number
from holdfast.redact import redact
from holdfast.text.fence import both_ends, code, flat, plain_name
from holdfast.text.sentences import clip_start

FRESH_OPS = 3
PRINTED_CHARS, SHOWN_CHARS, REMARK_CHARS = 240, 200, 400
REMARK_WORTH = 0.0001  # of a character
MOST_REMARKS, OLDER_SHARE = 12, 0.08  # of this request; the part of the brief for older ones
MOST_PRINTED, MOST_EDITED_SINCE = 12, 3
MOST_ADDED = 4
LAST_CHARS = 800  # of the model's last words
ROOMY_CHARS = 3500  # a brief of this size always has the last calls
PLANNING = "plan mode is on: read and plan only, change no file until the user approves the plan"


def flight(record: Record, room: int) -> Iterator[BriefItem]:
    """Yield what the model said last, what it did last, and what still runs."""
    if record.planning:
        yield BriefItem("flight", PLANNING, 1.0, "the mode of the session", pinned=True, order=-2)
    place = record.recent[-1].place if record.recent else None
    if record.last_texts:
        age = record.op - record.last_said_op
        when = "last said" if age <= FRESH_OPS else f"said {age} steps ago, nothing since"
        if record.turns and record.last_said_op <= began(record):
            when = "said before the user's last words"
        begins, whole = f"{when}: ", redact(record.last_texts[-1])
        text = quote_ends(begins, whole, max(140, min(LAST_CHARS, int(room * 0.07))))
        why = "the model's last words"
        item = BriefItem("flight", text, 0.05, why, pinned=True, begins=begins, whole=whole)
        yield item
    running = open_items.calls(record)[-3:]
    for call in running:
        text = f"no result yet: {call.tool} {code(call.what, 160)}"
        yield BriefItem("flight", text, 0.04, "a call without a result", call.place, True, order=3)
    done = [one for one in record.recent if one not in running and one.what]
    if done and place is not None:
        steps = dict.fromkeys(_step(one) for one in reversed(done))  # each at its last place
        text = "last calls: " + "; ".join(reversed(list(steps)[:3]))
        yield BriefItem("flight", text, 0.02, "the last steps", place, room >= ROOMY_CHARS, order=1)


def printed(record: Record) -> Iterator[BriefItem]:
    """Yield the end of the newest output of each command that ran since the current request, newest
    first; commands that differ only behind a pipe are one. Of those after which files were edited
    only the newest are shown. What failed stands elsewhere, and so does what git printed."""
    shown = {line for line, _ in commands.failing(record)}
    by_git = {one.place.op for one in record.git.values()}
    ran = [
        (line, one)
        for line, one in record.commands.items()
        if one.op > began(record) and one.printed and one.op not in by_git and line not in shown
    ]
    ran.sort(key=lambda pair: pair[1].op)
    newest = {line.partition("|")[0].strip(): (line, one) for line, one in ran}
    ran = sorted(newest.values(), key=lambda pair: -pair[1].op)
    current = [pair for pair in ran if pair[1].edits_before == record.edits]
    ran = ran[: max(len(current), MOST_EDITED_SINCE)]
    for age, (line, one) in enumerate(ran[:MOST_PRINTED]):
        edits = commands.describe_edits(record, one)
        end = flat(clip_start(redact(one.printed), PRINTED_CHARS), PRINTED_CHARS)
        text = f"{code(line, SHOWN_CHARS)} printed at step {one.op}{edits and ', '}{edits}: {end}"
        worth = 0.02 / (1 + age / 2) / (1 + record.edits - one.edits_before)
        order = 1.1 + age / 99
        yield BriefItem("flight", text, worth, "a newest output", one.place, key=line, order=order)


def git(record: Record, room: int) -> Iterator[BriefItem]:
    """Yield what git said and printed last; the branch, and the newest answer, are always there if
    there is room."""
    for age, (text, place) in enumerate(quotes(record)):
        pinned = room >= ROOMY_CHARS and age < 2
        worth = 0.012 / (1 + age)
        yield BriefItem("flight", text, worth, "what git said", place, pinned, order=2 + age / 9)


def _step(call: Call) -> str:
    """Return a call in short."""
    failed = " (failed)" if call.failed else ""
    return f"{call.tool} {code(call.what, 80)}{failed}"


def remarks(record: Record, room: int) -> Iterator[BriefItem]:
    """Yield what the model said at work with its place, equal words once, the newest first: later
    words may refute earlier ones, so older ones get little room, and those of earlier requests, to
    which the answer is shown, what is left. The last words stand where the work stood."""
    answers = {turn.said_op for turn in record.turns[:-1] if turn.said and not turn.works_on}
    shown, left = {*answers, record.last_said_op}, int(room * OLDER_SHARE)
    newest = {both_ends(remark.text, REMARK_CHARS): remark.place for remark in record.remarks}
    known = [(text, place) for text, place in newest.items() if place.op not in shown]
    known.sort(key=lambda pair: -pair[1].op)
    for age, (text, place) in enumerate(known):
        is_older = age >= MOST_REMARKS or place.op <= began(record)
        left -= len(text) if is_older else 0
        if left < 0:
            return
        worth = REMARK_WORTH * len(text) / (1 + age / 4)
        text = f"turn {turn_number(record, place)}, step {place.op}: {text}"
        yield BriefItem(
            "decisions", text, worth, "said at work", place, order=age, is_spare=is_older
        )


def added(items: Sequence[str]) -> Iterator[BriefItem]:
    """Yield the newest lines that the model added to its checkpoints."""
    for age, item in enumerate(reversed(items[-MOST_ADDED:])):
        text = flat(item, REMARK_CHARS)
        yield BriefItem(
            "decisions", text, 0.03 / (1 + age), "added to a checkpoint", order=-1 + age / 9
        )


def archived_topics(archived: Sequence[Archived]) -> Iterator[BriefItem]:
    """Yield segments that can be recalled, one line each, newest first: everything that the
    summariser was told it may drop."""
    for age, (name, topic, _) in enumerate(reversed(archived[-MOST_ARCHIVED:])):
        text = f"{flat(topic, 90)}: {plain_name(name)}"
        yield BriefItem(
            "archived", text, 0.004 / (1 + age), "compressed, saved", pinned=True, order=age
        )
    if len(archived) > MOST_ARCHIVED:
        text = f"{len(archived) - MOST_ARCHIVED} older: the tool `recall` finds them"
        yield BriefItem("archived", text, 0.002, "compressed, saved", pinned=True, order=1e3)
