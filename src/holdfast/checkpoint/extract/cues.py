"""Words by which people set rules, correct, and take back; cheap, and in several languages.

A cue in a sentence makes the whole sentence a rule, quoted as it was said. A sentence that asks is
none, nor one that tells how a thing behaves ("it never returns"). The words are in `cues.txt`:
plain phrases, for compiling them as patterns took longer than reading a transcript.
"""

from collections.abc import Iterable

_USING = (" use ", " please use ", " keep ", " verwende ", " utilise ", " usa ")
# Typographic quotes and dashes on purpose: people paste them.
_BLANKS = ',;:!?()[]"“”«»—–*_`.'  # noqa: RUF001
_PUNCTUATION = str.maketrans(dict.fromkeys(_BLANKS, " ") | {"\u2019": "'"})


def _load() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    with open(f"{__file__.rpartition('/')[0]}/cues.txt", encoding="utf-8") as file:  # noqa: PTH123
        for line in file:
            kind, colon, phrases = line.strip().partition(": ")
            if colon and not line.startswith("#"):
                found.setdefault(kind, []).extend(phrases.split(" | "))
    return {kind: tuple(phrases) for kind, phrases in found.items()}


def _words(kind: str) -> tuple[str, ...]:
    return tuple(f" {phrase} " for phrase in _ALL[kind])


_ALL = _load()
_RULE, _RULE_START = _words("rule") + _ALL["rule-script"], _words("rule-start")
_ORDER, _ORDER_NOT, _CONTRAST = _words("order"), _words("order-not"), _words("contrast")
_TELLERS = frozenset(_ALL["teller"])
_TELLERS_NOT = _TELLERS.union(_ALL["teller-not"])
_WISH = _words("wish")
_CORRECT, _CORRECT_START = _words("correct"), _words("correct-start")
_REVOKE = _words("revoke") + _ALL["revoke-script"]
_PAIRS = tuple(tuple(f" {word} " for word in phrase.split(" … ")) for phrase in _ALL["revoke-pair"])
_FORBID = _words("forbid") + _ALL["forbid-script"]


def plain(sentence: str) -> str:
    """Lower case, punctuation as blanks, one blank at each end: what phrases are looked up in."""
    return f" {' '.join(sentence.lower().translate(_PUNCTUATION).split())} "


def within(cues: Iterable[str], text: str) -> bool:
    """One of these is in the text; a loop, since `any` over a generator takes twice as long."""
    for cue in cues:  # noqa: SIM110
        if cue in text:
            return True
    return False


def sets_rule(said: str) -> bool:
    """A standing rule, as far as its words tell; `said` is plain."""
    if within(_RULE, said):
        return True
    if said.startswith(_USING):
        return within(_CONTRAST, said)
    orders = _orders(said, _ORDER, _TELLERS) or _orders(said, _ORDER_NOT, _TELLERS_NOT)
    return orders or said.startswith(_RULE_START)


def _orders(said: str, cues: tuple[str, ...], tellers: frozenset[str]) -> bool:
    """ "Always" as an order: not after somebody who always does, nor before "does"."""
    for cue in cues:
        before, found, after = said.partition(cue)
        if not found:
            continue
        verb = next((word for word in after.split() if not word.endswith("ly")), "")
        tells = before.rsplit(" ", 1)[-1] in tellers or verb.endswith(("s", "ed"))
        if verb and (not tells or verb.endswith("ss")):
            return True
    return False


def wishes(said: str) -> bool:
    return within(_WISH, said)


def corrects(said: str) -> bool:
    start = said.startswith(_CORRECT_START) or said[1:].startswith(_ALL["correct-script"])
    return start or within(_CORRECT, said)


def revokes(said: str) -> bool:
    if within(_REVOKE, said):
        return True
    return any(first in said and then in said for first, then in _PAIRS)


def forbids(said: str) -> bool:
    return within(_FORBID, said)
