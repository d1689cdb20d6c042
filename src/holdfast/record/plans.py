"""Plans: steps that the model intends to take, open until something shows that they were taken.

A step is closed when the model reports it, with a tick or by name. A step of a plan that the user
approved is also closed by the end of the turn that carried it out. The evidence is saved with it.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from holdfast.record import plan_checks, shell
from holdfast.record.model import REPORTED, Place, Record, Task, Turn
from holdfast.text import progress
from holdfast.text.fence import quoted
from holdfast.text.sentences import ASKING, LIGHT, Lazy, clip, plain, sentences, subjects, within

PROMPTED = "Implement the following plan:"  # the client's words, before an approved plan
FILE = "file"
LEFT, LATER = "left", "later"  # the model lists it as remaining; the user wants it later
PUT_OFF = (LEFT, LATER)
SOURCES = ("plan", FILE, "prose", *PUT_OFF)
READ_CHARS, PLAN_CHARS = 16_000, 60_000
MOST_STEPS = 120
MOST_OF_ONE = 40
LONGEST_STEP = 200
MOST_NAMED = 6
SHORT_ANSWER, SHORTEST_ANSWER = 80, 32  # characters
MOST_TICKED, LONGEST_LINE = 60, 400  # lines of a text, and characters of each line
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
_FIRST = ("first", "zuerst", "primero", "d'abord")
_SEQUENCE = Lazy(
    r"\b(?:first|zuerst|primero|d'abord)\b,? ([^.;:\n]{8,200}?)[,;.] (?:and |und |y |et )?"
    r"(?:then|next|dann|danach|luego|después|ensuite|puis)\b,? ([^.;:\n]{8,200}?)[,;.] "
    r"(?:and |und |y |et )?(?:finally|lastly|then|zuletzt|schließlich|finalmente|enfin)\b,? "
    r"([^.;:\n]{8,200})",
    re.IGNORECASE,
)
_ENUMERATED = Lazy(r"(?:^|(?<=\s))(\d{1,2})[.)] +(?=\S)")
_MARKS = frozenset("-*•#[")
_ITEM = Lazy(
    r"[ \t]*(?:(?:[-*] )?\[( |x|X|~)\] |(\d{1,2})[.)] |[-*•] "
    r"|#{2,4} (?=(?:[^\W\d]+ )?#?\d{1,2}[a-z]?(?:[.:)]| [^\w\s]))"
    r")(.+)"
)

_CLIENTS = ".claude/plans/"  # a tool shows these to the user


Changed = dict[str, list[tuple[str, int]]]


class PlanStep(msgspec.Struct, frozen=True, gc=False):
    """A step as the text states it, with the lines under it."""

    box: str
    words: str
    about: str = ""
    is_check: bool = False


def add_plan(record: Record, text: str, place: Place) -> None:
    """Add the steps of a plan that was shown to the user; a refusal removes them again."""
    _add(record, _steps(clip(text, PLAN_CHARS)), place, "plan")


def add_plan_file(record: Record, name: str, text: str, place: Place) -> None:
    """Replace the steps of a plan file by those of the newest one, if it has boxes or numbered
    headings."""
    if not (name.endswith(".md") and "plan" in name.lower()) or _CLIENTS in name:
        return
    for key in [key for key, one in record.tasks.items() if one.source == FILE]:
        del record.tasks[key]
    _add(record, _steps(clip(text, PLAN_CHARS), numbers=False), place, FILE)


def close_checks(record: Record, key: str) -> None:
    """Close the checks that ask for a command that has passed."""
    for step in record.tasks.values():
        if step.is_check and step.is_open and plan_checks.asks_for(step.text, key):
            step.status, step.closed_by = "completed", f"{clip(key, 120)} passed"


def hear(record: Record, text: str, place: Place) -> None:
    """Take the model's words: add the steps they announce, and close the steps they report."""
    _close_ticked(record, text)
    _close_reported(record, text)
    if not record.far:
        read = clip(text, READ_CHARS)
        _add(record, [PlanStep("", one) for one in progress.find_remaining(read)], place, LEFT)
        _add(record, _announced(read), place, "prose")


def hear_user(record: Record, words: str, place: Place) -> None:
    """Take the user's words: what they ask for again is no longer postponed, and what they postpone
    is open until something shows that it was done."""
    about = subjects(plain(words))
    for step in [one for one in record.tasks.values() if one.source in PUT_OFF and one.is_open]:
        if _names(about, step):
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
    return len(bare) <= SHORTEST_ANSWER or _find_questions(said)[1] or "plan" in said.lower()


def find_carried_out(record: Record) -> list[Task]:
    """Return the open steps that the last turn has carried out, if it is over."""
    turn = record.turns[-1] if record.turns else None
    if turn is None or not is_over(record, turn):
        return []
    asked, ends_asking = _find_questions(turn.said)
    told = turn.said
    for question in asked:
        told = told.replace(question, " ")  # "continue until all is done?" reports nothing
    told = plain(told)
    known = [one for one in record.tasks.values() if _is_open_step(one)]
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
        if _names(about, one) or _is_done(record, one, _is_touched(changed, one), ended=ended)
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
    goes_on = bool(record.turns[-1].edited) and all(_find_questions(one.said)[1] for one in asked)
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


@lru_cache(MOST_STEPS * 2)
def _names_file(step: str) -> bool:
    return any("/" in name for name in shell.find_paths(step))


def _is_one_file(path: str, name: str) -> bool:
    """Whether two paths mean the same file: one may be relative to another folder."""
    return f"/{path}".endswith(f"/{name}") or name.endswith(f"/{path}")


def _find_questions(text: str) -> tuple[list[str], bool]:
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


def _close_ticked(record: Record, text: str) -> None:
    """Close the steps on lines with a tick; a line that calls everything done closes all."""
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
            named = _names(about, step) or _label_of(step.text) in labels
            if is_all or named or _is_titled(about, step.text):
                step.status, step.closed_by = REPORTED, quoted(clip(line.strip(), 120))
        open_steps = [one for one in open_steps if one.is_open]


def _close_reported(record: Record, text: str) -> None:
    """Close a step if a sentence anywhere in a turn calls it done by its name."""
    open_steps = [one for one in record.tasks.values() if _is_open_step(one)]
    for sentence in sentences(text)[:MOST_TICKED] if open_steps else ():
        about = subjects(plain(sentence[:LONGEST_LINE]))
        named = [step for step in open_steps if _names(about, step)]
        if named and progress.calls_done(sentence):
            for step in named:
                step.status, step.closed_by = REPORTED, quoted(clip(sentence, 120))


def _is_open_step(task: Task) -> bool:
    return task.source in SOURCES and task.is_open


@lru_cache(MOST_STEPS * 2)
def _label_of(step: str) -> str | None:
    """Return `TASK-7` or `Phase 3` if a step begins with one; later labels name what it waits
    for."""
    label = _LABEL.pattern.search(step[:40])
    return label[0].lower() if label else None


def _names(about: set[str], step: Task) -> bool:
    """Whether a text about these subjects is about the step: they include most of its own."""
    of_step = _subjects_of(step.text)
    return bool(of_step) and len(of_step & about) * 3 >= 2 * len(of_step)


def _is_titled(about: set[str], step: str) -> bool:
    """Whether a ticked line repeats only the title of a step: "Try it on old tables: run it against
    …". One word is no title."""
    title, colon, _ = step.partition(": ")
    of_title = _subjects_of(title) if colon else frozenset()
    return len(of_title) > 1 and len(of_title & about) * 3 >= 2 * len(of_title)


def is_called(words: str, task: str) -> bool:
    """Whether words name a task, by its label if both have one, or by most of its subjects."""
    label, other = _label_of(words), _label_of(task)
    if label and other:
        return label == other
    of_task = _subjects_of(task)
    return bool(of_task) and len(of_task & _subjects_of(words)) * 3 >= 2 * len(of_task)


def is_step(task: Task) -> bool:
    """Whether this is an open step that is not a check: a check asks for a run."""
    return _is_open_step(task) and not task.is_check


def is_same(task: str, step: str) -> bool:
    """Whether a task of a list and a step of a plan are the same: one of them names the other.
    Lists use few words, but a single word is no name."""
    return is_called(task, step) or (len(_subjects_of(task)) > 1 and is_called(step, task))


@lru_cache(MOST_STEPS * 2)
def _subjects_of(step: str) -> frozenset[str]:
    return frozenset(subjects(plain(step)) - LIGHT)


def _add(record: Record, steps: list[PlanStep], place: Place, source: str) -> None:
    known = {task.text for task in record.tasks.values() if task.is_open}
    for number, step in enumerate(steps[:MOST_OF_ONE]):
        bare = step.words.replace("*", "") if step.is_check else step.words.translate(_BOLD)
        words = clip(bare.strip(" -:"), LONGEST_STEP)
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


def _announced(text: str) -> list[PlanStep]:
    """Return the items of the last list that a line or a heading with a lead word announces."""
    found: list[PlanStep] = []
    lead, inside = "", False
    for line in text.splitlines():
        item = _item(line)
        if item and (item[1] or item[2]) and _leads(lead):
            found = [*(found if inside else ()), PlanStep(item[1] or "", item[3])]
            inside = True
        elif line.strip() and not line.startswith(("  ", "\t")):
            lead, inside = line, False
            if len(steps := _in_one_line(line)) > 1:
                found = steps
    is_sequence = not found and within(_FIRST, text.lower())
    if is_sequence and (told := _SEQUENCE.pattern.search(text)):
        found = [PlanStep("", step) for step in told.groups()]
    return found if len(found) > 1 else []


def _item(line: str) -> re.Match[str] | None:
    """Match an item of a list. The first character rules out most lines."""
    first = line.lstrip(" \t")[:1]
    return _ITEM.pattern.match(line) if first in _MARKS or first.isdecimal() else None


def _leads(line: str) -> bool:
    """Whether a line ends with a word that announces steps: "Here is the plan:", "## Remaining".
    What is left for the user to do is not a plan of the model."""
    if progress.TO_USER.pattern.search(line):
        return False
    return line.lower().strip(" \t#*_:：.-").endswith(_LEADS)  # noqa: RUF001


def _in_one_line(line: str) -> list[PlanStep]:
    """Return the steps of a plan in one line: `Plan: 1. read it 2. write it`."""
    if ". " not in line and ") " not in line:
        return []
    marks = list(_ENUMERATED.pattern.finditer(line))
    if not marks or [int(mark[1]) for mark in marks] != list(range(1, len(marks) + 1)):
        return []
    if not _leads(line[: marks[0].start()]):
        return []
    ends = [mark.start() for mark in marks[1:]] + [len(line)]
    return [PlanStep("", line[a.end() : b].strip()) for a, b in zip(marks, ends, strict=True)]


def _steps(text: str, *, numbers: bool = True) -> list[PlanStep]:
    """Return the steps of a whole plan: numbered headings, else boxes to tick (under numbered
    headings they are parts of steps), else its only numbered list; then the items of its
    verification."""
    boxes: list[PlanStep] = []
    headed: list[PlanStep] = []
    numbered: list[PlanStep] = []
    checks: list[PlanStep] = []
    in_checks = in_code = False
    for line in text.splitlines():
        in_code ^= line.startswith("```")
        if line.startswith("#") and not in_code:
            in_checks = plan_checks.is_section(line)
        item = None if in_code else _item(line)
        if item and in_checks and not line[0].isspace() and plan_checks.is_check(item[3]):
            checks.append(PlanStep(item[1] or "", item[3], item[3], True))
        elif item and item[1]:
            boxes.append(PlanStep(item[1], item[3], item[3]))
        elif item and line.startswith("#"):
            headed.append(PlanStep("", item[3], item[3]))
        elif item and item[2] and line[:1].isdigit() and numbers:
            numbered.append(PlanStep("", item[3], item[3]))
        elif headed and not in_checks:
            headed[-1] = replace(headed[-1], about=f"{headed[-1].about}\n{line}")
    lists = sum(line.startswith(("1. ", "1) ")) for line in text.splitlines()) - bool(checks)
    known = headed if len(headed) > 1 else boxes or (numbered if lists < 2 else [])
    return [*known, *checks]
