"""Items from what is open, each with its first turn; then subagents that have ended."""

from collections.abc import Iterator

from holdfast.brief.item import LAST_FAILED, STILL_RUNNING, BriefItem, quote_ends
from holdfast.record import commands, shell
from holdfast.record import open_items as still
from holdfast.record.agents import COMMAND
from holdfast.record.model import Agent, Place, Record
from holdfast.record.turns import began, turn_number
from holdfast.redact import redact
from holdfast.text.fence import flat, plain_name, quoted

MOST_FAILING, LINE_CHARS, OLDER_CHARS = 12, 200, 320
OFTEN_RUN_SINCE = 0.3  # the worth of a failure after which the same program was run otherwise
MOST_PLAN_LINES, OLD_PLAN_LINES, PLAN_LINE_CHARS = 40, 5, 160
MOST_ENDED = 8
REPORT_CHARS, OLD_REPORT_CHARS = 600, 200  # of a report: of this turn, and older
LEAST_NEWS = 200  # of each new report, before more of it is shown
LONGEST_ANNOUNCEMENT = 160
RUNNING_CHARS, LEAST_ASKED = 1600, 40  # of all requests to what runs, and of each
DONE = "done"  # the reason for the line that counts the tasks that are done


def since(record: Record, place: Place) -> str:
    return f"since turn {turn_number(record, place)}"


def tasks(record: Record) -> Iterator[BriefItem]:
    """Yield the open tasks of the task list, in the state that the tool last set, and how many are
    done."""
    for number, one in enumerate(still.tasks(record)):
        status = one.status.replace("_", " ")
        doing = "" if status == "pending" else f"{flat(status, 40)}: "
        text = f"{doing}{flat(one.text, 200)} ({since(record, one.place)})"
        worth, why = 0.08 / (1 + number / 6), f"{one.source}, {flat(status, 40)}"
        yield BriefItem("tasks", text, worth, why, one.place, order=number)
    done = [task for task in record.tasks.values() if task.status == "completed"]
    todo = sum(task.is_open for task in record.tasks.values())
    if done and todo:
        text = f"{len(done)} of {len(done) + todo} done, last: {flat(done[-1].text, 100)}"
        yield BriefItem("tasks", text, 0.01, DONE, done[-1].place, order=1e6)


def plan(record: Record) -> Iterator[BriefItem]:
    """Yield the newest plan as it stood, line by line."""
    if record.plan is None:
        return
    place = record.plan.place
    when = f"from turn {turn_number(record, place)}"
    is_current = bool(record.turns) and place.op >= began(record)
    if not is_current and any(turn.place == place for turn in record.turns):
        return  # it stands among the user's words
    lines = [line for line in record.plan.text.splitlines() if line.strip()]
    most = MOST_PLAN_LINES if is_current else OLD_PLAN_LINES
    lines = [*lines[:most], *([f"({len(lines) - most} more lines)"] if len(lines) > most else [])]
    for number, line in enumerate(lines):
        text = flat(line, PLAN_LINE_CHARS)
        text = f"{text} ({when})" if number == 0 else f"    {text}"
        yield BriefItem(
            "plan", text, 0.02 / (1 + number / 10), "the newest plan", place, order=number
        )


def failure_items(record: Record, most_lines: int, most: int = MOST_FAILING) -> Iterator[BriefItem]:
    """Yield the commands that failed and have not succeeded since, newest first, with their message
    and place: those of earlier requests, and those whose program printed something since, in one
    line."""
    for age, (line, failure) in enumerate(commands.failing(record)[:most]):
        text, worth = commands.describe(record, line, failure), 0.1 / (1 + age / 3)
        worth *= OFTEN_RUN_SINCE if failure.later else 1.0
        if failure.place.op > began(record) and not failure.later:
            output = [flat(words, LINE_CHARS) for words in failure.lines[:most_lines]]
            text = "\n    ".join([text, *output])
        else:
            text += f": {flat(' / '.join(failure.lines[:most_lines]), OLDER_CHARS)}"
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
        text = f"{one.kind or 'agent'} {plain_name(name)}, running {since(record, one.place)}: "
        text += flat(shell.first_line(one.asked), most)
        yield BriefItem("agents", text, 0.06, STILL_RUNNING, one.place, pinned=True, order=age)
    ended = [agent for agent in record.agents.values() if agent.status != "running"]
    for age, one in enumerate(reversed(ended[-MOST_ENDED:])):
        when = f"turn {turn_number(record, one.place)}, step {one.ended_op}"
        text = f"{one.kind or 'agent'}, {one.status} ({when}): {flat(one.asked, 100)}"
        why, worth, order = f"a subagent, {one.status}", 0.012 / (1 + age), 100 + age
        is_older = one.place.op < began(record)
        if one.kind == COMMAND and one.status in ("done", "failed"):
            continue  # its output stands with the commands
        report = redact(_findings(one.report or one.answer))
        if not report and (is_older or one.status == "done"):
            continue
        if roomy and _is_news(record, one):
            yield _news(one, f"{text} → ", why, order)
            continue
        most = OLD_REPORT_CHARS if is_older or not roomy else REPORT_CHARS
        text = quote_ends(f"{text} → ", report, most) if report else text
        yield BriefItem("agents", text, worth, why, one.place, order=order, is_spare=is_older)


def _is_news(record: Record, agent: Agent) -> bool:
    return bool(agent.report) and agent.ended_op >= record.last_said_op


def _news(agent: Agent, begins: str, why: str, order: int) -> BriefItem:
    """Return a report that the model has not mentioned yet: the next step begins with it."""
    whole = redact(_findings(agent.report))
    text = quote_ends(begins, whole, LEAST_NEWS)
    place = agent.place
    return BriefItem("agents", text, 1.0, why, place, True, order=order, begins=begins, whole=whole)


def _findings(answer: str) -> str:
    """Return an answer without headings, which only repeat the question, and without the sentences
    before them that announce a report."""
    lines = [line.strip() for line in answer.splitlines()]
    told = [line for line in lines if line and not line.startswith(("#", "---", "```"))]
    while len(told) > 1 and told[0].endswith(":") and len(told[0]) < LONGEST_ANNOUNCEMENT:
        del told[0]
    return " ".join(told)
