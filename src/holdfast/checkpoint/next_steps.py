"""The next steps of a checkpoint: what is open by evidence, and the failures among it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from holdfast.checkpoint.git_state import MOST_CONFLICTS, not_in_git
from holdfast.record import open_items, plan_checks
from holdfast.record.failures import EDITED_SINCE, edited_since
from holdfast.record.files import by_last_use
from holdfast.record.git_work import conflict_words
from holdfast.record.model import Failure, Record, Task, Turn
from holdfast.record.open_items import git_requests
from holdfast.record.plan_steps.wording import LATER, LEFT
from holdfast.record.turns import turn_number
from holdfast.text.fence import quoted, single_marks

MOST_ITEMS = 40
MOST_CHARS = 600
SHORT_CHARS = 200
ASKED_CHARS, ANSWERED_CHARS = 75, 45  # of the last turn, if nothing is open: 160 in all
MOST_EDITED = 3  # files, after a failure
MOST_STEPS = 20
MOST_CHECKS, CHECK_CHARS = 6, 120  # by hand, in one line
NOTHING_OPEN = "nothing open"
PLAN_OF_MODEL = "a plan that the model wrote and the user approved"
FAILING, RUN_AGAIN, LEFT_BEHIND = "failing: ", "run again: ", "left behind: "
SELF_EXPLAINING = (NOTHING_OPEN, FAILING, RUN_AGAIN, LEFT_BEHIND)  # beginnings of a step
_HOW = {LEFT: "listed as remaining", LATER: "wanted later by the user"}


def format_request(turn: Turn) -> str:
    to = f" (to: {cut(turn.reply_to, SHORT_CHARS)})" if turn.reply_to else ""
    return (f"({PLAN_OF_MODEL}) " if turn.is_plan else "") + cut(turn.asked) + to


def next_steps(record: Record) -> Iterator[str]:
    """Yield what is open by evidence; if nothing is, a line that says so, with what was asked and
    answered last. A failure before the model's closing words is an issue, not a step: see Active
    Issues."""
    found = [*_open_request(record), *_open_work(record)]
    if found:
        yield from found
    elif record.turns and record.turns[-1].said:
        words = cut(" ".join(record.turns[-1].asked.split()), ASKED_CHARS)
        answer = cut(" ".join(record.turns[-1].said.split()), ANSWERED_CHARS)
        state = _state(record)
        if offers := open_items.offers(record):
            state = f"for the user to decide: {quoted(cut(offers[-1].text, SHORT_CHARS))}"
        elif state == NOTHING_OPEN and (step := open_items.named_next(record)):
            state = f"named by the model: {quoted(cut(step, SHORT_CHARS))}"
        sign = ": " if state == NOTHING_OPEN else "; "
        last = f"last asked {quoted(words)}, answered {quoted(answer)}"
        yield f"{state}{sign}{last}{not_in_git(record)}"
    known = [one for one in open_steps(record) if _is_by_hand(one)]
    by_hand = [one for one in known if one.place == known[-1].place]  # of the newest plan
    if by_hand:
        checks = "; ".join(cut(one.text, CHECK_CHARS) for one in by_hand[-MOST_CHECKS:])
        rest = f" and {len(by_hand) - MOST_CHECKS} more" if len(by_hand) > MOST_CHECKS else ""
        yield f"for a person to check ({_since(record, by_hand[0])}): {checks}{rest}"


def _state(record: Record) -> str:
    """Name the first open issue of a session whose last request was answered, and count the others.
    What was edited after it failed may pass now."""
    known = open_items.still_failing(record)
    failing = [describe_failure(record, one) for one in known if not edited_since(one)]
    again = [describe_failure(record, one) for one in known if edited_since(one)]
    issues = [
        *(f"{FAILING}{words}" for words in failing),
        *(f"{RUN_AGAIN}{words}" for words in again),
        *(f"{LEFT_BEHIND}{words}" for words in left_behind(record)),
    ]
    if not issues:
        return NOTHING_OPEN
    rest = f" (and {len(issues) - 1} more under Active Issues)" if len(issues) > 1 else ""
    return cut(" ".join(issues[0].split()), SHORT_CHARS) + rest


def _is_by_hand(step: Task) -> bool:
    return step.is_check and plan_checks.is_by_hand(step.text)


def _open_request(record: Record) -> Iterator[str]:
    if found := open_items.request(record):
        number = turn_number(record, found.turn.place)
        yield f"turn {number}, {found.why}: {format_request(found.turn)}{_last_answer(found.turn)}"
    for call in [*record.calls.values()][-3:]:
        yield f"no result yet: {call.tool} {cut(call.what)}"


def _last_answer(turn: Turn) -> str:
    """Return what the user chose last, if that is newer than the words."""
    answers = [one for one in turn.questions if one.answer]
    if not answers:
        return ""
    return f"; then to {quoted(cut(answers[-1].text, SHORT_CHARS))}: {cut(answers[-1].answer)}"


def _open_work(record: Record) -> Iterator[str]:
    for task in open_items.tasks(record)[:MOST_ITEMS]:
        yield f"{cut(task.text)} ({task.status.replace('_', ' ')}, {_since(record, task)})"
    for task in [one for one in open_steps(record) if not _is_by_hand(one)][-MOST_STEPS:]:
        yield f"{cut(task.text)} ({_HOW.get(task.source, 'planned')}, {_since(record, task)})"
    for one in open_items.questions(record):
        yield f"to be answered: {cut(one.text)}"
    for name, agent in open_items.running(record):
        is_new = bool(record.turns) and agent.place.op >= record.turns[-1].place.op
        since = f" (started in turn {turn_number(record, agent.place)}, no end seen)"
        what = cut(open_items.describe_request(record, agent), SHORT_CHARS)
        yield f"still running{'' if is_new else since}: {agent.kind or 'agent'} {name}: {what}"
    at_work = open_items.request(record)
    asked_again = [thing for _, thing in git_requests(record)]
    for turn, things in groupby(git_requests(record), key=lambda pair: pair[0]):
        if at_work is None or at_work.turn is not turn:
            what = ", ".join(thing for _, thing in things)
            asked = f"asked for in turn {turn_number(record, turn.place)}, none seen since: {what}"
            yield f"{asked} ({quoted(cut(turn.asked, SHORT_CHARS))})"
    if halted := conflict_words(record.git, MOST_CONFLICTS):
        yield f"git {halted}"
    if record.git.refused and record.git.refused not in asked_again:
        yield f"git {record.git.refused} did not succeed, and was not repeated"
    for failure in open_items.still_failing(record) if at_work else ():
        if at_work and failure.place.op > at_work.turn.place.op:
            state = RUN_AGAIN if edited_since(failure) else FAILING
            yield state + describe_failure(record, failure)


def open_steps(record: Record) -> list[Task]:
    """Return steps of plans that the user approved. Of plans in the model's words, only the newest
    list counts, while its turn is being worked on: others are often only an offer."""
    known = open_items.steps(record)
    last = record.turns[-1].place.op if record.turns else 0
    at_work = open_items.request(record) is not None
    prose = [one for one in known if one.source == "prose" and one.place.op >= last and at_work]
    newest = max((one.place.op for one in prose), default=0)
    return [
        one for one in known if one.source != "prose" or (one in prose and one.place.op == newest)
    ]


def _since(record: Record, task: Task) -> str:
    return f"since turn {turn_number(record, task.place)}"


def left_behind(record: Record) -> Iterator[str]:
    """Yield the notes in edited files that something is still to do."""
    for path, used in by_last_use(record):
        for note in used.left:
            yield f"{path}: {cut(note)}"


def describe_failure(record: Record, failure: Failure) -> str:
    since = f"since turn {turn_number(record, failure.since)}"
    if edited := edited_since(failure):
        since = f"in turn {turn_number(record, failure.place)}; {EDITED_SINCE}: "
        since += ", ".join(edited[-MOST_EDITED:])
    if failure.passes:
        since += f"; {failure.passes} other tests and builds passed since"
    return cut(f"{failure.command} ({since}): " + " / ".join(failure.lines))


def cut(text: str, most: int = MOST_CHARS) -> str:
    """Shorten long words visibly; commands stay complete. Quotation marks in them are single
    ones, as in a brief: none may look like an end of ours."""
    flat = single_marks(text.strip())
    return flat if len(flat) <= most else flat[: most - 1] + "…"
