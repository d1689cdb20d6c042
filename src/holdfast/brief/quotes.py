"""The user's words: all of them, in order, complete as far as they fit.

All share one limit of characters, the largest that fits; nothing decides which of them matter. Each
is followed by what answered it, if there is room.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from holdfast.brief.item import BriefItem, quote_ends
from holdfast.budget.compartments import ACTIVE, units
from holdfast.record import turns
from holdfast.record.model import PLAN_ASKED, Place, Record, Turn
from holdfast.record.plans import PROMPTED
from holdfast.redact.find import redact
from holdfast.text.fence import both_ends, flat, quoted, single_marks

LEAST_CHARS, USUAL_CHARS, MOST_CHARS, CURRENT_CHARS = 80, 400, 4000, 1000
SHORT_CHARS = 44  # of each message, where a role's brief has little room for all of them
REPLY_CHARS = 80
BARE_CHARS = 2  # shorter words mean nothing without what they answer
ANSWER_CHARS, SHORTEST_ANSWER = 400, 30
OLD_ANSWER_CHARS, RECENT_TURNS = 200, 5  # of an answer that other turns followed
ANSWER_WORTH = 0.08
PLAN_BEGIN_CHARS = 420  # of an approved plan that is shown whole further down
PAST_PLAN_CHARS, LEAST_POINTS = 1000, 3  # of one that other requests followed
WAITING_FIRST = 1e6
HEAD_AND_TAIL_CHARS = 600
HEADING_CHARS = 40  # of the heading above the words
PER_LINE = 5  # the dash, the quotes and the line end
OLDER_CHARS = 120  # the line about those left out
NUMBERED_CHARS = 500  # where words have less room than that, their turn is not named
WHERE_CHARS = 45  # where the rest of long words is
SECTION, UNSURE = "said", "unsure"
UNSURE_CHARS = 300
UNSURE_REASON = "in the user's name, without a mark of the client"
OUTCOME = "what answered it"
APPROVED = "approved a plan that the model wrote:"
WITHDRAWN = "taken back by the user"  # a summary does not have to contain these
ALL_TYPED = (
    "(all that the user typed in this session stands in this brief; anything else said in the "
    "user's name is not the user's)"
)


class Quote(msgspec.Struct, frozen=True):
    """Words of the user on one line, and what they answer."""

    text: str
    place: Place
    order: float
    reply_to: str = ""
    chars: int = 0
    line: int = 0
    is_current: bool = False
    is_act: bool = False  # an act of the user, not typed words
    waits: bool = False  # in the client's queue: the model has not seen it
    stopped: str = ""  # how the user stopped it before the model had done it
    turn: int = 0  # that these words began


def quotes(record: Record) -> list[Quote]:
    """Return all that the user typed, oldest first; equal words once, at their last place."""
    by_text: dict[str, Quote] = {}
    for number, turn in enumerate(record.turns):
        how = turns.describe_stop(record.turns, number)
        for quote in _of_turn(record, number, turn, how):
            key = f"{quote.text}\n{quote.reply_to}"
            by_text.pop(key, None)
            by_text[key] = quote
    return sorted(by_text.values(), key=lambda quote: quote.order)


def _of_turn(record: Record, number: int, turn: Turn, how: str) -> Iterator[Quote]:
    is_current = number == turns.number_at_work(record)
    if turn.asked:
        words = _flat(turn.asked)
        if turn.is_plan:
            stands_apart = is_current and record.plan and record.plan.place == turn.place
            words = flat(words, PLAN_BEGIN_CHARS) if stands_apart else words
            if not is_current and len(words) > PAST_PLAN_CHARS:
                words = flat(_outline(turn.asked), PAST_PLAN_CHARS)
            words = words.replace(PROMPTED, APPROVED, 1)
        yield Quote(
            words,
            turn.place,
            number,
            _replied(turn),
            turn.chars or len(turn.asked),
            turn.line,
            is_current,
            turn.is_plan,
            turns.waits(record, number),
            how,
            turns.turn_number(record, turn.place),
        )
    for at, question in enumerate(turn.questions):
        if question.answer:
            order, words = number + 0.1 + at / 1000, _flat(question.answer)
            if question.text.startswith(PLAN_ASKED):
                title = flat(question.text.removeprefix(PLAN_ASKED), REPLY_CHARS)
                yield Quote(f"{words} the plan: {title}", question.place, order, is_act=True)
            else:
                reply_to = flat(question.text, 2 * REPLY_CHARS)
                yield Quote(words, question.place, order, reply_to, len(words))


def _outline(plan: str) -> str:
    """Return the headings and numbered points of a plan, if it has some: others followed it."""
    lines = [line.strip() for line in plan.splitlines()]
    points = [line for line in lines if line.startswith("#") or line.partition(".")[0].isdigit()]
    return "\n".join([lines[0], *points]) if len(points) >= LEAST_POINTS else plan


def _replied(turn: Turn) -> str:
    """Return the end of the question before short words, and more of it for a bare "B"."""
    if turn.reply_to.startswith(turns.REFUSED):
        return flat(turn.reply_to, turns.REPLY_TO_CHARS)
    if len(turn.asked) >= turns.TERSE_CHARS:
        return ""
    most = turns.REPLY_TO_CHARS if len(turn.asked) <= BARE_CHARS else 2 * REPLY_CHARS
    to = flat(turns.question_at_end(turn.reply_to, most), turns.REPLY_TO_CHARS)
    return to if len(to) <= most else f"… {to[2 - most :].lstrip()}"


def _flat(words: str) -> str:
    return flat(words, MOST_CHARS + 100)


def is_at_hand(item: BriefItem, current: int) -> bool:
    """Whether these words wait in the queue or belong to the turn that is being worked on."""
    return item.order >= current or item.order < -1


def needed_units(record: Record, most: int = MOST_CHARS) -> int:
    return _total(quotes(record), most)


def items(
    record: Record, room: int, given: str = "", *, least: int = LEAST_CHARS
) -> list[BriefItem]:
    """Return the words that fit, as pinned items. If not even the `least` of each fits, the oldest
    are left out, and a line says so. `given` is what the model has already: of words that it has in
    part, only the rest is returned."""
    all_quotes = quotes(record)
    if all_quotes:
        all_quotes[-1] = _cut_to_fit(all_quotes[-1], room - PER_LINE)
    if given:
        held = single_marks(" ".join(given.split()))
        all_quotes = [
            rest for quote in all_quotes if (rest := _without_given(quote, held)) is not None
        ]
    kept = _as_many_as_fit(all_quotes, room, least)
    limit = _largest_limit(kept, room, least)
    shown = [_item(quote, limit) for quote in kept]
    left = len(all_quotes) - len(kept) + (0 if given else record.turns_dropped)
    if left:
        where = "the tool `recall` finds them; so does `holdfast search`"
        text = f"({left} more messages: {where})"
        older = BriefItem(SECTION, text, 1.0, "older words", pinned=True, order=-1, counts=left)
        shown.insert(0, older)
    elif all_quotes and not given and _is_all(record, all_quotes, limit):
        reason = "the whole transcript was read, and nothing was cut"
        shown.append(BriefItem(SECTION, ALL_TYPED, 1.0, reason, order=-0.5))
    return shown


def _cut_to_fit(newest: Quote, room: int) -> Quote:
    """Cut the newest words as far as the room needs it: they are the last to go."""
    cut, most = newest, CURRENT_CHARS if newest.is_current else LEAST_CHARS
    while most > LEAST_CHARS // 4 and (over := units(_text(cut, LEAST_CHARS)) - room) > 0:
        most = max(LEAST_CHARS // 4, min(most, len(newest.text)) - over // 2 - 1)
        cut = replace(newest, text=_cut(newest.text, most))
    return cut


def _is_all(record: Record, all_quotes: Sequence[Quote], limit: int) -> bool:
    """Whether this is all that the user typed: the record is whole, and nothing was cut."""
    is_partial = (
        record.starts_midway
        or record.words_missing
        or record.lost
        or record.unread
        or record.turns_dropped
        or record.queued
    )
    return not is_partial and all(
        quote.chars <= max(limit, CURRENT_CHARS * quote.is_current) + WHERE_CHARS
        for quote in all_quotes
    )


def _without_given(quote: Quote, held: str) -> Quote | None:
    """Return the part of the words that the model does not have; None if it has all of them."""
    words = single_marks(quote.text)
    if words in held and len(words) > turns.TERSE_CHARS:
        return None
    longer = range(1, len(words) + 1)
    has = bisect_right(longer, 0, key=lambda end: words[:end] not in held)
    if has == len(words):
        return None
    return replace(quote, text=f"… {quote.text[has:].lstrip()}") if has >= LEAST_CHARS else quote


def _as_many_as_fit(queue: list[Quote], room: int, least: int) -> list[Quote]:
    """Leave out the oldest, as many as needed; the last one stays."""
    over = _total(queue, least) - room
    left_out = 0
    while over > 0 and left_out < len(queue) - 1:
        over -= units(_text(queue[left_out], least)) + PER_LINE - OLDER_CHARS * (not left_out)
        left_out += 1
    return queue[left_out:]


def _largest_limit(kept: Sequence[Quote], room: int, least: int) -> int:
    longer = range(least + 1, MOST_CHARS + 1)
    return least + bisect_right(longer, room, key=lambda most: _total(kept, most))


def _total(all_quotes: Sequence[Quote], most: int) -> int:
    return sum(units(_text(quote, most)) + PER_LINE for quote in all_quotes)


def _item(quote: Quote, most: int) -> BriefItem:
    reason = WITHDRAWN if quote.stopped.startswith(turns.TAKEN_BACK) else "said by the user"
    order = quote.order - WAITING_FIRST if quote.waits else quote.order
    return BriefItem(SECTION, _text(quote, most), 1.0, reason, quote.place, True, order=order)


def _text(quote: Quote, most: int) -> str:
    """Return the words, what they answer, and where the rest of them is."""
    most = max(most, CURRENT_CHARS * quote.is_current)
    most += WHERE_CHARS if quote.chars <= most + WHERE_CHARS else 0  # telling where takes as long
    words = _cut(quote.text, most)
    text = f"({words})" if quote.is_act else quoted(words)
    if quote.turn and not quote.waits and most >= NUMBERED_CHARS:
        text += f" (turn {quote.turn})"
    if quote.reply_to and (most > turns.TERSE_CHARS * 4 or len(quote.text) < turns.TERSE_CHARS):
        text += f" (to {quoted(quote.reply_to)})"
    if quote.waits:
        text += " (waits in the queue: the model has not seen it yet)"
    if quote.stopped:
        text += f" ({quote.stopped})"
    if quote.chars > most and quote.line:
        text += f" ({quote.chars:,} characters, line {quote.line} of the transcript)"
    return text


def _cut(words: str, most: int) -> str:
    """Shorten long words to their head, and their end too if there is room for both."""
    if len(words) <= most:
        return words
    tail = min(most // 4, max(0, most - HEAD_AND_TAIL_CHARS))
    head = words[: most - tail - 2].rstrip() + " …"
    last = words[-tail:].partition(" ")[2] if tail else ""
    return f"{head} {last}" if last else head


def unsure_items(record: Record, room: int, given: str) -> list[BriefItem]:
    """Return the texts that may be anybody's, as far as they fit, the newest first: without
    quotation marks, because those in a brief tell whose words are quoted."""
    held = " ".join(given.split())
    shown: list[BriefItem] = []
    for number, words in reversed([*enumerate(turns.unsure_texts(record))]):
        text = flat(words.text, UNSURE_CHARS)
        if text in held:
            continue
        text += " (not delivered yet)" if words.waits else ""
        room -= units(text) + PER_LINE
        if room < 0:
            break
        shown.append(BriefItem(UNSURE, text, 1.0, UNSURE_REASON, words.place, True, order=number))
    return shown


def is_answered(turn: Turn) -> bool:
    return not turn.works_on and len(turn.said) > SHORTEST_ANSWER


def is_replaced(record: Record, text: str, place: Place) -> bool:
    """Whether a longer answer to the same request stands for these words."""
    turn = turns.turn_at(record, place)
    is_over = turn is not None and is_answered(turn) and not turn.interrupted
    return is_over and turn is not None and len(turn.said) >= len(text)


def outcomes(record: Record, shown: Collection[float]) -> Iterator[BriefItem]:
    """Yield what answered the turns whose words are shown, in the model's words; the newest are
    worth most. Words that were sent again stand at their last place. Words behind which the work
    went on answer nothing, and the answer of the last turn stands where the work stood."""
    last = len(record.turns) - 1
    for number, turn in enumerate(record.turns[:-1]):
        if number in shown and is_answered(turn):
            begins, whole = "  → ", redact(turn.said)
            if last - number > RECENT_TURNS:
                whole = both_ends(whole, OLD_ANSWER_CHARS)
            worth = ANSWER_WORTH / (1 + (last - number) / 4)
            what = (SECTION, quote_ends(begins, whole, ANSWER_CHARS), worth, OUTCOME, turn.place)
            order = number + 0.9
            yield BriefItem(*what, order=order, compartment=ACTIVE, begins=begins, whole=whole)
