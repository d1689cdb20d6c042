"""Whether a sentence takes a rule back: it says so itself, and speaks of what the rule speaks of.

"Don't forget that …" takes nothing back, nor does a log that is quoted. Four ways are known: to
forget a rule, to say that it is over, to permit what it forbids, and another thing in its place.
"""

from holdfast.checkpoint.extract import cues
from holdfast.checkpoint.extract.lazy import Lazy
from holdfast.checkpoint.extract.sentences import LIGHT, subjects
from holdfast.checkpoint.facts import Facts, Rule

_CLAUSE = Lazy(r"[,;:—–]\s+|\s-\s")  # noqa: RUF001
_QUOTED = Lazy('["“`«][^"”`»]*["”`»]')
_UNLESS = cues.phrases("unless")
_INSTEAD = cues.phrases("instead-of")
_SCRIPT = cues.script_of("revoke")
_OWN_WORDS = {word[:6] for word in cues.words_of("revoking")}
_NOT = (" not ", " nicht ", " pas ", " no ")
REJECTED_WORDS = 3
MOST_OF_IT, HALF, SOME = 0.7, 0.5, 0.25


def clauses(sentence: str) -> list[str]:
    return [part for part in _CLAUSE.pattern.split(sentence) if part.strip()]


def taken_back(facts: Facts, clause: str) -> list[Rule]:
    """The rules this clause takes back."""
    said = cues.without_opening(cues.plain(_QUOTED.pattern.sub(" ", clause)))
    about = subjects(cues.plain(clause)) - _OWN_WORDS
    if cues.starts("revoke-start", said) or cues.within(_SCRIPT, said):
        named = cues.has("revoke-named", said)
        if about and (named or not cues.starts("revoke-if-named", said)):
            return _best(facts.rules, about)
        return [] if about else _newest(facts, named)
    if cues.is_over(said):
        return [rule for rule in facts.rules if _shares(rule, about, HALF, HALF)]
    if cues.permits(said):
        banned = (rule for rule in facts.rules if cues.forbids(cues.plain(rule.text)))
        return [rule for rule in banned if _shares(rule, about, HALF, MOST_OF_IT)]
    return []


def _best(rules: list[Rule], about: set[str]) -> list[Rule]:
    ranked = [(len(about & subjects(cues.plain(rule.text))), rule) for rule in rules]
    best = max((score for score, _ in ranked), default=0)
    return [rule for score, rule in ranked if score == best >= max(1, len(about) * SOME)]


def _newest(facts: Facts, named: bool) -> list[Rule]:
    """ "Forget that": of what was said just before, unless it is called a rule."""
    just_said = facts.prompts[-2].place.offset if len(facts.prompts) > 1 else 0
    return [rule for rule in facts.rules[-1:] if named or rule.place.offset >= just_said]


def _shares(rule: Rule, about: set[str], of_said: float, of_rule: float) -> bool:
    core = _core(cues.plain(rule.text))
    shared = about & core
    return (
        bool(shared)
        and len(shared) >= of_said * len(about - LIGHT)
        and len(shared) >= of_rule * len(core)
    )


def _core(said: str) -> set[str]:
    """What a rule is about, less the conditions it may have."""
    for word in _UNLESS:
        said = said.partition(word)[0] + " " if said.partition(word)[0].strip() else said
    found = subjects(said)
    return found - LIGHT or found


def puts_instead(said: str, old: str) -> bool:
    """ "Use B instead of A" against "use A"; or an answer in another tongue."""
    if cues.starts("tongue-start", said) and cues.starts("tongue-start", old):
        return True
    wanted = old
    for word in (*_INSTEAD, *_NOT):
        wanted = wanted.partition(word)[0]
    gone = _rejected(said)
    return bool(gone) and gone <= subjects(wanted) and len(gone) >= SOME * len(_core(wanted))


def _rejected(said: str) -> set[str]:
    """What comes after "instead of"."""
    for word in _INSTEAD:
        _, found, after = said.partition(word)
        if found:
            return subjects(f" {' '.join(after.split()[:REJECTED_WORDS])} ") - LIGHT
    return set()
