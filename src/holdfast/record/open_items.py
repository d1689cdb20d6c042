"""What is open at the end of a record, each item with its evidence. Nothing here expires.

The items are tasks, failing commands, unanswered questions, background work, and the request itself
while the model works on it.
"""

import msgspec

from holdfast.record.model import Agent, Call, Question, Record, Task, Turn

DOING = "in_progress"
_CALL = "toolu_"  # how the id of a call begins


class OpenRequest(msgspec.Struct, frozen=True):
    """The turn that is being worked on, and why it is not over."""

    turn: Turn
    why: str


def request(record: Record) -> OpenRequest | None:
    """Return the last turn, unless the model's words have ended it."""
    turn = next((one for one in reversed(record.turns) if one.asked), None)
    if turn is None:
        return None
    if is_over(record, record.turns[-1]):
        begun = [one for _, one in running(record) if one.place.op > turn.place.op]
        return OpenRequest(turn, "it waits for what runs in the background") if begun else None
    if record.turns[-1].interrupted:
        return OpenRequest(turn, "interrupted by the user")
    if record.calls:
        return OpenRequest(turn, "a call has no result yet")
    if record.turns[-1].said_op < turn.place.op or not record.turns[-1].said:
        return OpenRequest(turn, "not answered yet")
    return OpenRequest(turn, "the model was still at work")


def is_over(record: Record, turn: Turn) -> bool:
    """Whether a turn is over: its last step was words, nothing runs, and it was not interrupted."""
    if not turn.said or turn.interrupted or record.calls:
        return False
    return turn.said_op == record.op and not (
        record.recent and record.recent[-1].place.op == record.op
    )


def tasks(record: Record) -> list[Task]:
    """Return the open tasks of the task list; those in progress come first."""
    listed = [one for one in record.tasks.values() if one.is_open]
    return sorted(listed, key=lambda task: task.status != DOING)


def questions(record: Record) -> list[Question]:
    """Return what the model asked with a tool and the user has not answered. The user's next words
    close earlier questions, unless the question is still on the screen."""
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
    subagent without an id of its own that the model did not wait for is left out: it will not
    answer any more."""
    return [
        (name, one)
        for name, one in reversed(record.agents.items())
        if one.status == "running" and (not name.startswith(_CALL) or name in record.calls)
    ]


def calls(record: Record) -> list[Call]:
    """Return the calls without a result since the user's last words: earlier ones were cut short
    and never get one."""
    since = record.turns[-1].place.offset if record.turns else -1
    return [call for call in record.calls.values() if call.place.offset > since]
