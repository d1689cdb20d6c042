"""What a short prompt answers: "B" or "yes" means nothing without the question before it.

Every short prompt is shown with the model's last question, or its last sentence if it asked
nothing. No list of words decides which prompts are replies.
"""

import re

from holdfast.record.model import Record
from holdfast.text.sentences import ASKING, Lazy, clip, sentences

REFUSED = "refused: "  # before a call that the user stopped
SHORT_CHARS = 80
TERSE_CHARS = 32  # shorter words mean little without what they answer
WIDE = 3  # letters that one character of a script without blanks counts
READ_CHARS = 2000  # of the model's words, from their end
LONGEST = 500
OPTIONS_END = " / "  # follows each option that was picked
LONGEST_PROPOSAL = 300
LONGEST_OPTION = 120
MOST_PICKED = 3
_MARK = Lazy(r"(?<![\w.])([a-e]|\d)(?![\w.])", re.IGNORECASE)
_ORDINALS = {"first": "1", "second": "2", "third": "3", "last": "-1"}


def reply_to(record: Record, words: str) -> str:
    """Return the words of the model that these words follow, shortened, with the options that they
    may pick. Empty for words that are clear by themselves, or that follow words of the user."""
    if not record.turns or len(words) > SHORT_CHARS or width(words) > SHORT_CHARS:
        return ""
    before = next((turn.said for turn in reversed(record.turns) if not turn.taken_back), "")
    if not before:
        return ""
    picked = _options(before, _marks(words))
    proposal = _proposal(sentences(before[-READ_CHARS:]))
    return clip(OPTIONS_END.join([*picked, proposal]), LONGEST)


def picks(words: str, said: str) -> bool:
    """Whether these words name an option of a list in the model's words."""
    return len(words) <= SHORT_CHARS and bool(_options(said, _marks(words)))


def is_answer(reply_to: str) -> bool:
    """Whether these words answer a question, or a call that the user refused."""
    return any(mark in reply_to for mark in ASKING) or reply_to.startswith(REFUSED)


def settles(words: str, reply_to: str) -> bool:
    """Whether very short words follow a question at the end of the model's words, and ask nothing
    themselves: no question, no command, no shell line."""
    is_terse = width(words) <= TERSE_CHARS and words[:1] not in ("/", "!")
    return reply_to.endswith(ASKING) and is_terse and not any(mark in words for mark in ASKING)


def width(words: str) -> int:
    """Return the length of a text in letters of a script with blanks."""
    if words.isascii():
        return len(words)
    return sum(WIDE if mark > "⺀" else 1 for mark in words)


def _marks(words: str) -> list[str]:
    """Return the marks of the options that words name: `B`, `1+2`, `the second one`."""
    found = [mark.lower() for mark in _MARK.pattern.findall(words)]
    found += [mark for word, mark in _ORDINALS.items() if word in words.lower()]
    return found[:MOST_PICKED]


def _proposal(told: list[str]) -> str:
    """Return the last question, else the last sentence, with as much before it as fits."""
    asking = [at for at, sentence in enumerate(told) if sentence.endswith(ASKING)]
    last = asking[-1] if asking else len(told) - 1
    words = ""
    for sentence in reversed(told[max(0, last - 2) : last + 1]):
        if not sentence.endswith(":") and len(sentence) + len(words) < LONGEST_PROPOSAL:
            words = f"{sentence} {words}"
    return words.strip() or clip(" ".join(told[last:][:1]), LONGEST_PROPOSAL)


def _options(text: str, marks: list[str]) -> list[str]:
    """Return the lines of a list with these marks; `-1` is the last one."""
    options: dict[str, str] = {}
    for line in text.splitlines() if marks else ():
        bare = line.strip().lstrip("-*#• ").removeprefix("Option ").replace("*", "")
        mark = bare[:1].lower()
        if bare[1:2] in (".", ")", ":") and (mark.isdecimal() or mark in "abcde") and mark:
            options[mark] = clip(bare, LONGEST_OPTION)
    if "-1" in marks and options:
        options["-1"] = list(options.values())[-1]
    if not any(mark in options for mark in marks):
        letters = dict(zip("123456789", "abcdefghi", strict=False))
        marks = [letters.get(mark, mark) for mark in marks]
    return [options[mark] for mark in dict.fromkeys(marks) if mark in options]
