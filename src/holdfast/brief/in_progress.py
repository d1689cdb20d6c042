"""Items from the end of the session: the mode, the model's last words and last calls; and
remarks."""

from collections.abc import Iterator, Sequence

from holdfast.brief.item import MOST_ARCHIVED, Archived, BriefItem, quote_ends
from holdfast.brief.quotes import is_answered, is_replaced
from holdfast.record import commands, open_items
from holdfast.record.git import answers, describe_answer, describe_branch
from holdfast.record.model import Call, Place, Record
from holdfast.record.turns import began, turn_number
from holdfast.redact import redact
from holdfast.text.fence import both_ends, code, flat, plain_name

FRESH_OPS = 3
PRINTED_CHARS, SHOWN_CHARS = 240, 200
REMARK_CHARS, REMARK_WORTH = 800, 0.0001  # of a character
REMARKS_SHARE = 0.15  # of the brief
MOST_PRINTED = 12
MOST_ADDED = 4
LAST_CHARS = 800  # of the model's last words
ROOMY_CHARS = 3500  # a brief of this size always has the last calls


def flight(record: Record, room: int) -> Iterator[BriefItem]:
    """Yield what the model said last, and while it is at work the calls without a result and the
    last ones."""
    if record.planning:
        yield BriefItem(
            "flight", open_items.PLAN_MODE, 1.0, "the mode of the session", pinned=True, order=-2
        )
    place = record.recent[-1].place if record.recent else None
    answers = {turn.said_op for turn in record.turns[:-1] if is_answered(turn)}
    if record.last_texts and record.last_said_op not in answers:
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
        text = f"no result yet: {open_items.describe_call(call, 160)}"
        why = "a call without a result"
        yield BriefItem("flight", text, 0.04, why, call.place, True, order=0.5)
    done = [one for one in record.recent if one not in running and one.what]
    is_over = bool(record.turns) and open_items.is_over(record, record.turns[-1])
    if done and place is not None and not is_over:
        steps = dict.fromkeys(map(_step, reversed(done)))  # each at its last place
        text = "last calls: " + "; ".join(reversed(list(steps)[:3]))
        yield BriefItem("flight", text, 0.02, "the last steps", place, room >= ROOMY_CHARS, order=1)


def printed(record: Record) -> Iterator[BriefItem]:
    """Yield the end of the newest output of each command that ran since the current request, newest
    first. Where files were edited since, only the newest checks are shown: what else was printed
    before an edit is old. What failed stands elsewhere, and so does what git said."""
    failed = {line for line, _ in commands.failing(record)}
    checks = [run.line for run in commands.newest_checks(record)]
    ran = [
        (run.line, run.command)
        for run in commands.newest_runs(record)
        if run.command.op > began(record) and run.command.printed
        if run.line in checks
        or (run.command.edits_before == record.edits and run.line not in failed)
    ]
    for age, (line, one) in enumerate(ran[:MOST_PRINTED]):
        edits = commands.describe_edits(record, one)
        end = commands.end_of_output(one, PRINTED_CHARS)
        text = f"{code(line, SHOWN_CHARS)} printed at step {one.op}{edits and ', '}{edits}: {end}"
        worth = 0.02 / (1 + age / 2) / (1 + record.edits - one.edits_before)
        order = 1.1 + age / 99
        yield BriefItem("flight", text, worth, "a newest output", one.place, key=line, order=order)


def git(record: Record, room: int) -> Iterator[BriefItem]:
    """Yield what git said when it was asked, and printed last; the branch, and the newest answer,
    are always there if there is room."""
    is_roomy, why = room >= ROOMY_CHARS, "what git said"
    if branch := describe_branch(record):
        place = record.git_log.place if record.git_log else Place()
        yield BriefItem("flight", branch, 0.012, why, place, is_roomy, order=2)
    for age, one in enumerate(answers(record), 1):
        is_older = one.place.op <= began(record)
        if is_older and age > 1:
            break
        text = describe_answer(one, f"at step {one.place.op}", is_short=is_older)
        pinned = is_roomy and age == 1
        order, worth = 2 + age / 9, 0.012 / (1 + age)
        yield BriefItem("flight", text, worth, why, one.place, pinned, order=order)


def _step(call: Call) -> str:
    """Return a call in short."""
    return open_items.describe_call(call, 80) + " (failed)" * call.failed


def remarks(record: Record, room: int) -> Iterator[BriefItem]:
    """Yield what the model said at work with its place, equal words once, the newest first: later
    words may refute earlier ones, so all of them get little room. A longer answer to the request
    replaces them, and the last words stand where the work stood."""
    left = int(room * REMARKS_SHARE)
    newest = {both_ends(remark.text, REMARK_CHARS): remark.place for remark in record.remarks}
    known = [
        (text, place)
        for text, place in newest.items()
        if place.op != record.last_said_op and not is_replaced(record, text, place)
    ]
    known.sort(key=lambda pair: -pair[1].op)
    for age, (text, place) in enumerate(known):
        is_older = place.op <= began(record)
        left -= len(text)
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
