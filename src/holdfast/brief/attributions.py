"""Words that a summary puts into the user's mouth, with the evidence against them.

Two kinds are looked for: quotations without a source, and statements that the user approved,
allowed, forbade or preferred something that no words of the user name. A false alarm costs more
than a miss, so nothing is flagged where the record may lack words of the user.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice, pairwise

from holdfast.brief.item import FalseClaim
from holdfast.brief.summary_passages import Passage, passages, sentences
from holdfast.record.model import Place, Record
from holdfast.text.fence import flat

STRETCH_CHARS = 600  # a statement is about one thing, which the user said in one place
KNOWN_PAIRS = 0.4  # of the pairs of neighbouring words of a quotation
KNOWN_WORDS = 0.75  # of its words, where their order differs
KNOWN_WEIGHT = 0.45  # of the telling words of a statement, weighed by how rare they are
LEAST_PAIRS, LEAST_TELLING = 3, 3
LONGEST = 300
LONGEST_PASSAGE = 1500  # more would be slow to judge, and no sentence
LEAD_CHARS = 160
MANY_WORDS = 200  # different ones: then sharing one of them says little
MOST_MENTIONS = 8
SHORT_REPLY_CHARS = 200  # such words take their meaning from what the model said before
PROPOSAL_CHARS = 600
COMMON_WORDS, COMMON_SHARE, LEAST_SHORT, LEAST_QUOTED = 80, 0.165, 10, 8
SAME_LETTERS = 0.8  # of a message: the client corrects what was mistyped

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
_CODE_SPAN = re.compile(r"`[^`\n]*`")
_MESSAGE_AS_CODE = re.compile(r"`([^`\n]{8,800})`")  # a whole message in the list of them
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
_GUESSED = re.compile(
    r"\b(?:implicit\w*|implied|possibly|presumably|perhaps|likely|seems?)\b", re.I
)
_USER = re.compile(
    r"(?<![\w/.\-])(?:(?:the|our|per|by|to|with) ){0,2}user(['\u2019]s)?(?![\w/]"
    r"|\.\w)(?:[-\s]+([a-z]+))?",
    re.IGNORECASE,
)
# "if the user …", "to the user", "waiting for user approval": nothing was said.
_NOT_YET = re.compile(
    r"\b(?:if|when|whenever|once|whether|unless|until|case|for|to|awaiting|pending|asks?|asking|let|have"
    r"|wait|needs?|no)(?: the)?$"
)
_ADVERBS_WORDS = (
    "explicitly also then specifically clearly later again has had have strongly repeatedly "
    "initially further now previously already subsequently firmly just even separately"
)
_ADVERBS = frozenset(_ADVERBS_WORDS.split())
# What users do and have, other than to hold a view. What follows "user" and is not in this list
# may be one.
_NARRATIVE_WORDS = (
    "ask asking requesting reported reports provided provides provide providing invoked "
    "showed shows shown interrupted ran run runs noticed shared shares questioned caught "
    "moved edit edits edited commit commits committed change changes changed added adds "
    "stashed stashes modified modifications message messages question questions feedback "
    "selected identified identifies called pointed discovered sent started initiated "
    "triggered opened closed switched entered pasted typed uploaded exited profile self "
    "function functions id ids name names interface input inputs data account accounts story "
    "stories flow flows prompt prompts experience facing level role roles table session "
    "sessions context settings config configuration agent code lines test tests testing "
    "tested any when who whose sees see gets get got clicks click opens visits types enters "
    "logs makes splits reverts creates created creating keeps listed list screenshot received "
    "review response most last latest final initial original second exact current personal "
    "described describes explained explains journey referenced real three multiple several "
    "distinct must should will could might cannot can may need needs whether worried "
    "suspected manually correctly continues continued clarification clarifications correction "
    "corrections corrected clarified clarifies emphasis challenged registered acknowledged direct "
    "concern concerns continuing answered verified verifies attempted tried wrote writes "
    "action actions side resetting showing seems hinted hinting never noted felt discussed "
    "pushed raised renamed flagged declares key insight previous pattern overarching goal "
    "requested requests decided decides wanting having file files work chose opted suggests "
    "suggested wants wanted"
)
_NARRATIVE = frozenset(_NARRATIVE_WORDS.split())
# Words of will: they make a sentence about the user one about what the user allows or wants.
_WILL = re.compile(
    r"\b(?:approv|agree|consent|okay|ok\b|accept|allow|permi[st]|authori[sz]|grant|go-?ahead"
    r"|green|sign\w* off|sign-?off|clear(?:ed|ance)|bless|endors|leave\b|left to|forb|prohib"
    r"|rul(?:ed?|ing|es)\b|off[- ]limits|off the|veto|reject|declin|refus|objec|oppos|against"
    r"|disallow|bann?|waive|prefer|favou?r|lik(?:es?|ed|ing)\b|dislike|rather|insist|hate"
    r"|confirm|requir|restrict|constrain|condition|limit|trust|wish|happy|fine\b|comfort"
    r"|content with|sensible|matter|important|explicit|instruct|demand|defer|postpon"
    r"|suggestion|at the user|on the user|decid|decision|may\b|must\b|should\b|not to\b"
    r"|n['\u2019]t\b|not want|never|only\b|stays?\b|until|without|instead|sufficient|enough"
    r"|no need|better|worth|can\b|could\b|free to|no\b|none\b|always|avoid|keep\b|kept\b"
    r"|unless|shall\b|not\b)",
    re.IGNORECASE,
)
_NEXT_WORD = re.compile(r"\W*([A-Za-z]+)")
_CLAUSE_END = re.compile(r"\*\*|[ (]- | [\u2013\u2014] |[;:,] |\(|\)|,? (?:and|so|then|but) I\b")
_ASKING_WORDS = "asked asks added adds noted notes"
_ASKING = frozenset(_ASKING_WORDS.split())
_ASKED_LIMIT = re.compile(
    r"(?: me| us)? (?:that|not to|never to|to (?:never|not|only|always|avoid|leave|keep)|for no)\b",
    re.IGNORECASE,
)
# "presented to the user", "reported by the user": nothing that the user wants.
_TOLD = re.compile(
    r"\b(?:present\w*|report\w*|show\w*|ask\w*|explain\w*|sent|send|visible|provid\w*|creat\w*"
    r"|edit\w*|told|tell|inform\w*|said|warn\w*|message\w*|written|made|added|changed|modified"
    r"|noticed|found|raised|respon\w+|return\w*|display\w*|print\w*|available|given|gave|give"
    r"|handed|back|interview\w*|mention\w*|discuss\w*|request\w*)(?: \w+){0,3}(?: to| by"
    r"| with| from)?$",
    re.IGNORECASE,
)
_CHECKED_WITH = re.compile(r"\bconfirm\w* with (?:the )?user\b", re.IGNORECASE)
_EMPTY_WORDS = (
    "a an the and or but if so as at by for from in into of off on onto out over to up with "
    "without about after again against all also always am any are be because been before "
    "being between both can cannot could did do does doing done down during each few further "
    "had has have having he her here him his how i it its just let me more most must my never "
    "no nor not now once only other our own same she should some such than that their them "
    "then there these they this those through too under until very was we were what when "
    "where which while who why will would you your user users explicitly explicit said says "
    "saying say asked ask asks requested request requests approved approve approval approves "
    "permitted permission permit allowed allow allows confirmed confirm confirms confirmation "
    "agreed agree agreement instructed instruct instruction instructions told tell tells "
    "stated state states wanted want wants prefer preferred prefers preference preferences "
    "decided decide decision chose choose choice chosen noted note emphasized stressed "
    "insisted forbid forbidden forbade prohibited rejected reject declined ruled authorized "
    "authorised authorization granted grant given gave signed sign ok okay okayed green light "
    "clear cleared message messages feedback need needs needed make made makes sure use used "
    "using work working keep kept like liked strongly going go ahead anything every "
    "everything new please specifically rather instead even still back one two first last per "
    "via indeed"
)
_EMPTY = frozenset(_EMPTY_WORDS.split())


@dataclass(frozen=True, slots=True)
class _Said:
    """What the user said, ready to be compared with."""

    messages: list[str]
    pairs: list[set[tuple[str, str]]]
    stretches: list[set[str]]
    rarity: dict[str, float]
    unheard: float  # the weight of a word the user never used
    enough: float  # of the weight of a statement: who said little may be told in other words


def is_complete(record: Record) -> bool:
    """All that the user typed in the session is in the record, as far as the file can tell."""
    return not (record.starts_midway or record.turns_dropped or record.lost)


def without_source(record: Record, summary: str) -> list[FalseClaim]:
    """Quotations and statements in the user's name that nothing the user typed bears out."""
    if not is_complete(record) or not record.turns:
        return []
    known = [one for one in passages(summary) if len(one.text) <= LONGEST_PASSAGE]
    common = _common_words(summary)
    is_foreign = any(_is_foreign(turn.asked, common) for turn in record.turns)
    texts = list(_sources(record))
    if record.words_missing:  # then the summary's own list is all that is left of them
        texts += [one.text for one in known if one.is_users]
    said = _said(texts, [turn.asked for turn in record.turns])
    found = []
    for one in known:
        words = "" if record.words_missing else _unknown_quotation(one, said)
        if words and not (is_foreign and _is_translated(words, common)):
            found.append(_claim(one.text, f"no message of the user reads “{flat(words, 120)}”"))
        elif not is_foreign:
            unsaid = (part for part in sentences(one.text) if _is_unsaid(part, said))
            found += [_claim(part, "no message of the user says so") for part in unsaid]
    return list({claim.sentence: claim for claim in found}.values())


def _claim(text: str, evidence: str) -> FalseClaim:
    if quoted := _QUOTED.fullmatch(text):  # it is quoted again where it is shown
        text = quoted[1] or quoted[2]
    return FalseClaim(flat(text, LONGEST), evidence, Place())


def _said(texts: list[str], messages: list[str]) -> _Said:
    stretches = [_stems(part) for text in texts for part in _parts(text)]
    used = Counter(stem for stretch in stretches for stem in stretch)
    most = len(stretches) + 2
    rarity = {stem: math.log(most / (count + 0.5)) for stem, count in used.items()}
    enough = KNOWN_WEIGHT * min(1.0, len(used) / MANY_WORDS)
    pairs = [_pairs(text) for text in texts]
    return _Said(messages, pairs, stretches, rarity, math.log(most / 0.5), enough)


def _sources(record: Record) -> Iterator[str]:
    """What the user typed, each with what it answers: a "yes" takes over what was proposed."""
    before = ""
    for turn in record.turns:
        proposed = before[-PROPOSAL_CHARS:] if len(turn.asked) < SHORT_REPLY_CHARS else ""
        yield f"{turn.asked}\n{turn.reply_to}\n{proposed}"
        yield from (f"{one.text}\n{one.answer}" for one in turn.questions if one.answer)
        before = turn.said
    yield from record.queued
    yield from (task.text for task in record.tasks.values() if task.source in ("plan", "asked"))


def _parts(text: str) -> Iterator[str]:
    half = STRETCH_CHARS // 2
    for at in range(0, max(1, len(text) - half), half):
        yield text[at : at + STRETCH_CHARS]


def _unknown_quotation(passage: Passage, said: _Said) -> str:
    """The first quotation in the user's name that the user did not type."""
    if passage.is_users and (message := _MESSAGE_AS_CODE.fullmatch(passage.text)):
        return "" if _was_typed(message[1], said) else message[1]
    text = _CODE_SPAN.sub(" ", passage.text)
    if _GUESSED.search(text):
        return ""
    after = 0
    for found in _QUOTED.finditer(text):
        lead, after, is_first = text[after : found.start()], found.end(), not after
        words = found[1] or found[2]
        is_users = (passage.is_users and is_first) or _SPEAKING.search(lead[-LEAD_CHARS:])
        if is_users and not _was_typed(words, said):
            return words
    return ""


def _was_typed(words: str, said: _Said) -> bool:
    """Near enough: pairs of neighbouring words, or the words in another order."""
    if _CLIENT_WORDS.search(words):
        return True
    pairs = {pair for part in _ELLIPSIS.split(words) for pair in _pairs(part)}
    if len(pairs) < LEAST_PAIRS:
        return True
    if max((len(pairs & known) for known in said.pairs), default=0) >= KNOWN_PAIRS * len(pairs):
        return True
    stems = _stems(words)
    if max((len(stems & one) for one in said.stretches), default=0) >= KNOWN_WORDS * len(stems):
        return True
    return any(_is_corrected(message, words) for message in said.messages)


def _is_corrected(message: str, words: str) -> bool:
    """The same message, less its slips of typing."""
    if abs(len(message) - len(words)) > len(words) * (1 - SAME_LETTERS):
        return False
    compared = SequenceMatcher(None, message.lower(), words.lower())
    return compared.quick_ratio() >= SAME_LETTERS and compared.ratio() >= SAME_LETTERS


def _is_unsaid(text: str, said: _Said) -> bool:
    """It says what the user approved, allowed, forbade or preferred, and no words of the user name
    the thing."""
    if _QUOTED.search(text) or _CLIENT_WORDS.search(text) or _GUESSED.search(text):
        return False
    text = _CODE_SPAN.sub(lambda span: span[0].replace("user", "u-ser"), text)
    mentions = islice(_USER.finditer(text), MOST_MENTIONS)
    stands = [found for found in mentions if _is_stand(text, found)]
    if not stands or _is_known(text, said):
        return False
    return not _is_known(_statement(text, stands[-1]), said)


def _is_stand(text: str, found: re.Match[str]) -> bool:
    """The user holds a view here, and does not only do something."""
    before = text[max(0, found.start() - LEAD_CHARS) : found.start()].rstrip()
    end, word = found.end(), (found[2] or "").lower()
    if _NOT_YET.search(before.lower()):
        return False
    while word in _ADVERBS and (following := _NEXT_WORD.match(text, end)):
        word, end = following[1].lower(), following.end()
    if word in _ASKING:
        return bool(_ASKED_LIMIT.match(text, end))
    is_told = not found[1] and (
        _TOLD.search(before) or _CHECKED_WITH.search(text[max(0, end - LEAD_CHARS) : end])
    )
    if word in _NARRATIVE or is_told:
        return False
    return bool(_WILL.search(_statement(text, found)))


def _statement(text: str, found: re.Match[str]) -> str:
    """The clause in which the user is named, with as many before it, and then behind it, as it
    takes to name something."""
    ends = [0, *(end.end() for end in _CLAUSE_END.finditer(text)), len(text)]
    first = max(at for at, end in enumerate(ends) if end <= found.start())
    last = first + 1
    while ends[last] < found.end():
        last += 1
    while first > 0 and len(_telling(text[ends[first] : ends[last]])) <= LEAST_TELLING:
        first -= 1
    while last < len(ends) - 1 and len(_telling(text[ends[first] : ends[last]])) <= LEAST_TELLING:
        last += 1
    return text[ends[first] : ends[last]]


def _is_known(text: str, said: _Said) -> bool:
    """One stretch of the user's words holds enough of what the statement names; where it names
    little, any of it."""
    telling = _telling(text)
    if len(telling) < LEAST_TELLING:
        return True
    whole = sum(said.rarity.get(stem, said.unheard) for stem in telling)
    shared = (sum(said.rarity[stem] for stem in telling & one) for one in said.stretches)
    enough = said.enough * whole if len(telling) > LEAST_TELLING else 0.0
    return max(shared, default=0.0) > enough


def _common_words(summary: str) -> set[str]:
    """The small words of the summary's language, which are most of its commonest ones."""
    own = _QUOTED.sub(" ", _CODE_SPAN.sub(" ", summary))
    return {word for word, _ in Counter(_short_words(own)).most_common(COMMON_WORDS)}


def _is_foreign(text: str, common: set[str]) -> bool:
    """Written in another language: few of its small words are among the common ones. A summary
    with too few of them cannot tell."""
    short = set(_short_words(text))
    can_tell = len(common) == COMMON_WORDS and len(short) >= LEAST_SHORT
    return can_tell and len(short & common) < COMMON_SHARE * len(short)


def _is_translated(words: str, common: set[str]) -> bool:
    """A quotation in the summary's language, or too short to tell."""
    words_once = set(_words(words))
    is_short = len(words_once) < LEAST_QUOTED
    return is_short or len(words_once & common) > COMMON_SHARE * len(words_once)


def _short_words(text: str) -> list[str]:
    return [word for word in _words(text) if 1 < len(word) < 6 and word.isalpha()]


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _pairs(text: str) -> set[tuple[str, str]]:
    words = _words(text)
    return set(pairwise(words))


def _stems(text: str) -> set[str]:
    return {_stem(word) for word in _words(text)}


def _telling(text: str) -> set[str]:
    words = (word for word in _words(text) if len(word) > 2 or word.isdecimal())
    return {_stem(word) for word in words if word not in _EMPTY}


def _stem(word: str) -> str:
    for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) > 2:
            word = word.removesuffix(ending)
            break
    return word[:7]
