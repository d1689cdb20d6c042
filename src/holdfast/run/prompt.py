"""The prompt of a session: its tasks, what "done" means, and what came before: a verified
checkpoint of the last session, and a brief of it.

The plan is the user's own words. Quotations from other sessions are reference and fenced; they come
last, so that nothing in them stands before the tasks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.checkpoint.write import SavedCheckpoint
from holdfast.client.claude_folder import transcripts_folder
from holdfast.plan.task import PlanTask
from holdfast.plan.workflow import TaskPiece
from holdfast.record import storage, user_input
from holdfast.session import take_checkpoint, window_brief
from holdfast.settings import load as settings_load
from holdfast.text.numbers import counted, listed, named, short
from holdfast.window import measurement
from holdfast.window import state as window_state
from holdfast.window.live_windows import fill, for_transcript
from holdfast.wire import log, places
from holdfast.wire.errors import describe

MAX_OUTLINE = 20  # titles of tasks before and after its own
MAX_TITLE_CHARS = 120
MAX_MISSING = 20  # names of files
MAX_RULES_CHARS = 6000  # of what the plan says outside its tasks: about 1,500 tokens

# One thought to a line: `run --dry-run` shows it so, and wraps each line to the terminal.
DONE = (
    f"{user_input.TERMS}A task is done when everything it asks for is in the files, without stubs, "
    "and the project's own checks (tests, types, linters) were run and pass.\n"
    "A check may fail if the task asks for that, or if a later task of the plan is there to make "
    "it pass: then say which check and which task.\n"
    "Do nothing that the tasks do not ask for, and do not start another Claude.\n"
    "Commit only where a task or the text of the plan asks for it.\n"
    "Nobody can answer questions: decide what is yours to decide, and say what you decided.\n"
    "Never act for a person. If a task asks somebody for a review, an approval or a decision, "
    "prepare what they need.\n"
    "Report such a task as waiting, with whom it waits for and for what as the reason. If the plan "
    "says that they gave it, go on.\n"
    "If the plan says to stop and its condition is met (a check fails, nothing was found), report "
    "your task as waiting, with that as the reason.\n"
    "After such a task do not begin the next ones, and leave them out of the report.\n"
    "What you start in the background is ended when you end: wait for it and use its result.\n"
    "End with the report: the id of each task (it stands in brackets behind the title), and its "
    "state.\n"
    "Report a task as failed only if you could not do it, with the reason.\n"
    "In the summary say in a few lines what you did and what you found out: later sessions start "
    "there."
)


@dataclass(frozen=True, slots=True)
class PromptContext:
    """What a session is told besides its tasks."""

    title: str = ""
    rules: str = ""  # what the plan says outside its tasks
    number: int = 1
    count: int = 1
    beside: bool = False  # other sessions of the same batch work at the same time
    again: bool = False  # an earlier session began the same work
    error: str = ""  # how that session ended
    missing: tuple[str, ...] = ()  # files of finished tasks that are not there
    briefs: tuple[str, ...] = ()
    numbers: Mapping[str, int] = field(default_factory=dict)  # of the tasks, in the plan
    tasks: tuple[PlanTask, ...] = ()  # of the whole plan, also those that are done
    settled: tuple[PlanTask, ...] = ()  # ticked in the plan, with text below: answers of people


def write_prompt(pieces: Sequence[TaskPiece], context: PromptContext) -> str:
    return (
        "\n".join([*_head(pieces, context), *_tasks(pieces, context), *_end(pieces, context)])
        + "\n"
    )


def _head(pieces: Sequence[TaskPiece], context: PromptContext) -> Iterator[str]:
    yield name_batch(str(context.number), str(context.count), context.title)
    yield from quote_rules(context.rules)
    yield from _outline(pieces, context.tasks, context.numbers)
    yield from _settled(context.settled)
    if context.beside:
        yield "Other sessions work on other tasks of this batch now: change only files you need."
    if context.again:
        yield (
            "A session before you began this same work and did not finish it. What it did is in "
            "the files: look at what is there first, keep what is good, and finish the rest."
        )
    if context.error:
        yield f"It ended with an error, quoted: {context.error}"
    if context.missing:
        names = listed([*context.missing], MAX_MISSING)
        yield f"Not there, though tasks that name them were reported as done: {names}."
        yield "Write them only if one of your own tasks needs them."
    many = "these tasks, one after the other, in this order" if len(pieces) > 1 else "this task"
    yield f"Do {many}:"


def name_batch(number: str, count: str, title: str) -> str:
    """The first line of a prompt, with the title of the plan: its tasks may rest on that alone."""
    plan = f' of the plan "{title}"' if title else " of a plan"
    return f"{user_input.RUN_BEGINS}{number} of {count}{plan}."


def quote_rules(rules: str) -> Iterator[str]:
    """The plan's rules as a quotation, so that none is taken for a task; a cut is reported."""
    if not rules:
        return
    kept = rules if len(rules) <= MAX_RULES_CHARS else rules[:MAX_RULES_CHARS].rsplit(None, 1)[0]
    yield user_input.RULES
    yield from (f"{user_input.QUOTE}{line}".rstrip() for line in kept.splitlines())
    if len(kept) < len(rules):
        yield f"(Cut here: {len(rules) - len(kept):,} more characters are in the plan's file.)"


def _outline(
    pieces: Sequence[TaskPiece], tasks: Sequence[PlanTask], numbers: Mapping[str, int]
) -> Iterator[str]:
    """The titles of the tasks around its own: `Same for the writer` needs the one before."""
    own = {piece.task.spec for piece in pieces}
    places = [at for at, task in enumerate(tasks) if task.id in own]
    if not places or len(own) == len(tasks):
        return
    start, end = max(0, places[0] - MAX_OUTLINE), places[-1] + 1 + MAX_OUTLINE
    yield user_input.OUTLINE
    if start:
        yield f"{user_input.QUOTE}({counted(start, 'task')} before these)"
    for at, task in enumerate(tasks[start:end], start + 1):
        title = user_input.OWN_NUMBER.sub("", short(named(task.title), MAX_TITLE_CHARS))
        state = " (yours)" if task.id in own else " (done)" if task.done else ""
        yield f"{user_input.QUOTE}{numbers.get(task.id, at)}. {title}{state}"
    if end < len(tasks):
        yield f"{user_input.QUOTE}({counted(len(tasks) - end, 'more task')})"


def _settled(tasks: Sequence[PlanTask]) -> Iterator[str]:
    """What the plan says below the last tasks that its author ticked: what was decided there."""
    kept, left = list[PlanTask](), MAX_RULES_CHARS
    for task in reversed(tasks):
        left -= len(task.description)
        if left < 0:
            break
        kept.append(task)
    for task in reversed(kept):
        yield f'{user_input.SETTLED} "{short(named(task.title), MAX_TITLE_CHARS)}":'
        yield from (f"{user_input.QUOTE}{line}".rstrip() for line in task.description.splitlines())


def _tasks(pieces: Sequence[TaskPiece], context: PromptContext) -> Iterator[str]:
    known: set[str] = set()
    for at, piece in enumerate(pieces, start=1):
        task = piece.task
        title = user_input.heading(context.numbers.get(task.spec, at), task.shown)
        yield f"\n## {title}  [{task.id}]"
        if section := task.section or (piece.of.section if piece.of else ""):
            yield f"\n{user_input.STANDS_BELOW} {section}"
        if task.description:
            yield f"\n{task.description}"
        if task.files:
            only = user_input.OTHER_FILES if task.part else ""
            yield f"\nFiles: {_listed(task)}{only}"
        steps = [step for step in task.subtasks if not step.done]
        for step in steps:
            yield f"- {step.words}" + (f" (files: {', '.join(step.files)})" if step.files else "")
        if piece.of:
            yield from _describe_whole_task(piece.of, piece.of.id in known)
            known.add(piece.of.id)


def _listed(task: PlanTask) -> str:
    """The files as the plan names them, patterns with their number; of a part all of them."""
    if task.part or task.paths == task.files:
        return ", ".join(task.paths)
    return f"{', '.join(task.files)} ({counted(len(task.paths), 'file')})"


def _describe_whole_task(task: PlanTask, is_known: bool) -> Iterator[str]:
    """The larger task of a step: what the plan says about all steps applies to each."""
    yield f'\n{user_input.STEP_OF} "{task.title}". {user_input.OTHER_STEPS}'
    if task.description and not is_known:
        yield f"{user_input.PLAN_SAYS}\n\n{task.description}"
    if task.files and not is_known:
        yield f"\nFiles of all of it: {_listed(task)}"


def _end(pieces: Sequence[TaskPiece], context: PromptContext) -> Iterator[str]:
    yield DONE
    if context.briefs:
        yield "\nFrom the sessions before:"
        yield from context.briefs


TRIGGER = "batch"
SECTION = "Plan"


def find_transcript(session_id: str) -> Path | None:
    """The path that its hooks recorded, or Claude Code's usual place; None if there is none."""
    noted = window_state.load(places.window(session_id)).transcript
    if noted and Path(noted).is_file():
        return Path(noted)
    paths = transcripts_folder().glob(f"*/{places.plain(session_id)}.jsonl")
    return next((path for path in paths if path.is_file()), None)


def save_checkpoint(
    session_id: str, root: Path, lines: Sequence[str], now_ms: int
) -> SavedCheckpoint | None:
    """Save a checkpoint that says where the plan stands; None if there is no transcript."""
    path = find_transcript(session_id)
    if path is None:
        return None
    folder = for_transcript(path, session_id, "")[1]
    with window_state.lock_state_if_possible(folder) as state:
        fill(state, path, session_id, "")
        state.project = state.project or str(root)
        measurement.measure(state, settings_load.load(state.project), now_ms, folder)
        return take_checkpoint.save(state, folder, TRIGGER, now_ms, also={SECTION: list(lines)})


def compose_brief(session_id: str, tokens: int) -> str:
    """A fenced brief of what that session knew; empty if its transcript cannot be read."""
    path = find_transcript(session_id)
    if path is None:
        return ""
    state, folder = for_transcript(path, session_id, "")
    try:
        facts = storage.read_on(state, folder)
        brief = window_brief.compose_brief(state, folder, facts, tokens)
    except Exception as error:  # a transcript may hold anything: the batch then starts without it
        log.add("ERROR", session_id[:8], f"no brief for the next batch: {describe(error)}")
        return ""
    return brief.text if brief.lines else ""
