"""What was decided: answers and refusals of the user, and what the model labels a decision."""

import re
from collections.abc import Iterator

import msgspec

from holdfast.record.model import Decision, Place, Record
from holdfast.record.replies import REFUSED
from holdfast.record.turns import turn_at, turn_number
from holdfast.text.sentences import Lazy, sentences, within

MOST_DECISIONS = 60
LONGEST_LABELLED = 600
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
    """Yield the words with which the user refused a call, the user's last answer to each question
    of a tool, and then what the model labelled. Whether other words decide something, no rule can
    tell."""
    known = [turn for turn in record.turns if not turn.taken_back]
    last_word = {
        question.text: question for turn in known for question in turn.questions if question.answer
    }
    for turn in known:
        number = turn_number(record, turn.place)
        if turn.asked and turn.reply_to.startswith(REFUSED):
            yield Decided(turn.asked, turn.reply_to, number, turn.place, "user", turn.asked)
        for question in turn.questions:
            if last_word.get(question.text) is question:
                yield Decided(
                    question.answer, question.text, number, question.place, "user", turn.asked
                )
    for choice in record.decisions:
        number = turn_number(record, choice.place)
        made_in = turn_at(record, choice.place)
        if made_in is None or not made_in.taken_back:
            asked = made_in.asked if made_in else ""
            yield Decided(choice.text, "", number, choice.place, "model", asked)


def hear(record: Record, text: str, place: Place) -> None:
    """Record the sentences that the model labels."""
    if not within(_LABELS, text.lower()):
        return
    known = {decision.text for decision in record.decisions}
    told = (sentence for sentence in sentences(text) if len(sentence) <= LONGEST_LABELLED)
    labelled = [one for one in told if _LABEL.pattern.match(one) and one not in known]
    record.decisions += [Decision(words, place) for words in labelled]
    del record.decisions[:-MOST_DECISIONS]
