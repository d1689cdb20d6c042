"""What was decided: answers and refusals of the user, and what the model labels a decision."""

import re
from collections.abc import Iterator

import msgspec

from holdfast.record.model import Decision, Place, Record, Turn
from holdfast.record.replies import REFUSED, is_answer, question_at_end, width
from holdfast.record.turns import turn_at, turn_number
from holdfast.text.sentences import ASKING, Lazy, sentences, within

MOST_DECISIONS = 60
LONGEST_LABELLED, REPLY_CHARS = 600, 200
INTERRUPTED = "interrupted: "  # before the words that the user stopped
_LABELS = ("decision", "entscheidung", "décision", "decisión")
# `Decision: …`, `**Decision 2:** …`, `- Entscheidung (Format): …`
_LABEL = Lazy(rf"\W*(?:{'|'.join(_LABELS)})\b[^:.]{{0,40}}:", re.IGNORECASE)


class Decided(msgspec.Struct, frozen=True):
    """One decision, with the question it answers and the turn it was made in."""

    text: str
    question: str
    turn: int
    place: Place
    by: str  # user or model
    asked: str = ""  # the user's words that began the turn


def find_decisions(record: Record) -> Iterator[Decided]:
    """Yield the words with which the user refused a call, interrupted the model or answered its
    question, the user's last answer to each question of a tool, and then what the model
    labelled."""
    known = [turn for turn in record.turns if not turn.taken_back]
    last_word = {one.text: one for turn in known for one in turn.questions if one.answer}
    for before, turn in zip([None, *known], known, strict=False):
        number = turn_number(record, turn.place)
        if question := _settled(before, turn):
            yield Decided(turn.asked, question, number, turn.place, "user", turn.asked)
        for one in turn.questions:
            if last_word.get(one.text) is one:
                yield Decided(one.answer, one.text, number, one.place, "user", turn.asked)
    for choice in record.decisions:
        number = turn_number(record, choice.place)
        made_in = turn_at(record, choice.place)
        if made_in is None or not made_in.taken_back:
            asked = made_in.asked if made_in else ""
            yield Decided(choice.text, "", number, choice.place, "model", asked)


def _settled(before: Turn | None, turn: Turn) -> str:
    """Return what the words of a turn settle: a refused call, an interruption, or the question that
    the model had asked. Questions and commands settle nothing."""
    if turn.asked and turn.reply_to.startswith(REFUSED):
        return turn.reply_to
    is_open = any(mark in turn.asked for mark in ASKING) or turn.asked[:1] in ("", "/", "!")
    if before is None or is_open or width(turn.asked) > REPLY_CHARS:
        return ""
    words = question_at_end(before.said)
    if before.interrupted:
        return f"{INTERRUPTED}{words}" if words else ""
    return words if is_answer(before.said) else ""


def hear(record: Record, text: str, place: Place) -> None:
    """Record the sentences that the model labels."""
    if not within(_LABELS, text.lower()):
        return
    known = {decision.text for decision in record.decisions}
    told = (sentence for sentence in sentences(text) if len(sentence) <= LONGEST_LABELLED)
    labelled = [one for one in told if _LABEL.pattern.match(one) and one not in known]
    record.decisions += [Decision(words, place) for words in labelled]
    del record.decisions[:-MOST_DECISIONS]
