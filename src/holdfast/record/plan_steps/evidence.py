"""What shows that a step was taken: a tick, a report by name, changed files, the end of its turn.

The evidence is saved with the step that it closes.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from holdfast.record import plan_checks, shell
from holdfast.record.model import REPORTED, Place, Record, Task, Turn
from holdfast.record.plan_steps.labels import (
    REMEMBERED,
    is_titled,
    label_of,
    labels_in,
    names_core,
    names_step,
    subjects_of,
)
from holdfast.record.plan_steps.wording import LATER, LEFT, SOURCES
from holdfast.text import progress
from holdfast.text.fence import quoted
from holdfast.text.sentences import ASKING, Lazy, clip, plain, sentences, subjects, within

MOST_TICKED, LONGEST_LINE = 60, 400  # lines of a text, and characters of each line
_DONE = (
    *(" done ", " complete ", " completed ", " finished ", " implemented ", " shipped ", " ready "),
    *(" all tests pass ", " fertig ", " erledigt ", " abgeschlossen ", " terminé ", " hecho "),
    *(" listo ", " completado ", "完成", "完了", "できました", "완료"),
)
_NOT_YET = (
    *(" yet ", " not done ", " not finished ", " not complete", " not implemented ", " not ready "),
    *(" nicht fertig ", " nicht erledigt ", " pas terminé ", " no está listo "),
    *(" could not ", " couldn't ", " cannot ", " can't ", " unable ", " blocked ", " stopped "),
    *(" failed ", " fails ", " failing ", " konnte nicht ", " no pude ", " impossible "),
    *(" still ", " remaining ", " remains ", " next step", " to do ", " todo "),
    *(" pending ", " noch ", " falta ", " pendiente", " reste ", "残り", "还没", "未完"),
)
_TICKS = ("✅", "☑", "✔", "[x]", "~~")
_ALL_DONE = Lazy(
    r"\b(\d+)/\1\b.{0,40}(?:complete|done|finished)|\ball (?:\w+ ){0,2}(?:tasks|steps|phases)"
    r"(?: are| is| have been)? (?:complete|done|finished|implemented)",
    re.IGNORECASE,
)
Changed = dict[str, list[tuple[str, int]]]


def close_checks(record: Record, key: str) -> None:
    """Close the checks that ask for a command that has passed."""
    for step in record.tasks.values():
        if step.is_check and step.is_open and plan_checks.asks_for(step.text, key):
            step.status, step.closed_by = "completed", f"{clip(key, 120)} passed"


def close_ticked(record: Record, text: str) -> None:
    """Close the steps on lines with a tick; a line that calls everything done closes all."""
    if not within(_TICKS, text):
        return
    open_steps = [one for one in record.tasks.values() if is_open_step(one)]
    ticked = [line for line in dict.fromkeys(text.splitlines()) if within(_TICKS, line)]
    words = frozenset[str]().union(*(subjects_of(one.text) for one in open_steps))
    for line in ticked[:MOST_TICKED] if open_steps else ():
        about, is_all = subjects(plain(line[:LONGEST_LINE])), _ALL_DONE.pattern.search(line)
        labels = labels_in(line)
        if not (is_all or labels or about & words):
            continue
        for step in open_steps:
            named = names_step(about, step) or label_of(step.text) in labels
            if is_all or named or is_titled(about, step.text):
                step.status, step.closed_by = REPORTED, quoted(clip(line.strip(), 120))
        open_steps = [one for one in open_steps if one.is_open]


def close_reported(record: Record, text: str) -> None:
    """Close a step if a sentence anywhere in a turn calls it done by its name."""
    open_steps = [one for one in record.tasks.values() if is_open_step(one)]
    for sentence in sentences(text)[:MOST_TICKED] if open_steps else ():
        about = subjects(plain(sentence[:LONGEST_LINE]))
        named = [one for one in open_steps if names_step(about, one) or names_core(about, one)]
        if named and progress.calls_done(sentence):
            for step in named:
                step.status, step.closed_by = REPORTED, quoted(clip(sentence, 120))


def find_carried_out(record: Record) -> list[Task]:
    """Return the open steps that the last turn has carried out, if it is over."""
    turn = record.turns[-1] if record.turns else None
    if turn is None or not is_over(record, turn):
        return []
    asked, ends_asking = find_questions(turn.said)
    told = turn.said
    for question in asked:
        told = told.replace(question, " ")  # "continue until all is done?" reports nothing
    told = plain(told)
    known = [one for one in record.tasks.values() if is_open_step(one)]
    named = "".join(plain(one.text) for one in known)  # "handle failed logins" can be done
    unfinished = within((phrase for phrase in _NOT_YET if phrase not in named), told)
    finished = within(_DONE, told)
    ticks_some = within(_TICKS, turn.said) and not _ALL_DONE.pattern.search(turn.said)
    broke = bool(turn.runs) and not turn.runs[-1][1]
    ended = (finished or not ends_asking) and not (broke or unfinished or ticks_some)
    about = subjects(told) if finished and not unfinished else set()
    if not known:
        return []
    changed = _changed(record, min(one.place.op for one in known))
    found = [
        one
        for one in known
        if names_step(about, one) or _is_done(record, one, _is_touched(changed, one), ended=ended)
    ]
    return [*found, *_passed_over(record, found, changed)]


def _is_done(record: Record, step: Task, touched: bool | None, *, ended: bool) -> bool:
    """Whether a step is done. A check needs words that report its run; a step needs changed files,
    else the end of its turn."""
    if step.is_check:
        return plan_checks.is_told(step.text, record.turns[-1].said, _NOT_YET)
    if touched is not None and step.source not in ("prose", LATER):
        return touched
    is_told_before = step.source == LEFT and step.place.op < record.turns[-1].said_op
    return (step.source == "plan" or is_told_before) and ended and _is_of_last(record, step)


def _passed_over(record: Record, done: list[Task], changed: Changed) -> Iterator[Task]:
    """Yield the open steps before one that is done, because plans are carried out in order. Steps
    whose files show whether they are done are left out."""
    now = {id(one) for one in done}
    later: set[Place] = set()
    for one in reversed([*record.tasks.values()]):
        if one.source != "plan" or one.is_check:
            continue
        if id(one) in now or (one.closed_by and not one.is_open):
            later.add(one.place)
        elif one.is_open and one.place in later and _is_touched(changed, one) is None:
            yield one


def _is_of_last(record: Record, step: Task) -> bool:
    """Whether the last turn is the first to end since the step was planned: earlier ones were
    stopped or ended with a question, and the last one made changes."""
    begun = [n for n, one in enumerate(record.turns) if one.place.offset <= step.place.offset]
    between = record.turns[begun[-1] if begun else 0 : -1]
    asked = [one for one in between if one.said and not one.interrupted]
    goes_on = bool(record.turns[-1].edited) and all(find_questions(one.said)[1] for one in asked)
    return step.place.op < record.op and (not asked or goes_on)


def _changed(record: Record, since: int) -> Changed:
    """Return the files that were changed since this step, under their current names, and when."""
    found: Changed = {}
    for path, used in record.files.items():
        if used.op > since and (used.is_changed or used.gone):
            found.setdefault(path.rpartition("/")[2], []).append((path, used.op))
    return found


def _is_touched(changed: Changed, step: Task) -> bool | None:
    """Whether a file of the step was changed since; None if that cannot be told: its title names no
    file, and those in the lines under it may only be mentioned."""
    for name in step.files:
        for path, op in changed.get(name.rpartition("/")[2], ()):
            if op > step.place.op and _is_one_file(path, name):
                return True
    return False if _names_file(step.text) else None


@lru_cache(REMEMBERED)
def _names_file(step: str) -> bool:
    return any("/" in name for name in shell.find_paths(step))


def _is_one_file(path: str, name: str) -> bool:
    """Whether two paths mean the same file: one may be relative to another folder."""
    return f"/{path}".endswith(f"/{name}") or name.endswith(f"/{path}")


def find_questions(text: str) -> tuple[list[str], bool]:
    """Return the questions in a text, and whether it ends with one."""
    said = sentences(text)
    asked = [one for one in said if one.endswith(ASKING)]
    return asked, bool(asked) and asked[-1] is said[-1]


def is_over(record: Record, turn: Turn) -> bool:
    """Whether a turn is over: its last step was words, nothing runs, and nobody stopped it."""
    if not turn.said or turn.interrupted or record.calls:
        return False
    return turn.said_op == record.op and not (
        record.recent and record.recent[-1].place.op == record.op
    )


def is_open_step(task: Task) -> bool:
    return task.source in SOURCES and task.is_open


def is_step(task: Task) -> bool:
    """Whether this is an open step that is not a check: a check asks for a run."""
    return is_open_step(task) and not task.is_check
