"""The model's own words: decisions, plans, questions, and the names it used."""

from holdfast.checkpoint.extract import cues, names
from holdfast.checkpoint.extract.sentences import LIGHT, sentences, subjects
from holdfast.checkpoint.facts import REPORTED, Decision, Facts, Place, Task

READ_CHARS = 8000
MOST_TEXTS = 4
LONGEST_TEXT = 2400
MOST_DECISIONS = 60
MOST_PLANNED = 40
LONGEST_STEP = 200
MOST_QUESTIONS = 4
_DECIDING = (
    "decided | decision: | i'll use | i will use | we'll use | going with | go with | opted for "
    "| chose | i'll keep | let's use | let's go with | switched to | switching to "
    "| the best approach | the right approach | "
    "entschieden | j'ai choisi | decidí | 決め | 决定"
)
_DECIDED = tuple(f" {cue} " for cue in _DECIDING.split(" | "))
_HINTS = tuple(cue.strip() for cue in _DECIDED)
_BECAUSE = (" because ", " since ", " so that ", " in order to ", " to avoid ", " weil ", " damit ")
_NOT_YET = (" not ", "n't ", " still ", " remaining ", " remains ", " next step ", " noch ")
REPORT_CHARS = 400
_BOLD = str.maketrans({"*": "", "`": "", "\u2019": "'"})


def hear(facts: Facts, text: str, place: Place) -> None:
    """The model spoke."""
    text = text[:READ_CHARS]
    if not text.strip():
        return
    facts.last_texts.append(text.strip()[:LONGEST_TEXT])
    del facts.last_texts[:-MOST_TEXTS]
    facts.last_said_op = place.op
    names.hear(facts, text, 1.6)
    low = text.lower()
    if cues.within(_HINTS, low):
        _decisions(facts, text, place)
    facts.questions.clear()
    if not facts.far and "?" in text[-400:]:
        facts.questions += [one for one in sentences(text[-800:]) if one.endswith("?")]
        del facts.questions[:-MOST_QUESTIONS]


def reports_done(facts: Facts) -> bool:
    """The model's last words end its turn, answer the last prompt, and call it done."""
    if not facts.last_texts or not facts.prompts or facts.calls or facts.last_said_op != facts.op:
        return False
    if facts.op <= facts.prompts[-1].place.op:
        return False
    if facts.recent and facts.recent[-1].place.op == facts.op:
        return False
    text = facts.last_texts[-1]
    told = cues.plain(text[:REPORT_CHARS] + " " + text[-REPORT_CHARS:])
    return cues.has("done", told) and not cues.within(_NOT_YET, told)


def settle(facts: Facts) -> None:
    """What the user listed and the model reported done before the user spoke again."""
    if not reports_done(facts):
        return
    told = cues.plain(facts.last_texts[-1])
    for task in facts.tasks.values():
        about = subjects(cues.plain(task.text)) - LIGHT
        named = about and len(about & subjects(told)) * 2 >= len(about)
        if task.source == "asked" and task.is_open and (named or cues.has("all", told)):
            task.status = REPORTED


def _decisions(facts: Facts, text: str, place: Place) -> None:
    """Sentences that say what was chosen; one with a reason is worth two without."""
    found = []
    for sentence in sentences(text):
        low = f" {sentence.lower().translate(_BOLD)} "
        ends = sentence.rstrip("*`_ ").endswith((":", "?"))
        if 30 <= len(sentence) <= 360 and not ends and cues.within(_DECIDED, low):
            found.append((cues.within(_BECAUSE, low), sentence))
    found.sort(key=lambda pair: pair[0], reverse=True)
    known = {decision.text for decision in facts.decisions}
    facts.decisions += [Decision(words, place) for _, words in found[:2] if words not in known]
    del facts.decisions[:-MOST_DECISIONS]


def plan(facts: Facts, text: str, place: Place, source: str = "plan") -> None:
    """The steps of a plan, or of a list the user wrote, in place of those told before."""
    steps = _steps(text[: 2 * READ_CHARS])[:MOST_PLANNED]
    if not steps and source == "plan":
        return
    for key in [key for key, task in facts.tasks.items() if task.source == source]:
        del facts.tasks[key]
    for number, (box, words) in enumerate(steps):
        status = "completed" if box in ("x", "X") else "pending"
        words = words.translate(_BOLD).strip()
        facts.tasks[f"{source} {number}"] = Task(words, place, status, source)


def _steps(text: str) -> list[tuple[str, str]]:
    """Boxes to tick, else headings with a number, else a numbered list."""
    boxes, headed, numbered = [], [], []
    for line in text.splitlines() if "\n" in text else ():
        bare = line.strip()[:LONGEST_STEP]
        if bare[:1] in "-*" and bare[2:3] == "[" and bare[4:6] == "] ":
            boxes.append((bare[3], bare[6:]))
        elif bare.startswith("##") and any(mark.isdigit() for mark in bare[:12]):
            headed.append(("", bare.lstrip("# ")))
        elif line[:1].isdigit() and (found := _numbered(line)):
            numbered.append(("", found[:LONGEST_STEP]))
    return boxes or next((steps for steps in (headed, numbered) if len(steps) > 1), [])


def _numbered(line: str) -> str:
    """What follows `1.` or `1)` at the start of a line."""
    number, _, words = line.partition(" ")
    return words.strip() if number[:-1].isdecimal() and number[-1] in ".)" else ""
