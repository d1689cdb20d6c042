"""The turns: what the user typed, and what happened until the user typed again.

All words of the user are saved, in any wording. Only their length and number are bounded: nobody
types the 1,200 turns that fit, but a hostile file may contain more.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from holdfast.record import agents, plans
from holdfast.record.model import Place, Question, Record, Turn, UnsureText
from holdfast.record.user_input import is_notification, own_words
from holdfast.redact.find import redact
from holdfast.redact.value import REDACTED
from holdfast.text import sentences
from holdfast.text.fence import flat
from holdfast.transcript.user_words import Author, Words, marks_all

KEPT_CHARS, HEAD_CHARS = 4000, 2800
CUT = "\n[…]\n"
IMAGE = "[Image]"
MOST_TURNS, FIRST_TURNS, DROPPED_AT_ONCE = 1200, 40, 200
SAID_CHARS, LAST_SAID_CHARS = 1600, 3200
MOST_EDITED, MOST_QUESTIONS = 60, 40
MOST_QUEUED, MOST_WAITING, MOST_UNSURE = 16, 64, 60
READ_CHARS, BEFORE_CHARS = 600, 160  # of the words before an edit
MOST_LOOKED_AT = 2 * MOST_QUEUED  # turns from the end
NOTIFICATION_CHARS = 20_000
LONGEST_QUESTION = 600
TAKEN_BACK = "taken back"
REFUSED = "refused: "  # before a call that the user stopped
SHORT_CHARS = 80
TERSE_CHARS = 32  # shorter words mean little without what they answer
BARE_CHARS = 12  # shorter ones nothing, whatever they follow
WIDE = 3  # letters that one character of a script without blanks counts
REPLY_TO_CHARS = 500
QUESTION_CHARS = 160  # more if its last sentence is longer
_FEEDBACK = "\n\nUser feedback on this plan: "
_INTERRUPTED = "[Request interrupted by user"


def current(record: Record) -> Turn:
    """Return the current turn; one without words if the file begins in the middle of a turn."""
    if not record.turns:
        record.turns.append(Turn("", Place(op=record.op)))
    return record.turns[-1]


def prompt(
    record: Record,
    texts: Sequence[str],
    place: Place,
    line: int = 0,
    parent: str = "",
    *,
    author: Author = "",
) -> str:
    """Take a line in the user's name; return the words that begin a turn, or an empty text."""
    text = "\n".join(texts)
    if author != "user":
        _notified(record, text, place)
    if _INTERRUPTED in text[:200] and record.turns and author != "user":
        record.turns[-1].interrupted = True
    if deliver(record, texts, author, Turn("", place, line)):
        return ""
    words = typed_words(record, texts, author)
    add_unsure(record, words.unsure, place)
    if words.typed and parent:
        _take_back(record, parent)
    begun = begin(record, words.typed, place, line)
    if begun:
        record.turns[-1].parent = parent
    return begun


def carry_out_plan(record: Record, text: str, plan: str, place: Place, line: int) -> str:
    """Begin a turn that carries out a plan: the user approved it and did not write it. What the
    user typed on approving it is a turn of its own. It follows the plan that the client wrote down
    beside the prompt; without that, the model may have written it."""
    end = text.find(plan) + len(plan) if plan and plan in text else 0
    note, _, feedback = text[end:].partition(_FEEDBACK)
    begun = begin(record, text[:end] + note, place, line)
    record.turns[-1].is_plan = True
    if not end:
        add_unsure(record, [feedback], place)
    return begin(record, feedback.strip(), place, line) if end else begun


def add_unsure(record: Record, texts: Iterable[str], place: Place, *, waits: bool = False) -> None:
    """Record texts whose author is unknown. The same text is recorded once."""
    for text in filter(None, map(clip_words, map(str.strip, texts))):
        entries = [entry for entry in record.unsure if entry.text == text and entry.waits == waits]
        for entry in entries:
            entry.count, entry.place = entry.count + 1, place
        if not entries:
            record.unsure = [*record.unsure, UnsureText(text, place, waits=waits)][-MOST_UNSURE:]


def unsure_texts(record: Record) -> list[UnsureText]:
    """Return the texts to show apart. A block of tags that several prompts share is not a text of
    the user's: some program puts it around each."""
    return [entry for entry in record.unsure if entry.count == 1 or entry.text[:1] != "<"]


def _take_back(record: Record, parent: str) -> None:
    """Mark turns as taken back: the user went back to before an earlier prompt, or stopped it
    before it was read. Two prompts then follow the same line."""
    recent = record.turns[-MOST_LOOKED_AT:]
    at = next((at for at, turn in enumerate(recent) if turn.parent == parent), len(recent))
    for turn in recent[at:]:
        turn.taken_back = True


def typed_words(record: Record, texts: Sequence[str], author: Author = "") -> Words:
    """Find what the user typed; nothing in a prompt that a schedule sent."""
    text = "\n".join(texts).strip()
    words = own_words(texts, author)
    is_clients = not author and clip_words(text) in record.clients
    is_scheduled = is_clients or agents.is_scheduled(record, words.typed or text)
    return Words() if is_scheduled else words


def _notified(record: Record, text: str, place: Place) -> None:
    if is_notification(text):
        agents.take_notification(record, text[:NOTIFICATION_CHARS], place)
        if record.turns and record.turns[-1].said:
            record.turns[-1].notified = True


def begin(record: Record, words: str, place: Place, line: int = 0, reply_to: str = "") -> str:
    """Begin a turn with the words that the user typed, and end the one before it."""
    if not words:
        return ""
    turn = Turn(
        clip_words(words), place, line, len(words), reply_to or reply_to_words(record, words)
    )
    record.turns.append(turn)
    if words.startswith(plans.PROMPTED):
        plans.set_plan(record, words, place)
    if len(record.turns) > MOST_TURNS:
        del record.turns[FIRST_TURNS : FIRST_TURNS + DROPPED_AT_ONCE]
        record.turns_dropped += DROPPED_AT_ONCE
    return turn.asked


def clip_words(words: str) -> str:
    if len(words) <= KEPT_CHARS:
        return words
    return sentences.head_and_tail(words, HEAD_CHARS, KEPT_CHARS - HEAD_CHARS - len(CUT), CUT)


def queue(record: Record, operation: str, text: str, place: Place) -> str:
    """Take an entry of the queue: typed meanwhile, delivered, or taken back."""
    if operation == "popAll":
        _withdraw(record)
    if operation in ("dequeue", "remove"):
        # The prompt itself follows a "dequeue"; a removed one reached the model within a turn.
        is_missing = operation == "remove" and not record.queue
        record.words_missing = record.words_missing or is_missing
        record.queue_left = len(record.turns)
        left = _leave_queue(record, clip_words(text.strip()))
        if operation == "dequeue":
            _drop_waiting(record, left)
    return _enqueue(record, text, place) if operation == "enqueue" else ""


def _enqueue(record: Record, text: str, place: Place) -> str:
    """Add to the queue. The same words may be typed twice before the model reads either. The
    entry does not say who wrote it; where the line that delivers it will, the words wait for it
    apart from the user's."""
    _notified(record, text, place)
    is_bare_command = text.startswith("/") and len(text.split()) == 1
    is_others = is_bare_command or is_notification(text)
    words = Words() if is_others else typed_words(record, [text])
    typed = words.typed
    if words.unsure or not record.client or marks_all(record.client):
        typed = text.strip() if any(words) else ""
        add_unsure(record, [typed], place, waits=True)
    elif begin(record, typed, place):
        record.turns[-1].waits = True
    waiting = clip_words(typed).strip()
    record.queued = [*record.queued, *[waiting] * bool(waiting)][-MOST_QUEUED:]
    record.queue = [*record.queue, waiting][-MOST_WAITING:]
    return typed


def _leave_queue(record: Record, words: str) -> str:
    """Remove the entry with these words from the queue, else the first, and return it."""
    at = record.queue.index(words) if words in record.queue else 0
    return record.queue.pop(at) if record.queue else ""


def hear(record: Record, text: str, place: Place) -> None:
    """Take words of the model: the last ones of a turn tell its result. A shorter remark about a
    background report is appended instead, because it does not answer what was asked."""
    turn = current(record)
    if turn.notified and len(text.strip()) < len(turn.said):
        text = f"{turn.said}\n\n{text.strip()}"
    turn.said, turn.said_op, turn.interrupted = shorten(text), place.op, False
    turn.notified = turn.works_on = False


def shorten(text: str, most: int = SAID_CHARS) -> str:
    """Shorten words of the model: the head tells what was done, the end the result."""
    return sentences.head_and_tail(text.strip(), most // 2, most // 2, " […] ")


def show_image(record: Record, place: Place, line: int) -> None:
    """Mark that the user added an image: "can you fix this?" means nothing without it."""
    if record.turns and record.turns[-1].place == place:
        turn = record.turns[-1]
        if "[Image" not in turn.asked:
            turn.asked = f"{turn.asked} {IMAGE}"
    else:
        begin(record, IMAGE, place, line)


def note_edit(record: Record, name: str) -> None:
    turn = current(record)
    turn.edited = _join_names(turn.edited, [name])


def note_read(record: Record, name: str) -> None:
    turn = current(record)
    turn.read = _join_names(turn.read, [name])


def _join_names(names: list[str], more: list[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, [*names, *more])))[-MOST_EDITED:]


def words_before(record: Record) -> str:
    is_far = any(record.last_said_op <= call.place.op < record.op for call in record.recent)
    began = record.turns[-1].place.op if record.turns else 0
    if not record.last_texts or record.last_said_op <= began or is_far:
        return ""
    words = sentences.last_sentences(record.last_texts[-1][-READ_CHARS:], BEFORE_CHARS)
    return flat(words, BEFORE_CHARS)


def add_question(record: Record, question: str, place: Place) -> None:
    turn = current(record)
    turn.questions = [*turn.questions, Question(sentences.clip(question, LONGEST_QUESTION), place)]
    del turn.questions[:-MOST_QUESTIONS]


def add_answer(record: Record, question: str, answer: str, place: Place) -> None:
    """Record the user's answer. A question that was not seen before is added with it."""
    question = sentences.clip(question, LONGEST_QUESTION)
    for turn in reversed(record.turns[-3:]):
        for choice in reversed(turn.questions):
            if choice.text == question and not choice.answer:
                choice.answer = clip_words(answer)
                return
    add_question(record, question, place)
    current(record).questions[-1].answer = clip_words(answer)


def describe_stop(turns: Sequence[Turn], at: int) -> str:
    """Return how the user stopped a turn, if more was typed since: the request may be over. Whether
    the next words replace it or continue it, only a reader can tell."""
    turn, following = turns[at], turns[at + 1 : at + 2]
    if turn.status:
        return turn.status
    if turn.taken_back:
        after = " after the answer" if turn.said else ""
        left = "; what it edited may still be there" if turn.edited else ""
        return f"{TAKEN_BACK}{after}{left}"
    if not turn.interrupted or not following:
        return ""
    is_untouched = not turn.said and following[0].place.op == turn.place.op
    return "interrupted before the model began" if is_untouched else "interrupted"


def turn_number(record: Record, place: Place) -> int:
    number = _count_until(record, place)
    return max(1, number) + (record.turns_dropped if number > FIRST_TURNS else 0)


def waits(record: Record, number: int) -> bool:
    """Whether words are in the client's queue for certain: nothing has left it since they came."""
    turn = record.turns[number]
    is_listed = turn.waits and clip_words(turn.asked).strip() in record.queue
    return is_listed and number >= record.queue_left


def number_at_work(record: Record) -> int:
    """Return the position of the last request that is not in the queue; -1 without one."""
    numbers = range(len(record.turns) - 1, -1, -1)
    return next((number for number in numbers if not waits(record, number)), len(record.turns) - 1)


def began(record: Record) -> int:
    return record.turns[number_at_work(record)].place.op if record.turns else 0


def turn_at(record: Record, place: Place) -> Turn | None:
    return record.turns[max(1, _count_until(record, place)) - 1] if record.turns else None


def _count_until(record: Record, place: Place) -> int:
    return bisect_right(record.turns, _moment(place), key=lambda turn: _moment(turn.place))


def _moment(place: Place) -> tuple[int, int]:
    """Return the order in time. A prompt has the step of the answer before it."""
    return place.op, place.offset


def deliver(record: Record, texts: Sequence[str], author: Author, now: Turn) -> bool:
    """Take what this line delivers out of the queue. If the words were the user's by their form,
    and the client does not say otherwise, they become turns at this place."""
    text = "\n".join(texts).strip()
    if author == "other":
        record.clients = [*record.clients, clip_words(text)][-MOST_QUEUED:]
    deliveries = (_handed_over(record.queued[at:], text) for at in range(len(record.queued)))
    delivered = next(filter(None, deliveries), [])
    is_renewed = False
    for words in delivered or _delivered_otherwise(record, texts):
        record.queued.remove(words)
        _drop_waiting(record, words)
        turn = _taken_out(record, words)
        if turn and delivered and author in ("user", ""):
            record.turns.append(Turn(turn.asked, now.place, now.line, turn.chars, turn.reply_to))
            is_renewed = True
    return is_renewed


def _delivered_otherwise(record: Record, texts: Sequence[str]) -> list[str]:
    """Return the queued words that this line delivers with a frame, or as a command."""
    words = clip_words(own_words(texts).typed).strip() if record.queued else ""
    return [text for text in (words, words.removeprefix("! ")) if text in record.queued][:1]


def _drop_waiting(record: Record, words: str) -> None:
    for entry in [entry for entry in record.unsure if entry.waits and entry.text == words][:1]:
        entry.count -= 1
    record.unsure = [entry for entry in record.unsure if entry.count]


def _handed_over(waiting: list[str], text: str) -> list[str]:
    """Return the first waiting prompts that, joined by line ends, make up the text."""
    rest = text
    for count, words in enumerate(waiting, 1):
        saved = "\n".join(waiting[:count])
        if clip_words(rest) == words or (REDACTED in saved and redact(text) == saved):
            return waiting[:count]
        if not rest.startswith(f"{words}\n") and REDACTED not in saved:
            break
        rest = rest[len(words) + 1 :]
    return []


def _withdraw(record: Record) -> None:
    """Remove queued prompts that went back to the input line; the same in earlier turns stay."""
    for words in filter(None, record.queue):
        _taken_out(record, words)
        _drop_waiting(record, words)
        record.queued = [text for text in record.queued if text != words]
    record.queue.clear()


def _taken_out(record: Record, words: str) -> Turn | None:
    """Remove and return the first waiting turn; what was done belongs to the one before."""
    for at in range(max(0, len(record.turns) - MOST_LOOKED_AT), len(record.turns)):
        if record.turns[at].waits and record.turns[at].asked.strip() == words:
            turn = record.turns.pop(at)
            if at:
                _take_over(record.turns[at - 1], turn)
            return turn
    return None


def _take_over(turn: Turn, other: Turn) -> None:
    if other.said:
        turn.said, turn.said_op, turn.works_on = other.said, other.said_op, False
    turn.works_on = turn.works_on or other.works_on
    turn.edited = _join_names(turn.edited, other.edited)
    turn.read = _join_names(turn.read, other.read)
    turn.questions = [*turn.questions, *other.questions][-MOST_QUESTIONS:]
    turn.interrupted = other.interrupted


def place_of(record: Record, place: Place) -> dict[str, str | int | None]:
    """Return time, step and turn for programs; None for what has no place in the session."""
    is_known = place != Place()
    return {
        "at": place.at or None,
        "step": place.op if is_known else None,
        "turn": turn_number(record, place) if is_known and record.turns else None,
    }


def reply_to_words(record: Record, words: str) -> str:
    """Return the end of the model's words that these words follow. Empty for words that are clear
    by themselves, or that follow words of the user."""
    if not record.turns or len(words) > SHORT_CHARS or width(words) > SHORT_CHARS:
        return ""
    before = next((turn.said for turn in reversed(record.turns) if not turn.taken_back), "")
    return sentences.clip_last(before.strip(), REPLY_TO_CHARS)


def question_at_end(said: str, most: int = QUESTION_CHARS) -> str:
    """Return the end of the last line of the model's words, in whole sentences."""
    line = said.strip().rpartition("\n")[2]
    return sentences.last_sentences(line, most) or line


def is_answer(reply_to: str) -> bool:
    """Whether these words answer a question, or a call that the user refused."""
    return reply_to.rstrip("*_`) ").endswith(sentences.ASKING) or reply_to.startswith(REFUSED)


def answered(asked: str, reply_to: str) -> str:
    """Return, on one line, what short words answer: a question or a refused call, and before words
    like "1" the end of what was said; empty for words that are clear by themselves."""
    most = TERSE_CHARS if is_answer(reply_to) else BARE_CHARS
    if width(asked) > most and not reply_to.startswith(REFUSED):
        return ""
    return flat(question_at_end(reply_to), 2 * QUESTION_CHARS)


def width(words: str) -> int:
    """Return the length of a text in letters of a script with blanks."""
    if words.isascii():
        return len(words)
    return sum(WIDE if mark > "⺀" else 1 for mark in words)
