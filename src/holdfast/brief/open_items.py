"""Items from what is open, each with its first turn; then subagents that have ended."""

from collections.abc import Iterator
from itertools import islice

from holdfast.brief.item import LAST_FAILED, STILL_RUNNING, BriefItem, quote_ends
from holdfast.brief.quotes import is_replaced
from holdfast.record import commands
from holdfast.record import open_items as still
from holdfast.record.model import Agent, Place, Record
from holdfast.record.turns import began
from holdfast.text.fence import flat, quoted

MOST_FAILING = 12
OFTEN_RUN_SINCE = 0.3  # the worth of a failure after which the same program was run otherwise
MOST_PLAN_LINES, OLD_PLAN_LINES = 40, 5
MOST_ENDED = 8
REPORT_CHARS, OLD_REPORT_CHARS = 600, 200  # of a report: of this turn, and older
LEAST_NEWS = 200  # of each new report, before more of it is shown
RUNNING_CHARS, LEAST_ASKED = 1600, 40  # of all requests to what runs, and of each
DONE = "done"  # the reason for the line that counts the tasks that are done


def tasks(record: Record) -> Iterator[BriefItem]:
    """Yield the open tasks of the task list, and how many are done if some are open."""
    todo = still.tasks(record)
    for number, one in enumerate(todo):
        worth, why = 0.08 / (1 + number / 6), f"{one.source}, {flat(one.status, 40)}"
        text = still.describe_task(record, one)
        yield BriefItem("tasks", text, worth, why, one.place, key=one.text, order=number)
    if todo and (done := still.describe_done(record)):
        yield BriefItem("tasks", done, 0.01, DONE, order=1e6)


def plan(record: Record) -> Iterator[BriefItem]:
    """Yield the newest plan as it stood, line by line."""
    if record.plan is None:
        return
    place = record.plan.place
    is_current = bool(record.turns) and place.op >= began(record)
    if not is_current and any(turn.place == place for turn in record.turns):
        return  # it stands among the user's words
    lines = still.plan_lines(record, MOST_PLAN_LINES if is_current else OLD_PLAN_LINES)
    for number, line in enumerate(lines):
        text, worth = f"{'    ' * bool(number)}{line}", 0.02 / (1 + number / 10)
        whole = record.plan.text
        yield BriefItem("plan", text, worth, "the newest plan", place, key=whole, order=number)


def failure_items(record: Record, most_lines: int, most: int = MOST_FAILING) -> Iterator[BriefItem]:
    """Yield the commands that failed and have not succeeded since, newest first."""
    for age, (line, failure) in enumerate(commands.failing(record)[:most]):
        text = commands.describe(record, line, failure, most_lines).replace("\n", "\n    ")
        worth = 0.1 / (1 + age / 3) * (OFTEN_RUN_SINCE if failure.later else 1.0)
        yield BriefItem("failing", text, worth, LAST_FAILED, failure.place, key=line, order=age)


def questions(record: Record) -> Iterator[BriefItem]:
    for number, one in enumerate(still.questions(record)):
        text = quoted(flat(one.text, 240))
        yield BriefItem("questions", text, 0.05, "not answered yet", one.place, order=number)


def agents(record: Record, *, roomy: bool) -> Iterator[BriefItem]:
    """Yield what runs in the background, always; then what others have returned, newest first."""
    running = still.running(record)
    most = max(LEAST_ASKED, min(160, RUNNING_CHARS // max(1, len(running))))
    for age, (name, one) in enumerate(running):
        text = still.describe_running(record, name, one, most)
        yield BriefItem("agents", text, 0.06, STILL_RUNNING, one.place, pinned=True, order=age)
    for age, (one, text, report) in enumerate(islice(still.ended(record), MOST_ENDED)):
        why, worth, order = f"a subagent, {one.status}", 0.012 / (1 + age), 100 + age
        is_older = one.place.op < began(record)
        if is_older and (not report or is_replaced(record, report, Place(op=one.ended_op))):
            continue
        if not report and one.status == "done":
            continue
        most = OLD_REPORT_CHARS if is_older or not roomy else REPORT_CHARS
        if roomy and one.report and one.ended_op >= record.last_said_op:
            yield _news(one, f"{text} → ", report, why, order)
            continue
        text = quote_ends(f"{text} → ", report, most) if report else text
        yield BriefItem("agents", text, worth, why, one.place, order=order, is_spare=is_older)


def _news(agent: Agent, begins: str, whole: str, why: str, order: int) -> BriefItem:
    """Return a report that the model has not mentioned yet: the next step begins with it."""
    text = quote_ends(begins, whole, LEAST_NEWS)
    place = agent.place
    return BriefItem("agents", text, 1.0, why, place, True, order=order, begins=begins, whole=whole)
