"""The user's words: all of them, in order, complete as far as they fit.

All share one limit of characters, the largest that fits; nothing decides which of them matter. The
model's last words of each turn follow the user's if there is room.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec
from msgspec.structs import replace

from holdfast.brief.item import MOST_UNITS, BriefItem
from holdfast.budget.compartments import units
from holdfast.record.model import PLAN_ASKED, Place, Record, Turn
from holdfast.record.plans import PROMPTED
from holdfast.record.replies import LONGEST, OPTIONS_END, is_answer
from holdfast.record.turns import TAKEN_BACK, describe_stop
from holdfast.text.fence import flat
from holdfast.text.sentences import sentences
from holdfast.wire.mark import CHARS_PER_TOKEN

USUAL_CHARS, LEAST_CHARS, MOST_CHARS = 400, 80, 4000
CURRENT_CHARS = 2400  # of the current request
SHARE, SMALL_SHARE = 0.6, 0.3
SMALL_BRIEF = int(1000 * CHARS_PER_TOKEN)
REPLY_CHARS = 80
TERSE_CHARS = 32  # shorter words mean nothing without what they answer
OUTCOME_CHARS, SHORTEST_OUTCOME = 160, 12
LEAST_CONCLUSION = 16  # "Perfect!" is none
HEAD_AND_TAIL_CHARS = 600
END_CHARS = 100  # of longer words, beside their head
PER_LINE = 5  # the dash, the quotes and the line end
OLDER_CHARS = 120  # the line about those left out
SECTION = "said"
OUTCOME = "what came of it"
APPROVED = "approved a plan that the model wrote:"
WITHDRAWN = "taken back by the user"  # a summary does not have to contain these


class Quote(msgspec.Struct, frozen=True):
    """Words of the user on one line, and what they answer."""

    text: str
    place: Place
    order: float
    reply_to: str = ""
    chars: int = 0
    line: int = 0
    is_current: bool = False
    least: int = 0  # characters that are shown of it, however short the others get
    end: int = 0  # characters that are shown of its end, beside its head
    is_act: bool = False  # an act of the user, not typed words
    stopped: str = ""  # how the user stopped it before the model had done it
    first: float | None = None  # when the same words were said before


def quotes(record: Record) -> list[Quote]:
    """Return everything the user typed, oldest first. Equal words appear once, at their last
    place."""
    found: dict[str, Quote] = {}
    for number, turn in enumerate(record.turns):
        is_current = turn is record.turns[-1]
        how = describe_stop(record.turns, number)
        for quote in _of_turn(number, turn, is_current, how):
            key = f"{quote.text}\n{quote.reply_to}"
            earlier = found.pop(key, None)
            found[key] = replace(quote, first=_age(earlier)) if earlier else quote
    return sorted(_without_beginnings(found.values()), key=lambda one: one.order)


def _age(quote: Quote) -> float:
    """Return when the words were first said; the current words are never old."""
    first = quote.order if quote.first is None else quote.first
    return quote.order if quote.is_current else first


def _without_beginnings(known: Iterable[Quote]) -> Iterator[Quote]:
    """Leave out words with which another message begins: it was sent again with more text."""
    ranked = sorted(known, key=lambda one: one.text)
    for one, following in pairwise([*ranked, None]):
        if one and not (following and len(one.text) > TERSE_CHARS and _begins(one, following)):
            yield one


def _begins(one: Quote, other: Quote) -> bool:
    return other.text.startswith(one.text) and not one.is_current


def _of_turn(number: int, turn: Turn, is_current: bool, how: str) -> Iterator[Quote]:
    if turn.asked:
        chars, line = turn.chars or len(turn.asked), turn.line
        words, reply_to = _flat(turn.asked), _replied(turn.reply_to, is_current)
        words = words.replace(PROMPTED, APPROVED, 1) if turn.is_plan else words
        said = (words, turn.place, number, reply_to, chars, line, is_current)
        yield Quote(*said, stopped=how, is_act=turn.is_plan)
    for at, one in enumerate(turn.questions):
        if one.answer:
            order, words = number + 0.1 + at / 1000, _flat(one.answer)
            if one.text.startswith(PLAN_ASKED):
                title = flat(one.text.removeprefix(PLAN_ASKED), REPLY_CHARS)
                yield Quote(f"{words} the plan: {title}", one.place, order, is_act=True)
            else:
                yield Quote(words, one.place, order, flat(one.text, REPLY_CHARS), len(words))


def _replied(to: str, is_current: bool) -> str:
    """Return what short words answer: all of it for the last words; the options that were picked;
    else the end of a longer text, which asks the question."""
    if is_current:
        return flat(to, LONGEST)
    if OPTIONS_END in to:
        return flat(to, 2 * REPLY_CHARS)
    told = flat(to, LONGEST)
    is_cut = len(told) > REPLY_CHARS and is_answer(told)
    return f"… {told[2 - REPLY_CHARS :].lstrip()}" if is_cut else flat(told, REPLY_CHARS)


def _flat(words: str) -> str:
    return flat(words, MOST_CHARS + 100)


def share_of(limit: int) -> int:
    """Return how much of a brief of this size the words may take."""
    return int(limit * (SHARE if limit >= SMALL_BRIEF else SMALL_SHARE))


def _never(item: BriefItem) -> bool:
    return False


def needed_units(record: Record) -> int:
    """Return the size of all words at their usual length, and of the current ones at theirs."""
    return _total(_current_whole(quotes(record), MOST_UNITS), USUAL_CHARS)


def _current_whole(known: Sequence[Quote], room: int) -> list[Quote]:
    """Show the current request in full, as far as no other words get shorter."""
    left = room - _total(known, USUAL_CHARS)
    least = min(CURRENT_CHARS, USUAL_CHARS + max(0, left))
    return [replace(one, least=least) if one.is_current else one for one in known]


def items(
    record: Record,
    room: int,
    is_held: Callable[[BriefItem], bool] = _never,
    most: int = USUAL_CHARS,
) -> list[BriefItem]:
    """Return the words that fit and that the model does not have yet, as pinned items. If not even
    the start of each fits, the oldest are left out, and a line says so."""
    known = [one for one in quotes(record) if not is_held(_item(one, USUAL_CHARS))]
    known = _current_whole(known, room)
    kept, fitting = _fitting(known, room, most)
    kept = _with_ends(kept, room, fitting)
    found = [_item(one, fitting) for one in kept]
    orders = {one.order for one in kept}
    older = [one for one in known if one.order not in orders]
    left = sum(not is_held(_item(one, LEAST_CHARS)) for one in older) + record.turns_dropped
    if left:
        text = f"({left} older messages: the tool `recall` finds them; so does `holdfast search`)"
        found.insert(0, BriefItem(SECTION, text, 1.0, "older words", pinned=True, order=-1))
    return found


def outcomes(record: Record) -> Iterator[BriefItem]:
    """Yield the result of each turn in the model's words; the newest are worth most. Words that
    were sent again stand at their last place, so only the result there can follow them."""
    last = len(record.turns) - 1
    places = {turn.asked: number for number, turn in enumerate(record.turns)}
    for number, turn in enumerate(record.turns):
        is_shown = turn.asked and places[turn.asked] == number != last
        words = _conclusion(turn.said) if is_shown else ""
        if not words:
            continue
        text = f"  → “{flat(words, OUTCOME_CHARS)}”"
        worth = 0.006 / (1 + (last - number) / 3)
        yield BriefItem(SECTION, text, worth, OUTCOME, turn.place, order=number + 0.9)


def _conclusion(said: str) -> str:
    """Return the sentence that tells the result. Closing words begin with what was done, and end
    with what is offered. A sentence that announces a list ("Here is what changed:") says nothing:
    it is left out if others come before it, and else gets the beginning of the list."""
    told = [line.strip().lstrip("#*->• ") for line in said.replace("**", "").splitlines()]
    told = [line for line in told if len(line) > SHORTEST_OUTCOME and line[0] not in "|`"]
    if not told or not told[0].endswith(":"):
        return told[0] if told else ""
    before = [one for one in sentences(told[0]) if not one.endswith(":")]
    if sum(map(len, before)) > LEAST_CONCLUSION:
        return " ".join(before)
    return f"{told[0]} {'; '.join(told[1:4])}" if told[1:] else ""


def _fitting(known: Sequence[Quote], room: int, most: int) -> tuple[list[Quote], int]:
    """Return which words fit, and how long each may be. Their age counts from the first time they
    were said: words that are sent again ("go on") tell less than any new words."""
    kept = sorted(known, key=_age)
    if _total(kept, LEAST_CHARS) > room:
        room -= OLDER_CHARS
    while len(kept) > 1 and _total(kept, LEAST_CHARS) > room:
        over = _total(kept, LEAST_CHARS) - room
        drop = max(1, over // (LEAST_CHARS + REPLY_CHARS + PER_LINE))
        kept = kept[drop:]
    low, high = LEAST_CHARS, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _total(kept, middle) <= room else (low, middle - 1)
    return sorted(kept, key=lambda one: one.order), low


def _with_ends(kept: list[Quote], room: int, most: int) -> list[Quote]:
    """Add the ends of longer words, if all of them fit: pasted text comes first, and the question
    about it last."""
    ended = [replace(one, end=END_CHARS) for one in kept]
    return ended if most >= USUAL_CHARS and _total(ended, most) <= room else kept


def _total(known: Sequence[Quote], most: int) -> int:
    return sum(_cost(one, most) for one in known)


def _cost(quote: Quote, most: int) -> int:
    return units(_text(quote, most)) + PER_LINE


def _item(quote: Quote, most: int) -> BriefItem:
    reason = WITHDRAWN if quote.stopped.startswith(TAKEN_BACK) else "said by the user"
    return BriefItem(SECTION, _text(quote, most), 1.0, reason, quote.place, True, order=quote.order)


def _text(quote: Quote, most: int) -> str:
    """Return the words, what they answer, and where the rest of them is."""
    most = max(most, quote.least)
    words = _cut(quote.text, most, quote.end)
    text = f"({words})" if quote.is_act else f"“{words}”"
    answers = (most >= USUAL_CHARS or quote.is_current) and is_answer(quote.reply_to)
    picks = OPTIONS_END in quote.reply_to
    if quote.reply_to and (answers or picks or len(quote.text) < TERSE_CHARS):
        text += f" (to “{quote.reply_to}”)"
    if quote.stopped:
        text += f" ({quote.stopped})"
    if quote.chars > most >= USUAL_CHARS and quote.line:
        text += f" ({quote.chars:,} characters, line {quote.line} of the transcript)"
    return text


def _cut(words: str, most: int, end: int = 0) -> str:
    """Shorten long words to their head, and their end too if there is room for both."""
    if len(words) <= most + end:
        return words
    tail = min(most // 4, max(0, most - HEAD_AND_TAIL_CHARS))  # a longer text loses no word
    head = words[: most - tail - 2].rstrip() + " …"
    last = words[-(tail + end) :].partition(" ")[2] if tail + end else ""
    return f"{head} {last}" if last else head
