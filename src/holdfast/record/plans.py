"""Plans: steps that the model intends to take, open until something shows that they were taken.

A step is closed when the model reports it, with a tick or by name. A step of a plan that the user
approved is also closed by the end of the turn that carried it out. The evidence is saved with it.
"""

from holdfast.record import shell
from holdfast.record.model import REPORTED, Place, Record, Task
from holdfast.record.plan_steps.evidence import (
    close_reported,
    close_ticked,
    find_carried_out,
    find_questions,
    is_over,
)
from holdfast.record.plan_steps.labels import names_step
from holdfast.record.plan_steps.wording import (
    FILE,
    LATER,
    LEFT,
    PUT_OFF,
    SOURCES,
    PlanStep,
    find_announced,
    find_steps,
)
from holdfast.text import progress
from holdfast.text.fence import quoted
from holdfast.text.sentences import ASKING, clip, plain, subjects

PROMPTED = "Implement the following plan:"  # the client's words, before an approved plan
READ_CHARS, PLAN_CHARS = 16_000, 60_000
MOST_STEPS = 120
MOST_OF_ONE = 40
LONGEST_STEP = 200
MOST_NAMED = 6
SHORT_ANSWER, SHORTEST_ANSWER = 80, 32  # characters
_BOLD = str.maketrans({"*": "", "`": "", "\u2019": "'"})
_VERB_WORDS = "seed feed need speed embed shed bleed proceed exceed succeed weed breed heed wed"
_VERBS = frozenset(_VERB_WORDS.split())
_CLIENTS = ".claude/plans/"  # a tool shows these to the user


def add_plan(record: Record, text: str, place: Place) -> None:
    """Add the steps of a plan that was shown to the user; a refusal removes them again."""
    _add(record, find_steps(clip(text, PLAN_CHARS)), place, "plan")


def add_plan_file(record: Record, name: str, text: str, place: Place) -> None:
    """Replace the steps of a plan file by those of the newest one, if it has boxes or numbered
    headings."""
    if not (name.endswith(".md") and "plan" in name.lower()) or _CLIENTS in name:
        return
    for key in [key for key, one in record.tasks.items() if one.source == FILE]:
        del record.tasks[key]
    _add(record, find_steps(clip(text, PLAN_CHARS), numbers=False), place, FILE)


def hear(record: Record, text: str, place: Place) -> None:
    """Take the model's words: add the steps they announce, and close the steps they report."""
    close_ticked(record, text)
    close_reported(record, text)
    if not record.far:
        read = clip(text, READ_CHARS)
        _add(record, [PlanStep("", one) for one in progress.find_remaining(read)], place, LEFT)
        _add(record, find_announced(read), place, "prose")


def hear_user(record: Record, words: str, place: Place) -> None:
    """Take the user's words: what they ask for again is no longer postponed, and what they postpone
    is open until something shows that it was done."""
    about = subjects(plain(words))
    for step in [one for one in record.tasks.values() if one.source in PUT_OFF and one.is_open]:
        if names_step(about, step):
            step.status, step.closed_by = REPORTED, f"asked for again: {quoted(clip(words, 80))}"
    later = [PlanStep("", one) for one in progress.find_postponed(words)]
    _add(record, later, place, LATER)


def settle(record: Record, words: str, place: Place) -> None:
    """Close what the last turn carried out, as the user types again. Steps that its closing words
    proposed are removed unless these words accept them."""
    for step in find_carried_out(record):
        turn = record.turns[-1]
        step.status, step.closed_by = REPORTED, quoted(clip(" ".join(turn.said.split()), 120))
    takes_up = bool(record.turns) and _takes_up(words, record.turns[-1].said)
    if (proposed := proposals(record)) and not takes_up:
        record.tasks = {key: one for key, one in record.tasks.items() if one not in proposed}
    for step in _left_last(record) if takes_up else ():
        step.source = "plan"  # it is being done now, and closed like a plan
        step.place = place


def _left_last(record: Record) -> list[Task]:
    said_op = record.turns[-1].said_op
    listed = (one for one in record.tasks.values() if one.source == LEFT and one.is_open)
    return [one for one in listed if one.place.op == said_op]


def proposals(record: Record) -> list[Task]:
    """Return the steps in the closing words of a turn: an offer, or advice to the user. Steps of a
    plan are followed by work."""
    turn = record.turns[-1] if record.turns else None
    if turn is None or not is_over(record, turn):
        return []
    listed = (one for one in record.tasks.values() if one.source == "prose" and one.is_open)
    return [one for one in listed if one.place.op == turn.said_op]


def _takes_up(words: str, said: str) -> bool:
    """Whether a short answer accepts a plan or a question; a very short one ("go on") accepts
    anything."""
    bare = words.strip()
    if len(bare) > SHORT_ANSWER or bare.endswith(ASKING):
        return False
    return len(bare) <= SHORTEST_ANSWER or find_questions(said)[1] or "plan" in said.lower()


def without_steps(record: Record, said: list[str], place: Place) -> list[str]:
    """Return the sentences that were not taken as steps at this place."""
    steps = {one.text for one in record.tasks.values() if one.place == place}
    return [one for one in said if _step_text(one.lstrip("0123456789.) ")) not in steps]


def _step_text(words: str, *, is_check: bool = False) -> str:
    """Return a step as it is saved. A check keeps the marks around its command."""
    bare = words.replace("*", "") if is_check else words.translate(_BOLD)
    return clip(bare.strip(" -:"), LONGEST_STEP)


def _add(record: Record, steps: list[PlanStep], place: Place, source: str) -> None:
    known = {task.text for task in record.tasks.values() if task.is_open}
    for number, step in enumerate(steps[:MOST_OF_ONE]):
        words = _step_text(step.words, is_check=step.is_check)
        first = words.partition(" ")[0].lower()
        reports = words[:1] in "✅✔☑" or (first.endswith("ed") and first not in _VERBS)  # done
        if words and words not in known and not reports:
            status = "completed" if step.box in ("x", "X", "~") else "pending"
            named = shell.find_paths(step.about.replace("`", " "))[:MOST_NAMED]
            task = Task(words, place, status, source, "", named, step.is_check)
            record.tasks[f"{source} {place.op}.{number}"] = task
    planned = [key for key, one in record.tasks.items() if one.source in SOURCES]
    closed = [key for key in planned if not record.tasks[key].is_open]
    for key in [*closed, *planned][: max(0, len(planned) - MOST_STEPS)]:
        record.tasks.pop(key, None)
