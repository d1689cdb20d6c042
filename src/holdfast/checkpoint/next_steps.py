"""The next steps of a checkpoint: what is open by evidence, and the failures among it."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.record import commands, open_items, shell
from holdfast.record.model import FailedRun, Record, ShownPlan, Task, Turn
from holdfast.record.turns import turn_number
from holdfast.text.fence import quoted, single_marks

MOST_ITEMS = 40
MOST_CHARS = 600
SHORT_CHARS = 200
MOST_PLAN_LINES = 20
PLAN_OF_MODEL = "a plan that the model wrote and the user approved"
NOTHING_OPEN = "nothing open"  # in checkpoints of earlier releases
FAILING = "failed: "
SELF_EXPLAINING = (FAILING, "failing: ", "run again: ", "left behind: ")  # beginnings of a step


def format_request(turn: Turn) -> str:
    to = f" (to: {cut(turn.reply_to, SHORT_CHARS)})" if turn.reply_to else ""
    return (f"({PLAN_OF_MODEL}) " if turn.is_plan else "") + cut(turn.asked) + to


def next_steps(record: Record) -> Iterator[str]:
    """Yield the request if it is not answered, the task list and the newest plan as they stood, and
    what runs; at the end what was asked and answered last. Nothing here says that nothing is
    open."""
    yield from _open_request(record)
    yield from _open_work(record)
    if record.plan:
        yield from _plan(record, record.plan)
    if open_items.request(record) is None and record.turns and record.turns[-1].said:
        words = cut(" ".join(record.turns[-1].asked.split()), SHORT_CHARS)
        answer = cut(" ".join(record.turns[-1].said[-MOST_CHARS:].split()))
        yield f"last asked {quoted(words)}, answered {quoted(answer)}"


def _plan(record: Record, plan: ShownPlan) -> Iterator[str]:
    lines = [line.rstrip() for line in plan.text.splitlines() if line.strip()]
    rest = len(lines) - MOST_PLAN_LINES
    more = [f"({rest} more lines)"] if rest > 0 else []
    words = "\n".join([*lines[:MOST_PLAN_LINES], *more])
    yield f"the newest plan, from turn {turn_number(record, plan.place)}:\n{words}"


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
    for one in open_items.questions(record):
        yield f"to be answered: {cut(one.text)}"
    for name, agent in open_items.running(record):
        is_new = bool(record.turns) and agent.place.op >= record.turns[-1].place.op
        since = f" (started in turn {turn_number(record, agent.place)}, no end seen)"
        what = cut(shell.first_line(agent.asked), SHORT_CHARS)
        yield f"still running{'' if is_new else since}: {agent.kind or 'agent'} {name}: {what}"
    at_work = open_items.request(record)
    for line, failed in commands.failing(record) if at_work else ():
        if at_work and failed.place.op > at_work.turn.place.op:
            yield FAILING + describe_failure(record, line, failed)


def _since(record: Record, task: Task) -> str:
    return f"since turn {turn_number(record, task.place)}"


def describe_failure(record: Record, line: str, failed: FailedRun) -> str:
    return cut(f"{commands.describe(record, line, failed)}: {' / '.join(failed.lines)}")


def cut(text: str, most: int = MOST_CHARS) -> str:
    """Shorten long words visibly; commands stay complete. Quotation marks in them are single
    ones, as in a brief: none may look like an end of ours."""
    flat = single_marks(text.strip())
    return flat if len(flat) <= most else flat[: most - 1] + "…"
