"""What kind of thing a question asks for: "what we decided" wants decisions first, and finds the
rest as well. A small table of words; what it knows nothing of is ranked as ever."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.memory.item import CHECKPOINT, DECISION, MEMORY, Item
from holdfast.memory.words import STOP, Query, plain

TOPIC = 1.0  # as much as the best match by words gets
ALONE = 3.0  # nothing else was asked for: above what words, meaning and neighbours give together


class Leaning(NamedTuple):
    """`by` and `titles`: whose words, under which heading of a checkpoint; none: any."""

    asked_by: frozenset[str]
    kinds: tuple[str, ...]
    by: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    also: tuple[str, ...] = ()  # other stems of the same word: both engines know only endings

    def fits(self, item: Item) -> bool:
        return (
            item.kind in self.kinds
            and (not self.by or item.by in self.by)
            and (not self.titles or item.title in self.titles)
        )


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# "List the last decisions" is about nothing but decisions.
_LISTING = _words("last latest list made make newest recent show taken")
TABLE = (
    Leaning(
        _words("decide decides decided deciding decision decisions"),
        (DECISION,),
        also=("decide", "decision"),
    ),
    Leaning(
        _words("rule rules preference preferences prefer prefers preferred"),
        (DECISION, MEMORY),
        by=("user", "feedback"),
        also=("prefer", "preference"),
    ),
    Leaning(
        _words("error errors failure failures"),
        (CHECKPOINT,),
        titles=("Active Issues", "Errors Resolved"),
    ),
    Leaning(_words("command commands"), (CHECKPOINT,), titles=("Commands",)),
    Leaning(_words("files"), (CHECKPOINT,), titles=("What Changed", "Files Used")),
)


def of(asked: Query) -> list[Leaning]:
    said = set(plain(asked.text))
    return [one for one in TABLE if said & one.asked_by]


def widened(asked: Query) -> Query:
    """With every stem of the words that ask for a kind: who decides makes a decision."""
    also = (word for one in of(asked) for word in one.also)
    return asked._replace(terms=tuple(dict.fromkeys((*asked.terms, *also))))


def topic(asked: Query, leaning: Leaning) -> Query:
    """What it is to be about: the words that do not ask for the kind."""
    kind = leaning.asked_by | STOP | _LISTING
    return asked._replace(terms=tuple(term for term in asked.terms if term not in kind))
