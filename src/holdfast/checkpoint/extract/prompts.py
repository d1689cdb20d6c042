"""The user's own words, and what kind of words they are.

Only what a person typed counts: reminders, command output, caveats and hook text come in the
user's name and are nobody's words.
"""

from holdfast.checkpoint.extract import answers, cues, rules
from holdfast.checkpoint.facts import Facts, Place, Prompt
from holdfast.checkpoint.request import is_substantial
from holdfast.transcript.user_words import user_words

LONGEST_PROMPT = 4000
MOST_PROMPTS = 400
LONGEST_ASIDE = 240  # who writes more wants something
RUN_BEGINS = "This is batch "  # who sees no such start need not load `run_prompt`
_THIS = (" this ", " that ", " it ", " das ", " ça ", " eso ")
_ANSWERING = frozenset({"answer", "assent", "correction"})


def own_words(text: str) -> str:
    """What the user typed; of a prompt of `holdfast run`, what the plan asks for."""
    words = user_words(text)
    if not words.startswith(RUN_BEGINS):
        return words
    from holdfast.checkpoint.extract import run_prompt

    return run_prompt.asked(words) or words


def hear(facts: Facts, text: str, place: Place, line: int = 0, about: str = "") -> None:
    """The user spoke; `about` is what to, where the caller knows."""
    words = own_words(text)
    if not words:
        return
    said = cues.plain(words[: 2 * LONGEST_ASIDE])
    kind = kind_of(words, said, asked=bool(facts.questions))
    if not about and (kind in _ANSWERING or _goes_on_from(words, said)):
        about = answers.asked(facts, words)
    to = "" if kind == "correction" and rules.is_clear(said) else about
    prompt = Prompt(words[:LONGEST_PROMPT], place, len(words), kind, to, line)
    facts.questions.clear()
    facts.prompts.append(prompt)
    if len(facts.prompts) > MOST_PROMPTS:  # the first says what it is all about, the last what now
        del facts.prompts[1:11]
    if kind == "request" and is_substantial(prompt) and not cues.starts("further-start", said):
        rules.request_over(facts)
    if kind == "answer" and about and cues.rule_kind(said) != "rule":
        rules.choose(facts, words, about, place)
    elif kind != "assent":
        rules.judge(facts, words, place, about)


def kind_of(words: str, said: str, *, asked: bool) -> str:
    """A request, unless it is short or an aside; whoever is asked back answers. `said` is plain."""
    if answers.is_assent(words):
        return "assent"
    if cues.starts("correct-start", said):
        return "correction"
    asks = cues.has("asks", said)
    brief = len(words) <= answers.SHORT_CHARS and not words.endswith(rules.ASKING) and not asks
    if answers.picks(words) or (brief and (asked or _takes(said))):
        return "answer"
    if len(words) > LONGEST_ASIDE or "\n" in words or words[0] == "/":
        return "request"
    if asks or cues.has("proposes", said):
        return "request"
    if words.endswith(rules.ASKING):
        return "question"
    return "remark" if cues.starts("remark-start", said) else "request"


def _goes_on_from(words: str, said: str) -> bool:
    """ "Yes, do this too": short, and about what was said just before."""
    if len(words) > 2 * answers.SHORT_CHARS:
        return False
    said = said.replace(" in this ", " ")
    return cues.starts("going-start", said) or " this " in said or said.endswith(_THIS)


def _takes(said: str) -> bool:
    """ "Use pnpm": a choice nobody asked for."""
    return cues.starts("take-start", said) or cues.has("take", said)
