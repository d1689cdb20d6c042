"""A text in sentences: where people end one, and where a dot only looks like an end."""

import re
from itertools import pairwise

# Typographic quotes on purpose: people paste them. A full stop of a script without blanks ends a
# sentence wherever it stands, with the quote it may close. Linear: nothing is read twice.
_END = re.compile("(?<![.!?])[.!?]++[\"')\\]*”»]*+\\s+|[。！？]+[」』”）]*")  # noqa: RUF001
_SHORT_WORDS = (
    "vs e.g eg i.e ie cf approx resp incl excl esp fig dr mr mrs ms st jr sr inc ltd z.b d.h u.a "
    "bzw ca evtl ggf inkl bspw vgl nr usw zb p.ex par.ex ex p.ej ej sra núm pág aprox a.k.a w.r.t"
)
_SHORT = frozenset(_SHORT_WORDS.split())
_MAYBE = frozenset({"etc", "usw", "al", "ff"})  # they end a sentence as well
_QUOTED = (">", "|", "#", "⎿", "+", "at ", "$ ")
_STOP_WORDS = (
    "that this with from have what when then them they your about again should would could "
    "there rule rules always never please dont don't must said just like need want make sure "
    "longer forget ignore anymore more using used with only instead rather than also now from "
    "the and for you are was not can may any all"
)
_STOP = frozenset(_STOP_WORDS.split())
ASKING = ("?", "\uff1f")  # how a question ends
# Verbs that go with anything.
LIGHT = frozenset({"use", "run", "add", "make", "write", "get", "have", "put", "want", "fix"})


def sentences(text: str) -> list[str]:
    """Lines and sentences outside code fences and quotes."""
    found: list[str] = []
    in_code = False
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("```"):
            in_code = not in_code
        elif line and not in_code and not line.startswith(_QUOTED):
            found += split(line.lstrip("-*• \t"))
    return found


def split(line: str) -> list[str]:
    """The sentences of one line."""
    found, start = [], 0
    for end in _END.finditer(line):
        if line[end.start()] != "." or _ends(line[start : end.start()], line[end.end() :]):
            found.append(line[start : end.end()].strip())
            start = end.end()
    found.append(line[start:].strip())
    return [part for part in found if part]


def _ends(before: str, after: str) -> bool:
    """A dot ends a sentence unless it belongs to a short word, an initial or a number."""
    word = before.rpartition(" ")[2].lstrip("(\"'“").lower()
    if word in _MAYBE:
        return not after[:1].islower()
    if word.isdecimal():
        return word != before.lower()  # `1. First` is an item of a list
    return word not in _SHORT and not (len(word) == 1 and word.isalpha())


def subjects(said: str) -> set[str]:
    """The words a sentence is about; of scripts without blanks, pairs of characters."""
    found = {word.strip("'.")[:6] for word in said.split() if len(word) > 2 and word not in _STOP}
    wide = [mark for mark in said if mark > "⺀" and mark.isalnum()]
    return found | {a + b for a, b in pairwise(wide)}
