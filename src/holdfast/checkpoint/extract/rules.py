"""What of the user's words still holds: rules, corrections, wishes; and what ends them."""

from holdfast.checkpoint.extract import cues, revoking
from holdfast.checkpoint.extract.sentences import sentences, subjects
from holdfast.checkpoint.facts import Decision, Facts, Place, Rule

LONGEST_RULE = 400
MOST_RULES = 80
RULES_A_PROMPT = 6
READ_CHARS = 6000  # of each end of a prompt; what lies between is pasted, not said
MOST_REVOKED = 40
SPOKEN_CHARS = 1500  # a longer prompt is partly pasted
SHORT_CHARS = 60  # so short a sentence leaves its object to the one beside it
ASKING = ("?", "\uff1f")
_HANDED_BACK = ("Implement the following plan",)


def judge(facts: Facts, words: str, place: Place, about: str = "") -> None:
    """One prompt, sentence by sentence; `about` is what the model had said before it."""
    if words.startswith(_HANDED_BACK):
        return  # the client's own words for a plan the model wrote
    short = len(words) < SPOKEN_CHARS
    for part in _ends(words):
        _judge_part(facts, sentences(part), place, about, short=short)


def _ends(words: str) -> list[str]:
    """What people say stands at the head or at the end of what they paste."""
    rest = words[READ_CHARS:]
    return [words[:READ_CHARS], rest[-READ_CHARS:]] if rest else [words]


def _judge_part(facts: Facts, told: list[str], place: Place, about: str, *, short: bool) -> None:
    found = 0
    for number, sentence in enumerate(told):
        said = cues.plain(sentence)
        if facts.rules and cues.may_revoke(said) and not _pasted(sentence):
            left = _revoke(facts, sentence)
            if left != sentence and not cues.rule_kind(cues.plain(left)):
                continue
        kind = _kind(sentence, said, first=number == 0, short=short)
        if kind and found < RULES_A_PROMPT:
            found += 1
            text, needs = _whole(told, number, said, kind)
            rule = Rule(text[:LONGEST_RULE], place, kind, about=about if needs else "")
            _add(facts, rule, cues.plain(text))


def request_over(facts: Facts) -> None:
    """Another request has come: what was wished of the one before goes with it."""
    facts.rules = [rule for rule in facts.rules if rule.kind != "wish"]


def choose(facts: Facts, words: str, about: str, place: Place) -> None:
    """What the user picked or answered, with what was asked."""
    about = about[:LONGEST_RULE]
    for old in [one for one in facts.rules if about and one.about == about]:
        facts.rules.remove(old)
    kind = "wish" if cues.starts("going-start", cues.plain(words)) else "choice"
    if kind == "wish":  # the next step overtakes the last
        facts.rules = [one for one in facts.rules if one.kind != "wish" or not one.about]
    facts.rules.append(Rule(words.strip()[:LONGEST_RULE], place, kind, about=about))
    if len(facts.rules) > MOST_RULES:
        _drop_one(facts.rules)


def _kind(sentence: str, said: str, *, first: bool, short: bool) -> str:
    if sentence.endswith((*ASKING, ":")) or not 4 <= len(said) <= LONGEST_RULE:
        return ""
    if _pasted(sentence):
        return ""
    if first and short and cues.corrects(said) and subjects(said):
        return "wish" if cues.is_errand(said) else "correction"
    kind = cues.rule_kind(said)
    return kind if short or kind == "rule" else ""


def _pasted(sentence: str) -> bool:
    """A line of code, of a log or of a table, rather than a sentence."""
    if sentence[0] in "`{}<([" or " → " in sentence or " = " in sentence or "::" in sentence:
        return True
    place = sentence.partition(" ")[0].rstrip(":").rpartition(":")  # `file.go:12: said`
    return "." in place[0] and place[2].isdecimal()


def _whole(told: list[str], number: int, said: str, kind: str) -> tuple[str, bool]:
    """A sentence that speaks of "this" comes with its neighbour; and may need what it answers."""
    text = told[number]
    if kind != "correction":
        unclear = kind == "rule" and len(text) < SHORT_CHARS and cues.ends_in_this(said)
        return (f"{told[number - 1]} {text}" if unclear and number else text), unclear
    if is_clear(said):
        return text, False
    after = told[number + 1] if number + 1 < len(told) else ""
    return (f"{text} {after}" if after and not after.endswith(ASKING) else text), True


def is_clear(said: str) -> bool:
    """A correction that names its object itself."""
    named = subjects(cues.without_correcting(said)) - {"use"}
    return len(named) > 1 and not cues.speaks_of_this(said)


def _revoke(facts: Facts, sentence: str) -> str:
    """Take back what the clauses of this sentence speak of; gives those that do something else."""
    parts = revoking.clauses(sentence)
    rest = []
    for part in parts:
        gone = revoking.taken_back(facts, part)
        for rule in gone:
            facts.rules.remove(rule)
            _note_revoked(facts, rule)
        if not gone:
            rest.append(part)
    return sentence if len(rest) == len(parts) else ", ".join(rest)


def _note_revoked(facts: Facts, rule: Rule) -> None:
    facts.revoked.append(rule.text)
    del facts.revoked[:-MOST_REVOKED]


def _add(facts: Facts, new: Rule, said: str) -> None:
    about = subjects(said)
    same = [rule for rule in facts.rules if rule.text == new.text]
    firm = new.kind in ("rule", "correction")
    for old in [rule for rule in facts.rules if firm and _replaces(said, about, rule)] or same:
        facts.rules.remove(old)
        if old.text != new.text:
            new.before = old.text
            _note_revoked(facts, old)
    if cues.corrects(said):
        _correct(facts.decisions, new, about)
    facts.revoked = [text for text in facts.revoked if text != new.text]  # said again, it holds
    facts.rules.append(new)
    if len(facts.rules) > MOST_RULES:
        _drop_one(facts.rules)


def _replaces(said: str, about: set[str], old: Rule) -> bool:
    """The same again, its opposite, or a correction of what it spoke of."""
    other = cues.plain(old.text)
    if other == said or revoking.puts_instead(said, other):
        return True
    shared = about & subjects(other)
    if len(shared) < 2:
        return False
    share = len(shared) / min(len(about), len(subjects(other)))
    return share >= 0.6 and (cues.forbids(said) != cues.forbids(other) or cues.corrects(said))


def _correct(decisions: list[Decision], new: Rule, about: set[str]) -> None:
    """A choice of the model's that the user spoke against goes on only with those words."""
    for decision in decisions[-6:]:
        if not decision.corrected and about & subjects(cues.plain(decision.text)):
            decision.corrected = new.text


def _drop_one(rules: list[Rule]) -> None:
    """Wishes go first, oldest first; then the oldest correction; a rule last of all."""
    for kind in ("wish", "choice", "correction", "rule"):
        for index, rule in enumerate(rules):
            if rule.kind == kind:
                del rules[index]
                return
