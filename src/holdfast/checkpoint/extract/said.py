"""The model's own words: decisions, plans, questions, and the names it used."""

from re import IGNORECASE, MULTILINE

from holdfast.checkpoint.extract import cues, names, prompts
from holdfast.checkpoint.extract.lazy import Lazy
from holdfast.checkpoint.facts import Decision, Facts, Place, Task

READ_CHARS = 8000
MOST_TEXTS = 4
LONGEST_TEXT = 2400
MOST_DECISIONS = 60
MOST_PLANNED = 40
MOST_QUESTIONS = 4
_DECIDING = (
    "decided | decision | i'll use | i will use | we'll use | going with | go with | opted for "
    "| chose | i'll keep | let's use | let's go with | switched to | switching to | root cause "
    "| the fix is | the issue is | the problem is | the best approach | the right approach | "
    "entschieden | j'ai choisi | decidí | 決め | 决定"
)
_DECIDED = tuple(f" {cue} " for cue in _DECIDING.split(" | "))
_HINTS = tuple(cue.strip() for cue in _DECIDED)
_BECAUSE = (" because ", " since ", " so that ", " in order to ", " to avoid ", " weil ", " damit ")
_BOX = Lazy(r"^\s*[-*]\s*\[([ xX])\]\s+(.{4,200})$", MULTILINE)
_HEADED = Lazy(
    r"^#{2,4}\s*((?:step|phase|task|stage|part)?\s*\d{1,2}[.:)-].{4,160})$",
    MULTILINE | IGNORECASE,
)
_NUMBERED = Lazy(r"^\d{1,2}[.)]\s+(.{6,200})$", MULTILINE)
_BOLD = str.maketrans({"*": "", "`": "", "\u2019": "'"})


def hear(facts: Facts, text: str, place: Place) -> None:
    """The model spoke."""
    text = text[:READ_CHARS]
    if not text.strip():
        return
    facts.last_texts.append(text.strip()[:LONGEST_TEXT])
    del facts.last_texts[:-MOST_TEXTS]
    names.hear(facts, text, 1.6)
    low = text.lower()
    if cues.within(_HINTS, low):
        _decisions(facts, text, place)
    facts.questions.clear()
    if not facts.far and "?" in text[-400:]:
        facts.questions += [one for one in prompts.sentences(text[-800:]) if one.endswith("?")]
        del facts.questions[:-MOST_QUESTIONS]


def _decisions(facts: Facts, text: str, place: Place) -> None:
    """Sentences that say what was chosen; one with a reason is worth two without."""
    found = []
    for sentence in prompts.sentences(text):
        low = f" {sentence.lower().translate(_BOLD)} "
        if 25 <= len(sentence) <= 360 and cues.within(_DECIDED, low):
            found.append((cues.within(_BECAUSE, low), sentence))
    found.sort(key=lambda pair: pair[0], reverse=True)
    known = {decision.text for decision in facts.decisions}
    facts.decisions += [Decision(words, place) for _, words in found[:2] if words not in known]
    del facts.decisions[:-MOST_DECISIONS]


def plan(facts: Facts, text: str, place: Place) -> None:
    """A plan's steps become tasks, in place of those of the plan before."""
    steps = _steps(text[: 2 * READ_CHARS])[:MOST_PLANNED]
    if not steps:
        return
    for key in [key for key, task in facts.tasks.items() if task.source == "plan"]:
        del facts.tasks[key]
    for number, (box, words) in enumerate(steps):
        status = "completed" if box in ("x", "X") else "pending"
        facts.tasks[f"plan {number}"] = Task(words.translate(_BOLD).strip(), place, status, "plan")


def _steps(text: str) -> list[tuple[str, str]]:
    """Boxes to tick, else headings with a number, else a numbered list."""
    if "\n" not in text:
        return []
    if "[" in text and (boxes := _BOX.pattern.findall(text)):
        return boxes
    found = _HEADED.pattern.findall(text) if "##" in text else []
    if len(found) < 2:
        found = _NUMBERED.pattern.findall(text) if "\n2" in text else []
    return [("", words) for words in found] if len(found) > 1 else []
