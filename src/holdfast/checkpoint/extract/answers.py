"""Short words of the user, and what of the model's they answer: "B" tells nothing alone."""

from holdfast.checkpoint.extract import cues
from holdfast.checkpoint.extract.sentences import sentences
from holdfast.checkpoint.facts import Facts

SHORT_CHARS = 80
READ_CHARS = 2000  # of the model's words, from their end
LONGEST = 300
LONGEST_OPTION = 120
MOST_PICKED = 3
_PICKING_WORDS = (
    "a b c d e 1 2 3 4 5 6 7 8 9 i ii iii iv the one option options number and or only first "
    "second third last former latter but not then variant die der das erste zweite dritte letzte "
    "nur und le la premier première deuxième seconde et el primero primera segundo segunda y "
    "第一 第一个 第二 第二个 最後 1番 2番 3番 一番 二番"
)
_PICKING = frozenset(_PICKING_WORDS.split())
_ORDINALS = {
    "first": 1, "erste": 1, "premier": 1, "première": 1, "primero": 1, "primera": 1,
    "second": 2, "zweite": 2, "deuxième": 2, "seconde": 2, "segundo": 2, "segunda": 2,
    "third": 3, "dritte": 3, "第一": 1, "第一个": 1, "第二": 2, "第二个": 2,
    "1番": 1, "2番": 2, "3番": 3, "一番": 1, "二番": 2, "last": -1, "letzte": -1, "最後": -1,
}  # fmt: skip
_ASSENT, _ASSENTING = cues.words_of("assent"), cues.words_of("assenting")


def is_assent(words: str) -> bool:
    """It says yes, or go on, and nothing else."""
    if len(words) > SHORT_CHARS or "?" in words:
        return False
    said = cues.plain(words).split()
    if said and _ASSENT.issuperset(said):
        return not _ASSENTING.isdisjoint(said)
    left = words.strip(" .!。！、，")  # noqa: RUF001
    for phrase in cues.script_of("assent"):
        left = left.removeprefix(phrase).strip("，、 ")  # noqa: RUF001
    return left == "" and words.strip() != ""


def picks(words: str) -> list[str]:
    """The marks of what was picked from a list: `B`, `1+2`, `the second one`."""
    if len(words) > SHORT_CHARS // 2:
        return []
    said = cues.plain(words).replace("+", " ").replace("&", " ").replace("/", " ").split()
    if not said or not _PICKING.issuperset(said):
        return []
    marks = [str(_ORDINALS.get(word, word)) for word in said]
    return [mark for mark in marks if mark in "abcde" or mark.lstrip("-").isdecimal()][:MOST_PICKED]


def asked(facts: Facts, words: str) -> str:
    """What the model had said that these words answer, shortened; with the options picked."""
    if not facts.last_texts or (facts.prompts and facts.last_said_op <= facts.prompts[-1].place.op):
        return ""
    text = facts.last_texts[-1]
    told = sentences(text[-READ_CHARS:])
    marks = picks(words)
    picked = _options(text, marks) if marks else []
    return " / ".join([*picked, _proposal(told)] if picked else [_proposal(told)])[:LONGEST]


def _proposal(told: list[str]) -> str:
    """The last question, else the last sentence, with what stands before it, as far as it fits."""
    asking = [at for at, sentence in enumerate(told) if sentence.endswith("?")]
    last = asking[-1] if asking else len(told) - 1
    words = ""
    for sentence in reversed(told[max(0, last - 2) : last + 1]):
        if not sentence.endswith(":") and len(sentence) + len(words) < LONGEST:
            words = f"{sentence} {words}"
    return words.strip() or " ".join(told[last:][:1])[:LONGEST]


def _options(text: str, marks: list[str]) -> list[str]:
    """The lines of a list under these marks; `-1` is the last one."""
    options: dict[str, str] = {}
    for line in text.splitlines():
        bare = line.strip().lstrip("-*#• ").removeprefix("Option ").replace("*", "")
        mark = bare[:1].lower()
        if bare[1:2] in (".", ")", ":") and (mark.isdecimal() or mark in "abcde") and mark:
            options[mark] = bare[:LONGEST_OPTION]
    if "-1" in marks and options:
        options["-1"] = list(options.values())[-1]
    if not any(mark in options for mark in marks):
        letters = dict(zip("123456789", "abcdefghi", strict=False))
        marks = [letters.get(mark, mark) for mark in marks]
    return [options[mark] for mark in marks if mark in options]
