"""What is open at the end of a record, each item with its evidence. Nothing here expires.

The items are tasks, failing commands, unanswered questions, background work, commits and pushes
that the user asked for, and the request itself while the model works on it.
"""

import re
from collections.abc import Iterator

import msgspec

from holdfast.record import names, shell
from holdfast.record.agents import COMMAND
from holdfast.record.failures import is_one_off, may_run_again
from holdfast.record.git_work import COMMIT, CREATE, PUSH, tree_of
from holdfast.record.model import Agent, Call, Failure, Question, Record, Task, Turn
from holdfast.text.sentences import Lazy, sentences, within

DOING = "in_progress"
_NOT_OWN = ("/", "~", "../", ".claude/", ".git/")  # `.gitignore` is the project's own
_CALL = "toolu_"  # how the id of a call begins
LONGEST_REQUEST = 600  # more is a plan, or something pasted
_GIT_HINTS = ("commit", "comited", "push", "merged", "opened", " pr", "pull request")
GIT_NAMES = {COMMIT: "commit", PUSH: "push", CREATE: "pull request"}
# At the beginning of a sentence or a clause: a command, not "the commit" or "we push on Fridays".
_GIT_REQUEST = Lazy(
    r"(?:^|[,;:&+(]\s*|\b(?:and|then|please|also|now|und|dann|bitte|y|et|puis|e|depois)\s+)"
    r"(?:(commit)\b(?! (?:message|hash|id|history|is|was|has|that|which|in)\b)"
    r"|(push)\b(?! (?:back|notif\w*|is|was|has)\b)"
    r"|(?:open|create|make|raise|submit|send)\s+(?:up\s+)?(?:(?:a|an|the|new|draft)\s+)*"
    r"(pr|pull request)\b)",
    re.IGNORECASE,
)
_DENIED = Lazy(
    r"\b(?:not|never|no|without|nicht|kein\w*|ohne|pas|sans|sin|sem|não|memory)\b|n't\b", re.I
)
_BY_USER = Lazy(r"\b(?:comm?itt?ed|pushed|merged|opened)\b", re.IGNORECASE)


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
    """Whether a turn is over: its last step was words, nothing runs, and nobody stopped it."""
    if not turn.said or turn.interrupted or record.calls:
        return False
    return turn.said_op == record.op and not (
        record.recent and record.recent[-1].place.op == record.op
    )


def tasks(record: Record) -> list[Task]:
    """Return the open tasks of the task list; those in progress come first."""
    listed = [one for one in record.tasks.values() if one.is_open]
    return sorted(listed, key=lambda task: task.status != DOING)


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


def uncommitted(record: Record) -> list[str]:
    """Return the project's files that were changed after the last commit and still exist, in the
    repository or worktree of that commit."""
    return uncommitted_by_tree(record).get(tree(record), [])


def uncommitted_by_tree(record: Record) -> dict[str, list[str]]:
    """Return such files of every repository and worktree, by its folder."""
    work = record.git
    by_tree: dict[str, list[str]] = {}
    for name in work.since:
        used = None if name.startswith(_NOT_OWN) else record.files.get(name)
        if used and used.is_changed and not used.gone:
            by_tree.setdefault(work.trees.get(name, work.home), []).append(name)
    return by_tree


def tree(record: Record) -> str:
    """Return the folder of the repository or worktree whose state is shown: that of the last
    commit, else the one the session works in, if it changed anything there."""
    work = record.git
    if work.commits:
        return work.folder
    now = tree_of(record, record.cwd)
    return now if now in (*work.trees.values(), "") else work.home


def is_elsewhere(record: Record) -> bool:
    """Whether the session now works in another repository or worktree than the one whose state is
    shown."""
    return bool(record.cwd) and tree_of(record, record.cwd) != (tree(record) or record.git.home)


def git_requests(record: Record) -> Iterator[tuple[Turn, str]]:
    """Return, for each verb, the last turn that asked for it, if it was not seen since."""
    if record.git.is_partial:
        return
    work = record.git
    nothing_to_push = work.clean_op if work.pushed == work.commits or not work.commits else 0
    seen = {
        COMMIT: max(work.op, work.clean_op),
        PUSH: max(work.pushed_op, nothing_to_push),
        CREATE: work.request_op,
    }
    agents = [one.place.op for one in record.agents.values() if one.kind != "background command"]
    busy = max(agents, default=-1)  # commits of a subagent are not seen
    settled: set[str] = set()
    for turn in reversed(record.turns):
        low = turn.asked.lower()
        if turn.chars > LONGEST_REQUEST or not within(_GIT_HINTS, low):
            continue
        if _BY_USER.pattern.search(turn.asked):
            return  # the user reports it, so earlier requests are settled
        for verb in _requested_verbs(turn.asked) - settled:
            settled.add(verb)
            if verb == COMMIT and _reports_commit(turn):
                continue
            if seen[verb] <= turn.place.op and busy <= turn.place.op:
                yield turn, GIT_NAMES[verb]


def _reports_commit(turn: Turn) -> bool:
    """Whether the model names the commit by its hash: a hook may have made it."""
    words = turn.said.replace("`", " ").split() if "commit" in turn.said.lower() else []
    return any(names.is_commit(word.rstrip(".,;:)")) for word in words)


def _requested_verbs(words: str) -> set[str]:
    verbs: set[str] = set()
    for sentence in sentences(words):
        if not _DENIED.pattern.search(sentence):
            for match in _GIT_REQUEST.pattern.finditer(sentence):
                verbs.add(COMMIT if match[1] else PUSH if match[2] else CREATE)
    return verbs
