"""The user's words: all of them, in order, complete as far as they fit.

All share one limit of characters, the largest that fits; nothing decides which of them matter. The
model's last words of each turn follow the user's if there is room. After a compaction there are two
briefs: what the first has no room for is in the second.
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
from holdfast.record.turns import TAKEN_BACK, describe_stop, unsure_texts
from holdfast.text.fence import flat, quoted
from holdfast.text.sentences import sentences, split
from holdfast.wire.mark import CHARS_PER_TOKEN

USUAL_CHARS, LEAST_CHARS, MOST_CHARS = 400, 80, 4000
# If a second brief follows, the oldest words wait for it before all are cut below two sentences: of
# 12,000 characters in 110 messages, 80 of each hold 70 % of the rules.
BEGUN_CHARS = 160
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
SECTION, UNSURE = "said", "unsure"
UNSURE_CHARS = 300
UNSURE_REASON = "in the user's name, without a mark of the client"
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
    shown: int = 0  # characters of it that the model has already
    keeps_question: bool = False  # with the question that it answers, however short it is cut


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


def missing_units(record: Record, is_held: Callable[[BriefItem], bool]) -> int:
    """Return the size of all words that the model does not have yet."""
    return _total(_missing(record, is_held), USUAL_CHARS)


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
    later: int = 0,
) -> list[BriefItem]:
    """Return the words that fit and that the model does not have yet, as pinned items. If not even
    the start of each fits, the oldest are left out, and a line says so. `later` is the room for
    them in the second brief."""
    known = [one for one in quotes(record) if not is_held(_item(one, USUAL_CHARS))]
    if later and _total(known, USUAL_CHARS) > room:
        known = _for_two_briefs(known)
    known = _current_whole(known, room + later)
    return _fitted(record, known, room, is_held, most, later)


def completing_items(
    record: Record, room: int, is_held: Callable[[BriefItem], bool]
) -> list[BriefItem]:
    """Return the words for the second brief: those that the first one had no room for, and those
    that it cut."""
    known = _completed(_missing(record, is_held), room)
    return _fitted(record, known, room, is_held, USUAL_CHARS)


def _completed(known: list[Quote], room: int) -> list[Quote]:
    """Show as many messages as fit whole, the newest first, if one limit for all would leave room
    unused: what the first brief has begun costs nothing until it is shown whole."""
    kept, fitting = _fitting(known, room, USUAL_CHARS)
    left, whole = room - _total(kept, fitting) - OLDER_CHARS, set()
    for one in sorted(kept, key=_age, reverse=True):
        more = _cost(replace(one, least=USUAL_CHARS), fitting) - _cost(one, fitting)
        if 0 < more <= left:
            left -= more
            whole.add(one.order)
    return [replace(one, least=USUAL_CHARS) if one.order in whole else one for one in known]


def _fitted(
    record: Record,
    known: list[Quote],
    room: int,
    is_held: Callable[[BriefItem], bool],
    most: int,
    later: int = 0,
) -> list[BriefItem]:
    kept, fitting = _first_part(known, room, most, later)
    kept = _with_ends(kept, room, fitting)
    found = [_item(one, fitting) for one in kept if max(fitting, one.least) > one.shown]
    orders = {one.order for one in kept}
    older = [one for one in known if one.order not in orders]
    left = sum(not is_held(_item(one, LEAST_CHARS)) for one in older)
    if left or record.turns_dropped:
        found.insert(0, _older(left, record.turns_dropped, later))
    return found


def _older(left: int, dropped: int, later: int) -> BriefItem:
    """Return the line about older messages: the second brief has them, or a search finds them."""
    where = "the tool `recall` finds them; so does `holdfast search`"
    text = f"({left + dropped} older messages: {where})"
    if later and left:
        text = f"({left} older messages follow after your next step)"
    return BriefItem(SECTION, text, 1.0, "older words", pinned=True, order=-1)


def _first_part(
    known: Sequence[Quote], room: int, most: int, later: int
) -> tuple[list[Quote], int]:
    """Return which words fit, and how long each may be. The second brief has to begin what is left
    out: if it cannot, all words are cut shorter."""
    if later:
        kept, fitting = _fitting(known, room, most, BEGUN_CHARS)
        orders = {one.order for one in kept}
        left = [one for one in known if one.order not in orders]
        if _total(left, LEAST_CHARS) <= later:
            return kept, fitting
    return _fitting(known, room, most)


def _missing(record: Record, is_held: Callable[[BriefItem], bool]) -> list[Quote]:
    """Return the words that the model does not have whole, each with how much of it it has."""
    known = quotes(record)
    held = {one.order for one in known if is_held(_item(one, USUAL_CHARS))}
    if len(held) == len(known):
        return []
    left = [one for one in _for_two_briefs(known) if one.order not in held]
    found = [replace(one, shown=_shown_chars(one, is_held)) for one in left]
    return [one for one in found if one.shown < USUAL_CHARS]


def _shown_chars(quote: Quote, is_held: Callable[[BriefItem], bool]) -> int:
    """Return at which limit the model has these words; 0 if it has not even their beginning."""
    if not is_held(_item(quote, LEAST_CHARS)):
        return 0
    low, high = LEAST_CHARS, USUAL_CHARS
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if is_held(_item(quote, middle)) else (low, middle - 1)
    return low


def _for_two_briefs(known: Sequence[Quote]) -> list[Quote]:
    """Two briefs have room for the questions that were answered, if nothing is said twice."""
    return [replace(one, keeps_question=True) for one in _without_repeats(known)]


def _without_repeats(known: Sequence[Quote]) -> list[Quote]:
    """Let a sentence that was said several times stand only in the last message that has it. A
    message of which nothing is left is left out."""
    said: set[str] = set()
    found: list[Quote] = []
    for one in reversed(known):
        parts = [one.text] if one.is_act else split(one.text)
        if said.isdisjoint(parts):
            found.append(one)
        elif not said.issuperset(parts):
            told = " ".join("…" if part in said else part for part in parts)
            found.append(replace(one, text=told.replace("… …", "…")))
        said.update(part for part in parts if len(part) > TERSE_CHARS)
    return found[::-1]


def unsure_items(record: Record, room: int) -> list[BriefItem]:
    """Return the texts that may be anybody's, as far as they fit, the newest first: without
    quotation marks, because those in a brief tell whose words are quoted."""
    found: list[BriefItem] = []
    for number, one in reversed([*enumerate(unsure_texts(record))]):
        text = flat(one.text, UNSURE_CHARS)
        text += " (not delivered yet)" if one.waits else ""
        room -= units(text) + PER_LINE
        if room < 0:
            break
        found.append(BriefItem(UNSURE, text, 1.0, UNSURE_REASON, one.place, True, order=number))
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
        text = f"  → {quoted(flat(words, OUTCOME_CHARS))}"
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


def _fitting(
    known: Sequence[Quote], room: int, most: int, least: int = LEAST_CHARS
) -> tuple[list[Quote], int]:
    """Return which words fit, and how long each may be. Their age counts from the first time they
    were said: words that are sent again ("go on") tell less than any new words."""
    kept = sorted(known, key=_age)
    if _total(kept, least) > room:
        room -= OLDER_CHARS
    while len(kept) > 1 and _total(kept, least) > room:
        over = _total(kept, least) - room
        drop = max(1, over // (least + REPLY_CHARS + PER_LINE))
        kept = kept[drop:]
    low, high = least, most
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
    """Return the size of a message at this limit; none if the model has that much of it."""
    return units(_text(quote, most)) + PER_LINE if max(most, quote.least) > quote.shown else 0


def _item(quote: Quote, most: int) -> BriefItem:
    reason = WITHDRAWN if quote.stopped.startswith(TAKEN_BACK) else "said by the user"
    return BriefItem(SECTION, _text(quote, most), 1.0, reason, quote.place, True, order=quote.order)


def _text(quote: Quote, most: int) -> str:
    """Return the words, what they answer, and where the rest of them is."""
    most = max(most, quote.least)
    words = _cut(quote.text, most, quote.end)
    text = f"({words})" if quote.is_act else quoted(words)
    is_roomy = most >= USUAL_CHARS or quote.is_current or quote.keeps_question
    answers = is_roomy and is_answer(quote.reply_to)
    picks = OPTIONS_END in quote.reply_to
    if quote.reply_to and (answers or picks or len(quote.text) < TERSE_CHARS):
        text += f" (to {quoted(quote.reply_to)})"
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
