"""Words that a summary puts into the user's mouth, with the evidence against them.

Two kinds are searched: quotations without a source, and statements that the user approved, allowed,
forbade or preferred something that the user never named. A false alarm costs more than a miss, so
nothing is flagged if the record may lack words of the user.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from holdfast.brief.item import FalseClaim
from holdfast.brief.summary_passages import Passage, passages, sentences
from holdfast.brief.summary_statements import (
    LEAD_CHARS,
    LEAST_TELLING,
    UserStatement,
    stems,
    telling_words,
    user_statement,
    words_of,
)
from holdfast.record.model import Place, Record
from holdfast.record.turns import turn_number
from holdfast.text.fence import flat, quoted
from holdfast.text.sentences import sentences as split_sentences

STRETCH_CHARS = 600  # a statement is about one thing, which the user said in one place
KNOWN_PAIRS = 0.4  # of the pairs of neighbouring words of a quotation
KNOWN_WORDS = 0.75  # of its words, where their order differs
KNOWN_WEIGHT = 0.45  # of the telling words of a statement, weighed by how rare they are
FAINT = 0.25  # enough for a wish of the user, which summaries paraphrase
LEAST_PAIRS = 3
LONGEST = 300
LONGEST_PASSAGE = 1500  # longer ones are slow to judge, and no sentences
MANY_WORDS = 200  # different words: with so many, sharing one says little
SHORT_REPLY_CHARS = 200  # such words depend on what the model said before
PROPOSAL_CHARS = 600
COMMON_WORDS, COMMON_SHARE, LEAST_SHORT, LEAST_QUOTED = 80, 0.165, 10, 8
UNSAID = "no message of the user says so"
QUOTED_CHARS = 120
NEAR = 0.1  # of the weight of what a sentence names: less is not related
SAME_LETTERS = 0.8  # of a message: the client corrects typing errors

_CODE_SPAN = re.compile(r"`[^`\n]*`")
_MESSAGE_AS_CODE = re.compile(r"`([^`\n]{8,800})`")  # a whole message in the list of messages
_QUOTED = re.compile(r"\"([^\"\n]{8,800})\"|“([^”\n]{8,800})”")
_ELLIPSIS = re.compile(r"\.{3,}|…|\[[^\]]*\]")
# The client writes these in the user's name.
_CLIENT_WORDS = re.compile(
    r"Your task is to create a detailed summary|Your response was cut off because|"
    r"\[Request interrupted by user|Caveat: The messages below"
)
# "The user said", "the user's last message": not "a user enters", "told the user".
_SPEAKING = re.compile(
    r"(?<!\ba )(?<!\ban )(?<!\beach )(?<!\bany )(?<!\bto )(?<![\w/.\-])"
    r"(?<!\btold the )(?<!\bto the )(?<!\bwhen the )(?<!\bif the )"
    r"user(?:['\u2019]s)?\b(?!-)[^.!?]{0,40}?"
    r"\b(?:sa(?:id|ys?)|ask\w*|wrote|typed|repl\w+|answered|respond\w*|request\w*|state[sd]|"
    r"mention\w*|emphasi\w*|confirm\w*|insist\w*|clarif\w*|explain\w*|complain\w*|added|"
    r"approv\w*|instruct\w*|words|message|prefer\w*|decided|agreed|warned|noted|pointed|"
    r"suggest\w*|demand\w*|allowed|forbade|directive|instruction|quote)\b",
    re.IGNORECASE,
)
# "(user: …", "in the user's words: …": the quotation follows at once.
_LEADS_IN = re.compile(r"\b(?:(?:per|quoting|to quote) (?:the )?user|(?<!/)user:)\W*$", re.I)
_GUESSED = re.compile(
    r"\b(?:implicit\w*|implied|possibly|presumably|perhaps|likely|seems?)\b", re.I
)
# Words of a prohibition, and of any limit; words of a permission, and of what is none.
_FORBIDS = re.compile(
    r"\b(?:forb[ai]d|prohibit|rul(?:ed|es|ing) (?:\w+ )?out|off[- ]limits|veto|disallow|bann|never"
    r"|must not|may not|not to\b|n['\u2019]t want|not want)",
    re.IGNORECASE,
)
_LIMITS = re.compile(
    r"\b(?:no|not|never|none|nothing|stop|avoid|only|without|leave|keep|instead|rather|remove|revert|wrong"
    r"|bad|hate|forb\w+|skip|unless|except|wait|dont|cannot|cant|until|before|just)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_GRANTS = re.compile(
    r"\b(?:approved|okayed|allowed|permitted|permission|authori[sz]ed|go-?ahead|green-?li(?:ght|t)"
    r"|signed off|(?:fine|happy|comfortable|okay|ok) with|free to|may\b)",
    re.IGNORECASE,
)
_FORBIDDING = re.compile(r"\b(?:never|do not|don['\u2019]?t|must not|may not)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[.!?;,\n]+")
_NAME = re.compile(r"`[^`\n]+`|\b\d\d+\b|\b\w*[a-z][A-Z]\w*")


@dataclass(frozen=True, slots=True)
class _UserWords:
    """The user's words, prepared for comparison."""

    messages: list[str]
    pairs: list[set[tuple[str, str]]]
    stretches: list[set[str]]
    limiting: list[set[str]]  # the stretches that set a limit
    granting: list[set[str]]  # all stretches, without what they forbid
    rarity: dict[str, float]
    unheard: float  # the weight of a word the user never used
    enough: float  # of the weight of a statement: less if the user said little


class _Nearest(NamedTuple):
    """The words of the user that are closest to what the summary says."""

    words: str
    turn: int
    place: Place


def is_complete(record: Record) -> bool:
    """Whether the record has everything that the user typed in the session, as far as the file
    shows."""
    return not (record.starts_midway or record.turns_dropped or record.lost)


def find_unsourced(record: Record, summary: str) -> list[FalseClaim]:
    """Return the quotations and statements in the user's name that nothing the user typed
    supports."""
    if not is_complete(record) or not record.turns:
        return []
    known = [one for one in passages(summary) if len(one.text) <= LONGEST_PASSAGE]
    common = _common_words(summary)
    is_foreign = any(_is_foreign(turn.asked, common) for turn in record.turns)
    texts = list(_sources(record))
    if record.words_missing:  # then the summary's own list is the only source for them
        texts += [one.text for one in known if one.is_users]
    said = _index_words(texts, [turn.asked for turn in record.turns])
    found = []
    is_unsaid = _names_unheard if is_foreign else _is_unsaid
    for before, one in pairwise([Passage("", is_users=False), *known]):
        words = "" if record.words_missing and one.is_users else _unknown_quotation(one, said)
        if words and not (is_foreign and _is_translated(words, common)):
            evidence = f"no message of the user reads {quoted(flat(words, QUOTED_CHARS))}"
            found.append(_claim(one.text, evidence, _nearest(words, record, said)))
        else:
            parts = ["" if one.is_users else before.text, *sentences(one.text)]
            unsaid = (part for last, part in pairwise(parts) if is_unsaid(part, last, said))
            found += [_claim(part, UNSAID, _nearest(part, record, said)) for part in unsaid]
    return list({claim.sentence: claim for claim in found}.values())


def _claim(text: str, evidence: str, nearest: _Nearest | None) -> FalseClaim:
    if whole := _QUOTED.fullmatch(text):  # it gets quotes again when it is shown
        text = whole[1] or whole[2]
    if nearest is None:
        return FalseClaim(flat(text, LONGEST), evidence, Place())
    evidence = f"{evidence}; the nearest is {quoted(nearest.words)} (turn {nearest.turn})"
    return FalseClaim(flat(text, LONGEST), evidence, nearest.place)


def _nearest(text: str, record: Record, said: _UserWords) -> _Nearest | None:
    """Return the user's sentence that shares most with the text, where rare words count more; the
    last one if several do."""
    named = {stem: said.rarity.get(stem, said.unheard) for stem in telling_words(text)}
    best, found = NEAR * sum(named.values()), None
    for words, place in _typed(record):
        for sentence in split_sentences(words):
            shared = sum(named[stem] for stem in named.keys() & stems(sentence))
            if shared and shared >= best:
                turn = turn_number(record, place)
                best, found = shared, _Nearest(flat(sentence, QUOTED_CHARS), turn, place)
    return found


def _typed(record: Record) -> Iterator[tuple[str, Place]]:
    for turn in record.turns:
        yield turn.asked, turn.place
        yield from ((one.answer, one.place) for one in turn.questions)


def _index_words(texts: list[str], messages: list[str]) -> _UserWords:
    """Prepare the user's words for comparison."""
    parts = [part for text in texts for part in _parts(text)]
    stretches = [stems(part) for part in parts]
    limiting = [known for part, known in zip(parts, stretches, strict=True) if _LIMITS.search(part)]
    granting = [stems(_without_forbidden(part)) for part in parts]
    used = Counter(stem for stretch in stretches for stem in stretch)
    most = len(stretches) + 2
    rarity = {stem: math.log(most / (count + 0.5)) for stem, count in used.items()}
    enough = KNOWN_WEIGHT * min(1.0, len(used) / MANY_WORDS)
    pairs = [_pairs(text) for text in texts]
    return _UserWords(
        messages, pairs, stretches, limiting, granting, rarity, math.log(most / 0.5), enough
    )


def _sources(record: Record) -> Iterator[str]:
    """Yield what the user typed, each with what it answers: a "yes" accepts what was proposed."""
    before = ""
    for turn in record.turns:
        proposed = before[-PROPOSAL_CHARS:] if len(turn.asked) < SHORT_REPLY_CHARS else ""
        yield f"{turn.asked}\n{turn.reply_to}\n{proposed}"
        yield from (f"{one.text}\n{one.answer}" for one in turn.questions if one.answer)
        before = turn.said
    yield from record.queued
    yield from (one.text for one in record.unsure)
    yield from (task.text for task in record.tasks.values() if task.source in ("plan", "asked"))


def _parts(text: str) -> Iterator[str]:
    half = STRETCH_CHARS // 2
    for at in range(0, max(1, len(text) - half), half):
        yield text[at : at + STRETCH_CHARS]


def _without_forbidden(text: str) -> str:
    clauses = _CLAUSE.split(text)
    return "\n".join(clause for clause in clauses if not _FORBIDDING.search(clause))


def _unknown_quotation(passage: Passage, said: _UserWords) -> str:
    """Return the first quotation in the user's name that the user did not type."""
    if passage.is_users and (message := _MESSAGE_AS_CODE.fullmatch(passage.text)):
        return "" if _was_typed(message[1], said) else message[1]
    text = _CODE_SPAN.sub(" ", passage.text)
    if _GUESSED.search(text):
        return ""
    after = 0
    for found in _QUOTED.finditer(text):
        lead, after, is_first = text[after : found.start()], found.end(), not after
        words = found[1] or found[2]
        lead = lead[-LEAD_CHARS:]
        is_users = (
            (passage.is_users and is_first) or _SPEAKING.search(lead) or _LEADS_IN.search(lead)
        )
        if is_users and not _was_typed(words, said):
            return words
    return ""


def _was_typed(words: str, said: _UserWords) -> bool:
    """Whether the user typed these words, nearly: enough pairs of neighbouring words, or enough
    words in another order."""
    if _CLIENT_WORDS.search(words):
        return True
    pairs = {pair for part in _ELLIPSIS.split(words) for pair in _pairs(part)}
    if len(pairs) < LEAST_PAIRS:
        return True
    if max((len(pairs & known) for known in said.pairs), default=0) >= KNOWN_PAIRS * len(pairs):
        return True
    named = stems(words)
    if max((len(named & one) for one in said.stretches), default=0) >= KNOWN_WORDS * len(named):
        return True
    return any(_is_corrected(message, words) for message in said.messages)


def _is_corrected(message: str, words: str) -> bool:
    """Whether this is the same message with its typing errors corrected."""
    if abs(len(message) - len(words)) > len(words) * (1 - SAME_LETTERS):
        return False
    compared = SequenceMatcher(None, message.lower(), words.lower())
    return compared.quick_ratio() >= SAME_LETTERS and compared.ratio() >= SAME_LETTERS


def _is_unsaid(sentence: str, before: str, said: _UserWords) -> bool:
    """Whether a sentence says that the user approved, allowed, forbade or wants something that no
    words of the user name."""
    statement = _judged(sentence, before)
    if statement is None:
        return False
    if statement.is_wish:
        return not _is_known(statement.text, said, FAINT)
    if _is_known(statement.text, said):
        return False
    return statement.is_decision or not _is_known(sentence, said)


def _names_unheard(sentence: str, before: str, said: _UserWords) -> bool:
    """Judge a summary in another language than the user's: code, names and numbers are the same in
    all languages."""
    statement = _judged(sentence, before)
    if statement is None or statement.is_wish:
        return False
    names = stems(" ".join(_NAME.findall(statement.text)))
    return bool(names) and not any(names & one for one in said.stretches)


def _judged(sentence: str, before: str) -> UserStatement | None:
    if any(words.search(sentence) for words in (_QUOTED, _CLIENT_WORDS, _GUESSED)):
        return None
    return user_statement(sentence, before)


def _is_known(text: str, said: _UserWords, share: float = 1.0) -> bool:
    """Whether one stretch of the user's words contains enough of what the statement names."""
    named = telling_words(text)
    if len(named) < LEAST_TELLING:
        return True
    whole = sum(said.rarity.get(stem, said.unheard) for stem in named)
    shared = (sum(said.rarity[stem] for stem in named & one) for one in _of_its_kind(text, said))
    return max(shared, default=0.0) > share * said.enough * whole


def _of_its_kind(text: str, said: _UserWords) -> list[set[str]]:
    """Return the stretches that can support a statement. Words without a limit support no
    prohibition, and words that forbid support no permission."""
    if _FORBIDS.search(text):
        return said.limiting
    is_permission = _GRANTS.search(text) and not _LIMITS.search(text)
    return said.granting if is_permission else said.stretches


def _common_words(summary: str) -> set[str]:
    """Return the small words of the summary's language: most of its commonest words are such."""
    own = _QUOTED.sub(" ", _CODE_SPAN.sub(" ", summary))
    return {word for word, _ in Counter(_short_words(own)).most_common(COMMON_WORDS)}


def _is_foreign(text: str, common: set[str]) -> bool:
    """Whether a text is in another language: few of its small words are among the common ones. A
    summary with too few of them cannot tell."""
    short = set(_short_words(text))
    can_tell = len(common) == COMMON_WORDS and len(short) >= LEAST_SHORT
    return can_tell and len(short & common) < COMMON_SHARE * len(short)


def _is_translated(words: str, common: set[str]) -> bool:
    """Whether a quotation is in the summary's language, or too short to tell."""
    words_once = set(words_of(words))
    is_short = len(words_once) < LEAST_QUOTED
    return is_short or len(words_once & common) > COMMON_SHARE * len(words_once)


def _short_words(text: str) -> list[str]:
    return [word for word in words_of(text) if 1 < len(word) < 6 and word.isalpha()]


def _pairs(text: str) -> set[tuple[str, str]]:
    words = words_of(text)
    return set(pairwise(words))
