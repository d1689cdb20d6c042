"""What was decided in a session and what is open at its end, each item with its evidence and in the
words in which every reader shows it. Nothing here expires.

The items are tasks, the newest plan, unanswered questions, background work, and the request itself
while the model works on it. Failing commands are in `commands`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.record import shell
from holdfast.record.agents import COMMAND
from holdfast.record.model import Agent, Call, Place, Question, Record, Task, Turn
from holdfast.record.turns import REFUSED, turn_at, turn_number
from holdfast.redact.find import redact
from holdfast.text.fence import agent_name, code, flat, plain_name
from holdfast.text.numbers import counted

DOING = "in_progress"
TASK_CHARS, STATE_CHARS, PLAN_LINE_CHARS = 200, 40, 160
LONGEST_ANNOUNCEMENT = 160
_CALL = "toolu_"  # how the id of a call begins


def why_open(record: Record) -> str:
    """Return why the last request is open; empty if the model's words have ended it."""
    turn = next((turn for turn in reversed(record.turns) if turn.asked), None)
    if turn is None:
        return ""
    if is_over(record, record.turns[-1]):
        begun = any(agent.place.op > turn.place.op for _, agent in running(record))
        return "it waits for what runs in the background" * begun
    if record.turns[-1].interrupted:
        return "interrupted by the user"
    if record.calls:
        return "a call has no result yet"
    if record.turns[-1].said_op < turn.place.op or not record.turns[-1].said:
        return "not answered yet"
    return "the model was still at work"


def is_over(record: Record, turn: Turn) -> bool:
    """Whether a turn is over: its last step was words, nothing runs, and it was not interrupted."""
    if not turn.said or turn.interrupted or record.calls:
        return False
    return turn.said_op == record.op and not (
        record.recent and record.recent[-1].place.op == record.op
    )


def tasks(record: Record) -> list[Task]:
    listed = [task for task in record.tasks.values() if task.is_open]
    return sorted(listed, key=lambda task: task.status != DOING)


def describe_task(record: Record, task: Task) -> str:
    state = "" if task.status == "pending" else f"{flat(task.status, STATE_CHARS)}, "
    when = f"{state.replace('_', ' ')}set in turn {turn_number(record, task.set_at)}"
    return f"{flat(task.text, TASK_CHARS)} ({when})"


def describe_done(record: Record) -> str:
    """Return how many tasks are completed, and the last of them; empty for none."""
    done = [task for task in record.tasks.values() if task.status == "completed"]
    if not done:
        return ""
    last = max(done, key=lambda task: task.set_at.op)
    listed = counted(len(done) + len(tasks(record)), "task")
    when = f"in turn {turn_number(record, last.set_at)}"
    return f"{len(done)} of {listed} completed, last {when}: {flat(last.text, TASK_CHARS)}"


def plan_lines(record: Record, most: int) -> list[str]:
    """Return so many lines of the newest plan, with its turn and the files edited since."""
    if record.plan is None:
        return []
    place = record.plan.place
    edited = sum(used.edited.op > place.op for used in record.files.values())
    since = f", {counted(edited, 'file')} edited since" if edited else ""
    lines = [line for line in record.plan.text.splitlines() if line.strip()]
    first, *more = [flat(line, PLAN_LINE_CHARS) for line in lines[:most]]
    left = [f"({counted(len(lines) - most, 'more line')})"] if len(lines) > most else []
    return [f"{first} (from turn {turn_number(record, place)}{since})", *more, *left]


def questions(record: Record) -> list[Question]:
    """Return unanswered questions; the user's next words close those not on the screen."""
    last = record.turns[-1] if record.turns else None
    on_screen = {call.place for call in record.calls.values()}
    return [
        question
        for turn in record.turns
        for question in turn.questions
        if not question.answer and (turn is last or question.place in on_screen)
    ]


def running(record: Record) -> list[tuple[str, Agent]]:
    """Return subagents and background commands that have not been seen to end, newest first. A
    subagent without an id that the model did not wait for will not answer: it is left out."""
    return [
        (name, agent)
        for name, agent in reversed(record.agents.items())
        if agent.status == "running" and (not name.startswith(_CALL) or name in record.calls)
    ]


def calls(record: Record) -> list[Call]:
    """Return the calls without a result since the user's last words: older ones never get one."""
    since = record.turns[-1].place.offset if record.turns else -1
    return [call for call in record.calls.values() if call.place.offset > since]


def describe_call(call: Call, most: int) -> str:
    return call.tool + f" {code(call.what, most)}" * bool(call.what)


def describe_running(record: Record, name: str, agent: Agent, most: int) -> str:
    who = f"{_kind(agent)} {plain_name(name)}"
    task = flat(shell.first_line(agent.asked), most)
    return f"{who} (started in turn {turn_number(record, agent.place)}, no end seen): {task}"


def _kind(agent: Agent) -> str:
    """Return the kind of an agent. A type is one word; one of several ("the user") is a name."""
    is_type = " " not in agent.kind or agent.kind == COMMAND
    return agent.kind or "agent" if is_type else agent_name(agent.kind)


class EndedAgent(NamedTuple):
    """What runs no more: what was asked and when, and what was found, if anything."""

    agent: Agent
    asked: str
    report: str


def ended(record: Record) -> Iterator[EndedAgent]:
    """Yield what has ended, newest first. The output of commands stands with the commands."""
    for agent in reversed(record.agents.values()):
        if agent.status == "running" or (
            agent.kind == COMMAND and agent.status in ("done", "failed")
        ):
            continue
        when = f"turn {turn_number(record, agent.place)}, step {agent.ended_op}"
        asked = f"{_kind(agent)}, {agent.status} ({when}): {flat(agent.asked, 100)}"
        yield EndedAgent(agent, asked, redact(_findings(agent.report or agent.answer)))


def _findings(answer: str) -> str:
    """Return an answer without headings and the sentences that announce a report."""
    lines = [line.strip() for line in answer.splitlines()]
    texts = [line for line in lines if line and not line.startswith(("#", "---", "```"))]
    while len(texts) > 1 and texts[0].endswith(":") and len(texts[0]) < LONGEST_ANNOUNCEMENT:
        del texts[0]
    return " ".join(texts)


class Decided(NamedTuple):
    text: str
    question: str
    turn: int
    place: Place
    by: str  # user or model
    asked: str = ""  # the user's words that began the turn


def find_decisions(record: Record) -> Iterator[Decided]:
    """Yield the words with which the user refused a call, the user's last answer to each question
    of a tool, and then what the model labelled."""
    known = [turn for turn in record.turns if not turn.taken_back]
    last_word = {
        question.text: question for turn in known for question in turn.questions if question.answer
    }
    for turn in known:
        number = turn_number(record, turn.place)
        if turn.asked and turn.reply_to.startswith(REFUSED):
            yield Decided(turn.asked, turn.reply_to, number, turn.place, "user", turn.asked)
        for question in turn.questions:
            if last_word.get(question.text) is question:
                yield Decided(
                    question.answer, question.text, number, question.place, "user", turn.asked
                )
    for choice in record.decisions:
        number = turn_number(record, choice.place)
        made_in = turn_at(record, choice.place)
        if made_in is None or not made_in.taken_back:
            asked = made_in.asked if made_in else ""
            yield Decided(choice.text, "", number, choice.place, "model", asked)
