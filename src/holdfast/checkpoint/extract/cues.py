"""Words by which people set rules, correct, answer and take back; cheap, in several languages.

A cue in a sentence makes the whole sentence a rule, quoted as it was said. A sentence that asks is
none, nor one that tells how a thing behaves ("it never returns"). What is forbidden or wished in a
clause of a request, or "for now", is a wish: it ends with its request. The words are in `cues.txt`:
plain phrases, for compiling them as patterns took longer than reading a transcript.
"""

from collections.abc import Iterable

_USING = (" use ", " please use ", " keep ", " verwende ", " utilise ", " usa ")
# Typographic quotes and dashes on purpose: people paste them.
_BLANKS = ',;:!?()[]"“”«»—–*_`.'  # noqa: RUF001
_PUNCTUATION = str.maketrans(dict.fromkeys(_BLANKS, " ") | {"\u2019": "'"})
_CLAUSE_ENDS = ("\uff0c", "\u3001", "\uff1b")  # comma and semicolon of scripts without blanks


def _load() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    with open(f"{__file__.rpartition('/')[0]}/cues.txt", encoding="utf-8") as file:  # noqa: PTH123
        for line in file:
            kind, colon, phrases = line.strip().partition(": ")
            if colon and not line.startswith("#"):
                found.setdefault(kind, []).extend(phrases.split(" | "))
    return {kind: tuple(phrases) for kind, phrases in found.items()}


_ALL = _load()
_SPACED = {kind: tuple([f" {phrase} " for phrase in found]) for kind, found in _ALL.items()}


def _words(kind: str) -> tuple[str, ...]:
    """The phrases of a kind as they stand between blanks, and those that need none."""
    return _SPACED[kind] + _ALL.get(f"{kind}-script", ())


def _pairs(kind: str) -> list[tuple[str, str]]:
    halves = (phrase.partition(" … ") for phrase in _ALL[kind])
    return [(f" {first} ", f" {then} ") for first, _, then in halves]


_RULE, _RULE_START = _words("rule"), _words("rule-start")
_ORDER, _ORDER_NOT, _CONTRAST = _words("order"), _words("order-not"), _words("contrast")
_BAN, _BAN_PAIRS, _BAN_AFTER = _words("ban"), _pairs("ban-pair"), _words("ban-after")
_BAN_SCRIPT = _ALL["ban-script"]
_TELLERS = frozenset(_ALL["teller"])
_TELLERS_NOT = _TELLERS.union(_ALL["teller-not"])
_SCOPE, _STANDING, _WISH = _words("scope"), _words("standing"), _words("wish")
_CORRECT, _ERRAND, _THIS = _words("correct"), _words("errand"), _words("this")
_OPENING, _OVER, _OVER_PAIRS = _words("opening"), _words("over"), _pairs("over-pair")
_PERMIT = _words("permit")
_REVOKING = (
    *_words("revoke-start"),
    *_OVER,
    *_words("permit-start"),
    *_PERMIT,
    *_ALL["revoke-script"],
)
_FORBID = _words("forbid")


def plain(sentence: str) -> str:
    """Lower case, punctuation as blanks, one blank at each end: what phrases are looked up in."""
    return f" {' '.join(sentence.lower().translate(_PUNCTUATION).split())} "


def within(cues: Iterable[str], text: str) -> bool:
    """One of these is in the text; a loop, since `any` over a generator takes twice as long."""
    for cue in cues:  # noqa: SIM110
        if cue in text:
            return True
    return False


def rule_kind(said: str) -> str:
    """`rule`, `wish` or nothing, as far as the words tell; `said` is plain."""
    if _sets_rule(said):
        return "wish" if within(_SCOPE, said) and not within(_STANDING, said) else "rule"
    if _orders(said, _ORDER_NOT, _TELLERS_NOT) or within(_BAN_SCRIPT, said):
        holds = said.startswith(_STANDING) or within(_ALL["standing-script"], said)
        return "rule" if holds else "wish"
    return "wish" if within(_WISH, said) else ""


def _sets_rule(said: str) -> bool:
    if within(_RULE, said) or said.startswith(_RULE_START) or _bans(said):
        return True
    if said.startswith(_USING):
        return within(_CONTRAST, said)
    if starts("tongue-start", said):
        return True
    return _orders(said, _ORDER, _TELLERS)


def _bans(said: str) -> bool:
    """The sentence forbids and does nothing else; "it" alone is something of this request."""
    before = next((said.partition(cue)[0] for cue in _BAN_SCRIPT if cue in said), None)
    if before is not None:
        return not within(_CLAUSE_ENDS, before)
    while said.startswith(_BAN_AFTER):
        said = said[said.index(" ", 1) :]
    if said.startswith(_BAN):
        return " it " not in said or within(_STANDING, said)
    return any(said.startswith(first) and then in said for first, then in _BAN_PAIRS)


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


def corrects(said: str) -> bool:
    return starts("correct-start", said) or within(_CORRECT, said)


def without_correcting(said: str) -> str:
    """What is left of a correction when "no" is taken from its head."""
    if starts("correct-start", said):
        for phrase in (*_ALL["correct-start"], *_ALL["correct-start-script"]):
            said = said.removeprefix(f" {phrase}")
    return said


def is_errand(said: str) -> bool:
    """It says what to do now, rather than what is so."""
    return within(_ERRAND, said) and not within(_STANDING, said)


def speaks_of_this(said: str) -> bool:
    """What it is about stands beside it."""
    return within(_THIS, said.replace(" in this ", " "))


def ends_in_this(said: str) -> bool:
    """The same of a rule: "that" within one is mostly no pronoun."""
    return " it " in said or said.endswith(_THIS)


def may_revoke(said: str) -> bool:
    """Worth a closer look, see `revoking`."""
    return within(_REVOKING, said) or any(first in said for first, _ in _OVER_PAIRS)


def without_opening(said: str) -> str:
    """Less the words that only open a clause: "ok", "please", "you can" before "forget"."""
    while said.startswith(_OPENING):
        opening = next(word for word in _OPENING if said.startswith(word))
        left = said[len(opening) - 1 :]
        if not left.strip() or (starts("permit-start", said) and not starts("revoke-start", left)):
            break
        said = left
    return said


def is_over(said: str) -> bool:
    """It says that something need not be, or holds no more."""
    return within(_OVER, said) or any(a in said and b in said for a, b in _OVER_PAIRS)


def permits(said: str) -> bool:
    """It allows, and not only this once."""
    if not starts("permit-start", said) and not within(_PERMIT, said):
        return False
    return not within((*_FORBID, *_SCOPE, " once ", " just "), said)


def forbids(said: str) -> bool:
    return within(_FORBID, said)


def starts(kind: str, said: str) -> bool:
    """It begins with a phrase of this kind."""
    script = _ALL.get(f"{kind}-script", ())
    return said.startswith(_SPACED[kind]) or said[1:].startswith(script)


def has(kind: str, said: str) -> bool:
    """A phrase of this kind is in it."""
    return within(_words(kind), said)


def phrases(kind: str) -> tuple[str, ...]:
    """The phrases of a kind as they stand between blanks."""
    return _SPACED[kind]


def words_of(kind: str) -> frozenset[str]:
    """The single words of a kind."""
    return frozenset(" ".join(_ALL[kind]).split())


def script_of(kind: str) -> tuple[str, ...]:
    return _ALL[f"{kind}-script"]
