"""What was decided: the user's answers in the turns, and choices that the model announced."""

import re
from collections.abc import Iterator

import msgspec

from holdfast.record.model import Decision, Place, Record, Turn
from holdfast.record.replies import READ_CHARS, REFUSED, picks
from holdfast.record.turns import IMAGE, turn_at, turn_number
from holdfast.text.sentences import Lazy, asks, plain, sentences, within

MOST_DECISIONS = 60
LONGEST_DECISION = 2000  # a longer prompt is a pasted text
# `$ make`, the same after the prompt of a modern shell, `(env) me@host:~/quay$ make`
_SIGNS = ("$ ", "% ", "# ", "\u276f ", "\u279c ")
_PROMPT = Lazy(
    r"^(?:[$%\u276f\u279c] |(?:\([\w.-]+\) )?[\w.-]+@[\w.-]+[: ][^\n]{0,120}[$%#] )", re.MULTILINE
)
# A question in return, without a question mark.
_RETURNED = tuple(f" {word} " for word in ["can", "could", "what", "why", "how", "explain"])
_COMMAND = Lazy(r"/[\w:-]+(?:\s|$)")
_DECIDING = (
    "decided | i'll use | i will use | we'll use | going with | go with | opted for "
    "| chose | i'll keep | let's use | let's go with | switched to | switching to "
    "| the best approach | the right approach | "
    "entschieden | j'ai choisi | decidí | 決め | 决定"
)
_DECIDED = tuple(f" {phrase} " for phrase in _DECIDING.split(" | "))
_LABELS = ("decision", "entscheidung", "décision", "decisión")
_HINTS = (*(phrase.strip() for phrase in _DECIDED), *_LABELS)
_BECAUSE = (" because ", " since ", " so that ", " in order to ", " to avoid ", " weil ", " damit ")
# `Decision: …`, `**Decision 2:** …`, `- Entscheidung (Format): …`
_LABEL = Lazy(rf"\W*(?:{'|'.join(_LABELS)})\b[^:.]{{0,40}}:", re.IGNORECASE)
_BOLD = str.maketrans({"*": "", "`": "", "\u2019": "'"})


class Decided(msgspec.Struct, frozen=True):
    """One decision, with the question it answers and the turn it was made in."""

    text: str
    question: str
    turn: int
    place: Place
    by: str  # user or model
    asked: str = ""  # the user's words that began the turn


def find_decisions(record: Record) -> Iterator[Decided]:
    """Yield the user's replies to questions of the model, answers and the last word on each plan;
    then the choices that the model made itself."""
    known = [turn for turn in record.turns if not turn.taken_back]
    last_word = {one.text: one for turn in known for one in turn.questions if one.answer}
    around = zip([None, *known], known, [*known[1:], None], strict=False)
    for before, turn, after in around:
        number = turn_number(record, turn.place)
        if (question := _answered(before, turn)) and not _is_taken_back(turn, after):
            yield Decided(turn.asked, question, number, turn.place, "user", turn.asked)
        for one in turn.questions:
            if last_word.get(one.text) is one and not _asks_back(one.answer):
                yield Decided(one.answer, one.text, number, one.place, "user", turn.asked)
    for choice in record.decisions:
        number = turn_number(record, choice.place)
        made_in = turn_at(record, choice.place)
        if made_in is None or not made_in.taken_back:
            asked = made_in.asked if made_in else ""
            yield Decided(choice.text, "", number, choice.place, "model", asked)


def is_labelled(words: str) -> bool:
    """Whether the model called its words a decision itself: `Decision: …`."""
    return _LABEL.pattern.match(words) is not None


def _answered(before: Turn | None, turn: Turn) -> str:
    """Return what the words of a turn decide: the question at the end of the model's words before
    them, or the call that was refused. A question in return and pasted output decide nothing."""
    if not turn.asked or _asks_back(turn.asked) or _is_pasted(turn):
        return ""
    if turn.reply_to.startswith(REFUSED):
        return turn.reply_to
    said = sentences(before.said[-READ_CHARS:]) if before and before.said else [turn.reply_to]
    if _asks_bare(turn.asked, before.said if before else ""):
        return ""
    return (turn.reply_to or said[-1]) if said and asks(said[-1]) else ""


def _asks_bare(words: str, said: str) -> bool:
    """Whether this is a question in return without a question mark; "can you do the second" picks
    an option."""
    return plain(words).startswith(_RETURNED) and not picks(words, said)


def _is_taken_back(turn: Turn, after: Turn | None) -> bool:
    """Whether the user stopped the work on it before anything was changed, and said something
    else."""
    return (
        after is not None
        and turn.interrupted
        and not turn.edited
        and after.asked not in ("", turn.asked)
    )


def _asks_back(words: str) -> bool:
    """Whether the words end with a question, or begin with one. A picture may follow it."""
    words = words.removesuffix(IMAGE).rstrip()
    return asks(words) or any(asks(one) for one in sentences(words[:READ_CHARS])[:1])


def _is_pasted(turn: Turn) -> bool:
    """Whether this is a very long text, terminal output (a line begins with a shell's prompt), a
    command typed with the client's `!`, or a slash command, which answers nothing."""
    if turn.asked.startswith("! ") or _COMMAND.pattern.match(turn.asked):
        return True
    if turn.chars > LONGEST_DECISION:
        return True
    return within(_SIGNS, turn.asked) and _PROMPT.pattern.search(turn.asked) is not None


def hear(record: Record, text: str, place: Place) -> None:
    """Record the sentences that tell a choice, two at most: labelled ones before those with a
    reason, and these before others."""
    if not within(_HINTS, text.lower()):
        return
    found = []
    for sentence in sentences(text):
        low = f" {sentence.lower().translate(_BOLD)} "
        ends = sentence.rstrip("*`_ ").endswith((":", "?"))
        if not 30 <= len(sentence) <= 360 or ends:
            continue
        if (labelled := is_labelled(sentence)) or within(_DECIDED, low):
            found.append(((labelled, within(_BECAUSE, low)), sentence))
    found.sort(key=lambda pair: pair[0], reverse=True)
    known = {decision.text for decision in record.decisions}
    record.decisions += [Decision(words, place) for _, words in found[:2] if words not in known]
    del record.decisions[:-MOST_DECISIONS]
