"""What a sentence of a summary says that the user approved, allowed, forbade or wants.

The lists of words only decide what is judged, never what is true: `attributions` compares it with
what the user typed.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

LEAST_TELLING = 3  # words that a statement needs to name something
LEAD_CHARS = 160
MOST_MENTIONS = 8
MOST_STEMS = 20_000  # words whose stems are remembered

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
_CODE_SPAN = re.compile(r"`[^`\n]*`")
_USER = re.compile(
    r"(?<![\w/.\-])(?:(?:the|our|per|by|to|with) ){0,2}user(['\u2019]s)?(?![\w/]"
    r"|\.\w)(?:[-\s]+([a-z]+))?",
    re.IGNORECASE,
)
# "if the user …", "to the user", "waiting for user approval": the user said nothing.
_NOT_YET = re.compile(
    r"\b(?:if|when|whenever|once|whether|unless|until|case|for|to|awaiting|pending|asks?|asking|let|have"
    r"|wait|needs?|no|any|an?|each|every|another)(?: the)?$"
)
_TO_COME = re.compile(
    r"\bfor (?:approval|confirmation|permission|sign-?off|review)\b", re.IGNORECASE
)
# "this allows the user to …": the program decides.
_OBJECT = re.compile(r"\b(?:(?:allow|permit|enabl|prevent|requir|forb|forc)\w*|lets?|letting)$")
_ADVERBS_WORDS = (
    "explicitly also then specifically clearly later again has had have strongly repeatedly "
    "initially further now previously already subsequently firmly just even separately"
)
_ADVERBS = frozenset(_ADVERBS_WORDS.split())
# "user interface", "user account": parts of a program.
_PROGRAM_WORDS = (
    "profile self function functions id ids name names interface input inputs data account "
    "accounts story stories flow flows prompt prompts experience facing level role roles table "
    "session sessions context settings config configuration agent journey"
)
_PROGRAM = frozenset(_PROGRAM_WORDS.split())
# What users do and have, which is no view. Any other word after "user" may express one.
_NARRATIVE_WORDS = (
    "ask asking requesting reported reports provided provides provide providing invoked showed "
    "shows shown interrupted ran run runs noticed shared shares questioned caught moved edit "
    "edits edited commit commits committed change changes changed added adds stashed stashes "
    "modified modifications message messages question questions feedback selected identified "
    "identifies called pointed discovered sent started initiated triggered opened closed "
    "switched entered pasted typed uploaded exited code lines test tests testing tested any "
    "when who whose sees see gets get got clicks click opens visits types enters logs makes "
    "splits reverts creates created creating keeps listed list screenshot received review "
    "response most last latest final initial original second exact current personal described "
    "describes explained explains referenced real three multiple several distinct must should "
    "will could might cannot can may need needs whether worried suspected manually correctly "
    "continues continued clarification clarifications correction corrections corrected "
    "clarified clarifies emphasis challenged registered acknowledged direct concern concerns "
    "continuing answered verified verifies attempted tried wrote writes action actions side "
    "resetting showing seems hinted hinting never noted felt discussed pushed raised renamed "
    "flagged declares key insight previous pattern overarching goal requested requests decided "
    "decides wanting having file files work chose opted suggests suggested wants wanted"
)
_NARRATIVE = frozenset(_NARRATIVE_WORDS.split())
# Words of will: with one of these, a sentence tells what the user allows or wants.
_WILL = re.compile(
    r"\b(?:approv|agree|consent|okay|ok\b|accept|allow|permi(?:t|ssion\b)|authori[sz]|grant|go-?ahead"
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
# The clearest of them: with one of these in a clause, the user decides.
_DECISION = re.compile(
    r"\b(?:approv(?:ed|al|es|ing)|agree[ds]|consented|okay(?:ed|s)|ok['\u2019]d|allow(?:ed|s|ing)"
    r"|permi(?:t|ssion\b)|authori[sz]|grant(?:ed|s)|go-?ahead|green-?li(?:ght|t)"
    r"|sign(?:ed|s|ing)?[- ]off|thumbs|cleared|bless|waive|no objection|nothing against|discretion"
    r"|leeway|welcome to|up to me|feel free|free to|le(?:ft|aves) (?:it|this|that) to|left alone"
    r"|(?:fine|happy|comfortable|content|okay|ok) with|forb[ai]d|prohibit"
    r"|rul(?:ed|es|ing) (?:\w+ )?out|off[- ]limits|hands[- ]off|veto|reject|declin|refus"
    r"|object(?:s|ed|ion)|oppos|disallow|bann|barred|prefer"
    r"|(?:in|of) favou?r|favou?rs|lik(?:es|ed|ing)\b|dislik|tastes?\b|fond of|keen on"
    r"|partial to|rather|insist|hates?\b|demand|cannot be\b|may be\b|not to be\b"
    r"|ask(?:s|ed) (?:me |us |that )?(?:not|never|to (?:avoid|leave|keep)) "
    r"|(?:must|should|can|may) not\b|n['\u2019]t want|not want|never wants?)",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"(?:the )?user (?:\w+ly |also |then |has |had )?(?:want(?:s|ed)|requested|decided|said|stated"
    r"|noted|stressed|emphasi[sz]ed|opted)\b",
    re.IGNORECASE,
)
# Only the user approves in a session.
_PASSIVE = re.compile(
    r"\b(?:was|were|is|are|been|being|got|as) (?:\w+ly )?(?:approved|okayed|agreed|signed off"
    r"|green-?lit|ruled out|vetoed|off[- ]limits|forbidden)\b(?! (?:by|in|for)\b)"
    r"|\bapproval (?:was )?(?:given|granted|received)",
    re.IGNORECASE,
)
_THEY = re.compile(r"(\W*)(?:They|He|She)\b(?!['\u2019])")
_LEAD_IN = re.compile(r"\W*(?:(?:as )?per |according to )?(?:the )?user\W*", re.IGNORECASE)
_NEXT_WORD = re.compile(r"\W*([A-Za-z]+)")
_CLAUSE_END = re.compile(r"\*\*|[ (]- | [\u2013\u2014] |[;:,] |\(|\)|,? (?:and|so|then|but) I\b")
_ASKING_WORDS = "asked asks added adds noted notes"
_ASKING = frozenset(_ASKING_WORDS.split())
_ASKED_LIMIT = re.compile(
    r"(?: me| us)? (?:that|not to|never to|to (?:never|not|only|always|avoid|leave|keep)|for no)\b",
    re.IGNORECASE,
)
# "presented to the user", "reported by the user": not what the user wants.
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
    "without about after again against all also always am any are be because been before being "
    "between both can cannot could did do does doing done down during each few further had has "
    "have having he her here him his how i it its just let me more most must my never no nor "
    "not now once only other our own same she should some such than that their them then there "
    "these they this those through too under until very was we were what when where which while "
    "who why will would you your user user's users explicitly explicit said says saying say "
    "asked ask asks requested request requests approved approve approval approves permitted "
    "permission permit allowed allow allows confirmed confirm confirms confirmation agreed "
    "agree agreement instructed instruct instruction instructions told tell tells stated state "
    "states wanted want wants prefer preferred prefers preference preferences decided decide "
    "decision chose choose choice chosen noted note emphasized stressed insisted forbid "
    "forbidden forbade prohibited rejected reject declined ruled authorized authorised "
    "authorization granted grant given gave signed sign ok okay okayed green light clear "
    "cleared message messages feedback need needs needed make made makes sure use used using "
    "work working keep kept like liked strongly going go ahead anything every everything new "
    "please specifically rather instead even still back one two first last per via indeed "
    "additional requirement requirements proceed proceeding continue continuing"
)
_EMPTY = frozenset(_EMPTY_WORDS.split())


class UserStatement(NamedTuple):
    """The part of a sentence that states the user's will."""

    text: str
    is_decision: bool = False  # in clear words, so that the context does not matter
    is_wish: bool = False  # of the kind that summaries paraphrase


def user_statement(sentence: str, before: str = "") -> UserStatement | None:
    """Return the last statement about the user's will; "they" is the user if `before` names one."""
    text = _CODE_SPAN.sub(lambda span: span[0].replace("user", "u-ser"), sentence)
    if _USER.search(before):
        text = _THEY.sub(r"\1The user", text)
    mentions = list(islice(_USER.finditer(text), MOST_MENTIONS))
    named = mentions or islice(_PASSIVE.finditer(text), MOST_MENTIONS)
    if stands := [found for found in named if _is_stand(text, found)]:
        statement = _statement(text, stands[-1])
        return UserStatement(statement, is_decision=bool(_DECISION.search(statement)))
    if wishes := [found for found in mentions if _WISH.match(text, found.start())]:
        return UserStatement(_statement(text, wishes[-1]), is_wish=True)
    return None


def _is_stand(text: str, found: re.Match[str]) -> bool:
    """Whether the user holds a view here, and does not only do something."""
    before = text[max(0, found.start() - LEAD_CHARS) : found.start()].rstrip()
    if _NOT_YET.search(before.lower()) or _is_of_a_program(found, before.lower()):
        return False
    ends, first, last = _clause(text, found)
    clause = text[ends[first] : ends[last]]
    if _DECISION.search(clause) and not _TO_COME.search(clause):
        return True
    return found.re is _USER and _is_view(text, found, before)


def _is_of_a_program(found: re.Match[str], before: str) -> bool:
    if found.re is not _USER:
        return False
    is_object = _OBJECT.search(before) and not found[0].lower().startswith(("by ", "per "))
    return bool(is_object) or (found[2] or "").lower() in _PROGRAM


def _is_view(text: str, found: re.Match[str], before: str) -> bool:
    end, word = found.end(), (found[2] or "").lower()
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


def _clause(text: str, found: re.Match[str]) -> tuple[list[int], int, int]:
    """Return the ends of all clauses, and where among them the clause that names the user starts
    and ends."""
    ends = [0, *(end.end() for end in _CLAUSE_END.finditer(text)), len(text)]
    first = max(at for at, end in enumerate(ends) if end <= found.start())
    last = first + 1
    while ends[last] < found.end():
        last += 1
    return ends, first, last


def _statement(text: str, found: re.Match[str]) -> str:
    """Return the clause that names the user, extended to earlier and then to later clauses until it
    names something; "per the user, …" introduces what follows."""
    ends, first, last = _clause(text, found)

    def is_empty() -> bool:
        return len(telling_words(text[ends[first] : ends[last]])) <= LEAST_TELLING

    if _LEAD_IN.fullmatch(text[ends[first] : ends[last]]):
        while last < len(ends) - 1 and is_empty():
            last += 1
    while first > 0 and is_empty():
        first -= 1
    while last < len(ends) - 1 and is_empty():
        last += 1
    return text[ends[first] : ends[last]]


def words_of(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def stems(text: str) -> set[str]:
    return {_stem(word) for word in words_of(text)}


def telling_words(text: str) -> set[str]:
    words = (word for word in words_of(text) if len(word) > 2 or word.isdecimal())
    return {_stem(word) for word in words if word not in _EMPTY}


@lru_cache(maxsize=MOST_STEMS)
def _stem(word: str) -> str:
    for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) > 2:
            word = word.removesuffix(ending)
            break
    return word[:7]
