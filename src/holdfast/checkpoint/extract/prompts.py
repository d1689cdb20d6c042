"""The user's own words, and what of them still holds.

Only what a person typed counts: reminders, command output, caveats and hook text come in the
user's name and are nobody's words.
"""

import re
from itertools import pairwise

from holdfast.checkpoint.extract import cues
from holdfast.checkpoint.facts import Decision, Facts, Place, Prompt, Rule

LONGEST_PROMPT = 4000
LONGEST_RULE = 400
MOST_PROMPTS = 400
MOST_RULES = 80
RULES_A_PROMPT = 6
READ_CHARS = 6000  # of one prompt; what is longer is pasted, not said
MOST_REVOKED = 40
SPOKEN_CHARS = 1500  # a longer prompt is partly pasted
_HANDED_BACK = ("Implement the following plan",)
_END = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])")
_NOT_WORDS = ("<local-command", "<bash-", "<task-notification", "<user-memory", "<ide_", "Caveat:")
_NOT_OURS = ("[Request interrupted", "This session is being continued", "Operation stopped by hook")
_NOT_SAID = (*_NOT_WORDS, *_NOT_OURS, "<teammate")
_STOP_WORDS = (
    "that this with from have what when then them they your about again should would could "
    "there rule rules always never please dont don't must said just like need want make sure "
    "longer forget ignore anymore more using used with only instead rather than also now from"
)
_STOP = frozenset(_STOP_WORDS.split())


def own_words(text: str) -> str:
    """What the user typed, less what the client put around it; empty when it typed nothing."""
    text = _without(text, "<system-reminder>", "</system-reminder>").strip()
    if text.startswith(("<command-name>", "<command-message>")):
        return _command(text)
    return "" if text.startswith(_NOT_SAID) else text


def _without(text: str, opening: str, closing: str) -> str:
    while (start := text.find(opening)) >= 0:
        end = text.find(closing, start)
        text = text[:start] + (text[end + len(closing) :] if end >= 0 else "")
    return text


def _between(text: str, opening: str, closing: str) -> str:
    return text.partition(opening)[2].partition(closing)[0].strip()


def _command(text: str) -> str:
    """A slash command is the user's words only for what was written after it."""
    given = _between(text, "<command-args>", "</command-args>")
    name = _between(text, "<command-name>", "</command-name>")
    return f"{name} {given}" if given and name else ""


def hear(facts: Facts, text: str, place: Place) -> None:
    """The user spoke."""
    words = own_words(text[:200_000])
    if not words:
        return
    facts.questions.clear()
    facts.prompts.append(Prompt(words[:LONGEST_PROMPT], place, len(words)))
    if len(facts.prompts) > MOST_PROMPTS:  # the first says what it is all about, the last what now
        del facts.prompts[1:11]
    _judge(facts, words, place)


def _judge(facts: Facts, words: str, place: Place) -> None:
    found = 0
    short = len(words) < SPOKEN_CHARS
    if words.startswith(_HANDED_BACK):
        return  # the client's own words for a plan the model wrote
    for number, sentence in enumerate(sentences(words[:READ_CHARS])):
        said = cues.plain(sentence)
        if cues.revokes(said) and _revoke(facts, said):
            continue
        kind = _kind(sentence, said, first=number == 0, short=short)
        if kind and found < RULES_A_PROMPT:
            found += 1
            _add(facts, Rule(sentence[:LONGEST_RULE], place, kind), said)


def _kind(sentence: str, said: str, *, first: bool, short: bool) -> str:
    if sentence.endswith(("?", "\uff1f", ":")) or not 4 <= len(said) <= LONGEST_RULE:
        return ""
    if _pasted(sentence):
        return ""
    if first and short and cues.corrects(said) and len(subjects(said)) > 1:
        return "correction"
    if cues.sets_rule(said):
        return "rule"
    return "wish" if short and cues.wishes(said) else ""


def _pasted(sentence: str) -> bool:
    """A line of code, of a log or of a table, rather than a sentence."""
    if sentence[0] in "`{}<([" or " → " in sentence or " = " in sentence or "::" in sentence:
        return True
    place = sentence.partition(" ")[0].rstrip(":").rpartition(":")  # `file.go:12: said`
    return "." in place[0] and place[2].isdecimal()


def sentences(text: str) -> list[str]:
    """Lines and sentences outside code fences and quotes."""
    found: list[str] = []
    in_code = False
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("```"):
            in_code = not in_code
        elif line and not in_code and not line.startswith((">", "|", "#", "⎿", "+", "at ", "$ ")):
            found += _split(line.lstrip("-*• \t"))
    return found


def _split(line: str) -> list[str]:
    return [part for part in map(str.strip, _END.split(line)) if part]


def subjects(said: str) -> set[str]:
    """The words a sentence is about; of scripts without blanks, pairs of characters."""
    found = {word.strip("'.")[:6] for word in said.split() if len(word) > 2 and word not in _STOP}
    wide = [mark for mark in said if mark > "⺀"]
    return found | {a + b for a, b in pairwise(wide)}


def _revoke(facts: Facts, said: str) -> bool:
    """Take back the rule these words speak of, or the newest when they name none."""
    about = subjects(said)
    ranked = [(len(about & subjects(cues.plain(rule.text))), rule) for rule in facts.rules]
    best = max((score for score, _ in ranked), default=0)
    if best >= max(1, len(about) / 4):
        gone = [rule for score, rule in ranked if score == best]
    elif facts.rules and (" that " in said or " rule " in said or len(said) < 30):
        gone = [facts.rules[-1]]
    else:
        return False
    for rule in gone:
        facts.rules.remove(rule)
        facts.revoked.append(rule.text)
    del facts.revoked[:-MOST_REVOKED]
    return True


def _add(facts: Facts, new: Rule, said: str) -> None:
    about = subjects(said)
    same = [rule for rule in facts.rules if rule.text == new.text]
    firm = new.kind in ("rule", "correction")
    for old in [rule for rule in facts.rules if firm and _replaces(said, about, rule)] or same:
        facts.rules.remove(old)
        if old.text != new.text:
            new.before = old.text
    if new.kind == "correction":
        _correct(facts.decisions, new, about)
    facts.rules.append(new)
    if len(facts.rules) > MOST_RULES:
        _drop_one(facts.rules)


def _replaces(said: str, about: set[str], old: Rule) -> bool:
    """The same again, its opposite, or a correction of what it spoke of."""
    other = cues.plain(old.text)
    if other == said:
        return True
    shared = about & subjects(other)
    if len(shared) < min(2, len(about)):
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
