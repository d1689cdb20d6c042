"""Plans: steps the model means to take, open until something shows that they were taken.

A step is closed by words of the model that report it, with a tick or by name, or, for a plan the
user approved, by the end of the turn that carried it out. What closed it is kept with it.
"""

import re
from functools import lru_cache

from holdfast.record import completion
from holdfast.record.lazy import Lazy
from holdfast.record.model import REPORTED, Place, Record, Task, Turn
from holdfast.record.phrases import plain, within
from holdfast.record.sentences import ASKING, LIGHT, sentences, subjects

READ_CHARS = 16_000
MOST_STEPS = 120
MOST_OF_ONE = 40
LONGEST_STEP = 200
MOST_TICKED, LONGEST_LINE = 60, 400  # lines of one text, and of each
_BOLD = str.maketrans({"*": "", "`": "", "\u2019": "'"})
# A line that announces a list of steps ends with one of these. Any other list is no plan.
_LEADS = (
    *("plan", "steps", "remaining", "to do", "to-do", "todo", "open", "left", "next", "phases"),
    *("tasks", "schritte", "offen", "nächstes", "pasos", "pendiente", "pendientes", "étapes"),
    *("reste", "計画", "手順", "残り", "计划", "步骤", "接下来", "剩下"),
)
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
_VERB_WORDS = "seed feed need speed embed shed bleed proceed exceed succeed weed breed heed wed"
_VERBS = frozenset(_VERB_WORDS.split())
_TICKS = ("✅", "☑", "✔", "[x]", "~~")
_LABEL = Lazy(
    r"\b[A-Z]{2,}-\d+\b|\b(?:phase|step|task|part|schritt|paso) ?#?\d+[a-z]?\b", re.IGNORECASE
)
_ALL_DONE = Lazy(
    r"\b(\d+)/\1\b.{0,40}(?:complete|done|finished)|\ball (?:\w+ ){0,2}(?:tasks|steps|phases)"
    r"(?: are| is| have been)? (?:complete|done|finished|implemented)",
    re.IGNORECASE,
)
# "First one thing, then another, and finally a third."
_SEQUENCE = Lazy(
    r"\b(?:first|zuerst|primero|d'abord)\b,? ([^.;:\n]{8,200}?)[,;.] (?:and |und |y |et )?"
    r"(?:then|next|dann|danach|luego|después|ensuite|puis)\b,? ([^.;:\n]{8,200}?)[,;.] "
    r"(?:and |und |y |et )?(?:finally|lastly|then|zuletzt|schließlich|finalmente|enfin)\b,? "
    r"([^.;:\n]{8,200})",
    re.IGNORECASE,
)
_ENUMERATED = Lazy(r"(?:^|(?<=\s))(\d{1,2})[.)] +(?=\S)")
_ITEM = Lazy(r"[ \t]*(?:(?:[-*] )?\[( |x|X|~)\] |(\d{1,2})[.)] |#{2,4} (?=\D{0,12}\d)|[-*•] )(.+)")


def approved(record: Record, text: str, place: Place) -> None:
    """A plan that was handed to the user; a refusal takes its steps away again."""
    _add(record, _steps(text[:READ_CHARS]), place, "plan")


def hear(record: Record, text: str, place: Place) -> None:
    """Words of the model: steps they announce, and steps they report."""
    _close_ticked(record, text)
    _close_reported(record, text)
    if not record.far:
        _add(record, _announced(text[:READ_CHARS]), place, "prose")


def settle(record: Record) -> None:
    """The user speaks again: what the turn before it carried out is closed."""
    turn = record.turns[-1] if record.turns else None
    if turn is None or not is_over(record, turn):
        return
    asked, ends_asking = _asked(turn.said)
    told = turn.said
    for question in asked:
        told = told.replace(question, " ")  # "go on until all is done?" reports nothing
    told = plain(told)
    unfinished, finished = within(_NOT_YET, told), within(_DONE, told)
    about, broke = subjects(told), bool(turn.runs) and not turn.runs[-1][1]
    for step in record.tasks.values():
        if not _is_open_step(step):
            continue
        of_this_turn = turn.place.op < step.place.op < record.op
        ended = step.source == "plan" and (finished or not ends_asking) and not broke
        carried_out = of_this_turn and not unfinished and ended
        if carried_out or (finished and not unfinished and _names(about, step)):
            _close(step, turn)


def _asked(text: str) -> tuple[list[str], bool]:
    """The questions in a text, and whether it ends with one."""
    said = sentences(text)
    asked = [one for one in said if one.endswith(ASKING)]
    return asked, bool(asked) and asked[-1] is said[-1]


def is_over(record: Record, turn: Turn) -> bool:
    """Its last step was words, nothing runs, and nobody stopped it."""
    if not turn.said or turn.interrupted or record.calls:
        return False
    return turn.said_op == record.op and not (
        record.recent and record.recent[-1].place.op == record.op
    )


def _close(step: Task, turn: Turn) -> None:
    step.status, step.closed_by = REPORTED, f"“{' '.join(turn.said.split())[:120]}”"


def _close_ticked(record: Record, text: str) -> None:
    """Lines with a tick, and what they tick off; a line that says all is done ticks off all."""
    if not within(_TICKS, text):
        return
    open_steps = [one for one in record.tasks.values() if _is_open_step(one)]
    ticked = [line for line in dict.fromkeys(text.splitlines()) if within(_TICKS, line)]
    words = frozenset[str]().union(*(_subjects_of(one.text) for one in open_steps))
    for line in ticked[:MOST_TICKED] if open_steps else ():
        about, is_all = subjects(plain(line[:LONGEST_LINE])), _ALL_DONE.pattern.search(line)
        labels = {one.lower() for one in _LABEL.pattern.findall(line)}
        if not (is_all or labels or about & words):
            continue
        for step in open_steps:
            if is_all or _names(about, step) or _label_of(step.text) in labels:
                step.status, step.closed_by = REPORTED, f"“{line.strip()[:120]}”"
        open_steps = [one for one in open_steps if one.is_open]


def _close_reported(record: Record, text: str) -> None:
    """A sentence that calls a step done by its name closes it, wherever in a turn it is said."""
    open_steps = [one for one in record.tasks.values() if _is_open_step(one)]
    for sentence in sentences(text)[:MOST_TICKED] if open_steps else ():
        about = subjects(plain(sentence[:LONGEST_LINE]))
        named = [step for step in open_steps if _names(about, step)]
        if named and completion.calls_done(sentence):
            for step in named:
                step.status, step.closed_by = REPORTED, f"“{sentence[:120]}”"


def _is_open_step(task: Task) -> bool:
    return task.source in ("plan", "prose") and task.is_open


@lru_cache(MOST_STEPS * 2)
def _label_of(step: str) -> str | None:
    """`TASK-7` or `Phase 3`, where a step begins with one; what it waits for stands further on."""
    label = _LABEL.pattern.search(step[:40])
    return label[0].lower() if label else None


def _names(about: set[str], step: Task) -> bool:
    """Words about these subjects tell of the step: most of what it is about is among them."""
    of_step = _subjects_of(step.text)
    return bool(of_step) and len(of_step & about) * 3 >= 2 * len(of_step)


@lru_cache(MOST_STEPS * 2)
def _subjects_of(step: str) -> frozenset[str]:
    return frozenset(subjects(plain(step)) - LIGHT)


def _add(record: Record, steps: list[tuple[str, str]], place: Place, source: str) -> None:
    known = {task.text for task in record.tasks.values() if task.is_open}
    for number, (box, words) in enumerate(steps[:MOST_OF_ONE]):
        words = words.translate(_BOLD).strip(" -:")[:LONGEST_STEP]
        first = words.partition(" ")[0].lower()
        reports = words[:1] in "✅✔☑" or (first.endswith("ed") and first not in _VERBS)  # done
        if words and words not in known and not reports:
            status = "completed" if box in ("x", "X", "~") else "pending"
            record.tasks[f"{source} {place.op}.{number}"] = Task(words, place, status, source)
    planned = [key for key, one in record.tasks.items() if one.source in ("plan", "prose")]
    closed = [key for key in planned if not record.tasks[key].is_open]
    for key in [*closed, *planned][: max(0, len(planned) - MOST_STEPS)]:
        record.tasks.pop(key, None)


def _announced(text: str) -> list[tuple[str, str]]:
    """The items of the last list that a line or a heading with one of the lead words announces."""
    found: list[tuple[str, str]] = []
    lead, inside = "", False
    for line in text.splitlines():
        item = _ITEM.pattern.match(line) if line.strip() else None
        if item and (item[1] or item[2]) and _leads(lead):
            found = [*found, (item[1] or "", item[3])] if inside else [(item[1] or "", item[3])]
            inside = True
        elif line.strip() and not line.startswith(("  ", "\t")):
            lead, inside = line, False
            if len(steps := _in_one_line(line)) > 1:
                found = steps
    if not found and (told := _SEQUENCE.pattern.search(text)):
        found = [("", step) for step in told.groups()]
    return found if len(found) > 1 else []


def _leads(line: str) -> bool:
    """It ends with a word that announces steps: "Here is the plan:", "## Remaining"."""
    return line.lower().strip(" \t#*_:：.-").endswith(_LEADS)  # noqa: RUF001


def _in_one_line(line: str) -> list[tuple[str, str]]:
    """`Plan: 1. read it 2. write it`."""
    marks = list(_ENUMERATED.pattern.finditer(line))
    if not marks or [int(mark[1]) for mark in marks] != list(range(1, len(marks) + 1)):
        return []
    if not _leads(line[: marks[0].start()]):
        return []
    ends = [mark.start() for mark in marks[1:]] + [len(line)]
    return [("", line[a.end() : b].strip()) for a, b in zip(marks, ends, strict=True)]


def _steps(text: str) -> list[tuple[str, str]]:
    """Of a whole plan: boxes to tick, else headings with a number, else a numbered list."""
    boxes, headed, numbered = [], [], []
    for line in text.splitlines():
        if item := _ITEM.pattern.match(line):
            if item[1]:
                boxes.append((item[1], item[3]))
            elif line.lstrip().startswith("#"):
                headed.append(("", item[3]))
            elif item[2] and line[:1].isdigit():
                numbered.append(("", item[3]))
    return boxes or next((steps for steps in (headed, numbered) if len(steps) > 1), [])
