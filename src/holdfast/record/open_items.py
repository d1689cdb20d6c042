"""What is open at the end of a record, each item with its evidence. Nothing here expires.

The items are tasks, steps of a plan, failing commands, unanswered questions, background work, and
the request itself while the model works on it. What closed an item is in the record; see `plans`
and `failures`.
"""

import re

import msgspec

from holdfast.record import shell
from holdfast.record.agents import COMMAND, MONITOR, SCHEDULE
from holdfast.record.failures import is_one_off, may_run_again
from holdfast.record.model import Agent, Call, Failure, Place, Question, Record, Task, Turn
from holdfast.record.plan_steps import evidence, labels, wording
from holdfast.record.tasks import LISTED
from holdfast.text.sentences import ASKING, Lazy, asks, sentences

DOING = "in_progress"
MOST_CLOSING = 4  # sentences that may ask or offer
# The user has to decide, or something is to follow after something else.
_OFFER = Lazy(
    r"\b(?:let me know|tell me|say the word|just say|up to you)\b"
    r"|\byour (?:call|review|approval|go-ahead|decision|answer|input|confirmation|ok)\b"
    r"|\bif you(?:'re|'d|'ve)?\b"
    r"|\b(?:when|whenever|once|unless|until) you(?:'re|'d|'ve| are| have| would)? (?:ready|done"
    r"|want|say|said|like|prefer|need|approve|confirm|decide|reply|answer|tell|give|merge|review)"
    r"|\byou(?:'d| would)? (?:want|like|prefer) (?:me|to)\b"
    r"|\bI(?:'ll| will| can| could)\b.*\b(?:if|when|once|whenever) (?!I\b)"
    r"|\b(?:if|once|whenever) (?!I\b).*\bI(?:'ll| will| can| could)\b"
    r"|^ready (?:to|for|when)\b|\b(?:still (?:open|pending|to do)|next session|deferred)\b"
    r"|\b(?:wenn|falls|sobald) (?:du|sie|ihr)\b|\bbescheid\b|\bsi (?:tu|vous|quieres|prefieres)\b"
    r"|\b(?:dis|dites)-moi\b|\bse (?:quiser|preferir|você)\b|\b(?:avísame|dime|me avise|me diga)\b"
    r"|如果[你您]|需要的话|请告诉|よろしければ|ご希望|お知らせ",
    re.IGNORECASE,
)
# The model names what it would do next: "Next: fix the ebb.", "The next step is the table."
_NEXT = Lazy(
    r"^\W*(?:(?:the )?next (?:steps?|up|task|todo)(?: is| are|:)|next:|up next:|nächster schritt:"
    r"|als nächstes:|siguiente(?: paso)?:|prochaine étape ?:) *(?!(?:none|nothing|n/a)\b)\w",
    re.IGNORECASE,
)
_AGENTS = Lazy(r"\b(?:sub-?)?agents?\b", re.IGNORECASE)
_OWN = ("prose", *wording.PUT_OFF)  # no task list replaces these
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
    if evidence.is_over(record, record.turns[-1]):
        begun = [one for _, one in running(record) if one.place.op > turn.place.op]
        return OpenRequest(turn, "it waits for what runs in the background") if begun else None
    if record.turns[-1].interrupted:
        return OpenRequest(turn, "interrupted by the user")
    if record.calls:
        return OpenRequest(turn, "a call has no result yet")
    if record.turns[-1].said_op < turn.place.op or not record.turns[-1].said:
        return OpenRequest(turn, "not answered yet")
    return OpenRequest(turn, "the model was still at work")


def tasks(record: Record) -> list[Task]:
    """Return the open tasks of the task list; those in progress come first."""
    listed = [one for one in record.tasks.values() if one.source in LISTED and one.is_open]
    return sorted(listed, key=lambda task: task.status != DOING)


def has_come_back(record: Record, task: Task) -> bool:
    """Whether subagents worked on a task and all of them have ended: those that carry its name, or,
    if the task mentions agents, all that started since it was listed."""
    other = (COMMAND, MONITOR, SCHEDULE)
    sent = [one for one in record.agents.values() if one.kind not in other]
    named = [one for one in sent if labels.is_called(one.asked, task.text)]
    if not named and _AGENTS.pattern.search(task.text):
        named = [one for one in sent if one.place.op >= task.place.op]
    return bool(named) and all(one.status == "done" for one in named)


def steps(record: Record) -> list[Task]:
    """Return the open steps of plans, oldest first. A task list made after a plan replaces its
    steps, but not its checks. Steps of a plan file count while the turn that wrote it is open."""
    listed = [one.place.op for one in record.tasks.values() if one.source in LISTED]
    newest = max(listed, default=-1)
    over = {id(one) for one in evidence.find_carried_out(record)}
    at_work = request(record)
    since = at_work.turn.place.offset if at_work else 0
    return [
        one
        for one in record.tasks.values()
        if one.source in wording.SOURCES
        and one.is_open
        and id(one) not in over
        and (one.is_check or one.source in _OWN or newest <= one.place.op)
        and (one.source != wording.FILE or (at_work and one.place.offset > since))
    ]


def failures(record: Record) -> list[Failure]:
    """Return commands whose last run failed, newest first: tests and builds, then those that were
    only tried."""
    failing = [one for one in record.failures if one.fixed is None]
    return sorted(failing, key=lambda one: (is_one_off(one), -one.place.op))


def still_failing(record: Record) -> list[Failure]:
    """Return the failures that somebody has to fix; a brief and a checkpoint list the same. Left
    out are commands that were only tried before something else ran, and failures that somebody
    called none of this work."""
    return [
        one
        for one in failures(record)
        if not one.verdict and (not is_one_off(one) or may_run_again(record, one))
    ]


def questions(record: Record) -> list[Question]:
    """Return what the model asked and the user has not answered. The user's next words close
    earlier questions, unless the question is still on the screen."""
    turn = record.turns[-1] if record.turns else None
    on_screen = {call.place for call in record.calls.values()}
    unanswered = [
        question
        for one in record.turns
        for question in one.questions
        if not question.answer and (one is turn or question.place in on_screen)
    ]
    if turn and evidence.is_over(record, turn):
        unanswered += _asked_last(turn) or _asked_before(record)
    return unanswered


def _asked_last(turn: Turn) -> list[Question]:
    """Return the questions in the closing words of a turn."""
    if "?" not in turn.said[-400:].replace("\uff1f", "?"):
        return []
    questions = [one for one in sentences(turn.said[-800:]) if asks(one)]
    return [Question(one, Place(op=turn.said_op)) for one in questions[-MOST_CLOSING:]]


def offers(record: Record) -> list[Question]:
    """Return what the closing words leave for the user to decide, or for later, if they ask no
    question: "say the word and I'll merge". If there is such an offer, something is open."""
    turn = record.turns[-1] if record.turns else None
    if turn is None or not evidence.is_over(record, turn) or _asked_last(turn):
        return []
    closing = sentences(turn.said[-800:])[-MOST_CLOSING:]
    offered = [one for one in closing if not asks(one) and _OFFER.pattern.search(one)]
    return [Question(one, Place(op=turn.said_op)) for one in offered[-2:]]


def named_next(record: Record) -> str:
    """Return the sentence of the closing words that names a next step; empty if none does."""
    turn = record.turns[-1] if record.turns else None
    closing = sentences(turn.said[-800:])[-MOST_CLOSING:] if turn else []
    told = (one.replace("**", "").replace("`", "") for one in closing)
    return next((one for one in told if _NEXT.pattern.search(one)), "")


def _asked_before(record: Record) -> list[Question]:
    """Return the model's question if the user asked something in return and nothing was changed
    since."""
    for turn, after in zip(record.turns[-2::-1], record.turns[:0:-1], strict=False):
        if after.edited or not after.asked.rstrip().endswith(ASKING):
            return []
        if asked := _asked_last(turn):
            return asked[-1:]
    return []


def running(record: Record) -> list[tuple[str, Agent]]:
    """Return subagents and background commands that have not been seen to end, newest first. A
    command that only looks at something (`tail -f`) is left out, and so is a subagent without an id
    of its own that the model did not wait for: it will not answer any more."""
    return [
        (name, one)
        for name, one in reversed(record.agents.items())
        if one.status == "running" and _may_run(record, name, one)
    ]


def _may_run(record: Record, name: str, agent: Agent) -> bool:
    if agent.kind == COMMAND:  # a command follows the script that it writes
        return bool(shell.core(agent.asked)) or "<<" in agent.asked
    return not name.startswith(_CALL) or name in record.calls


def describe_request(record: Record, agent: Agent) -> str:
    """Return what an agent was asked; a command of one line as it was typed."""
    command = record.commands.get(agent.asked) if agent.kind == COMMAND else None
    is_short = command is not None and "\n" not in command.line.strip()
    return command.line if command and is_short else shell.first_line(agent.asked)


def calls(record: Record) -> list[Call]:
    """Return the calls without a result since the user's last words: earlier ones were cut short
    and never get one."""
    since = record.turns[-1].place.offset if record.turns else -1
    return [one for one in record.calls.values() if one.place.offset > since]
