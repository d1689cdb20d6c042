"""What a short prompt answers: "B" or "yes" means nothing without the words before it.

Every short prompt is shown with the end of what the model had said. Nothing decides which prompts
are replies.
"""

from holdfast.record.model import Record
from holdfast.text.sentences import ASKING, clip_last

REFUSED = "refused: "  # before a call that the user stopped
SHORT_CHARS = 80
TERSE_CHARS = 32  # shorter words mean little without what they answer
WIDE = 3  # letters that one character of a script without blanks counts
LONGEST = 500


def reply_to(record: Record, words: str) -> str:
    """Return the end of the model's words that these words follow. Empty for words that are clear
    by themselves, or that follow words of the user."""
    if not record.turns or len(words) > SHORT_CHARS or width(words) > SHORT_CHARS:
        return ""
    before = next((turn.said for turn in reversed(record.turns) if not turn.taken_back), "")
    return clip_last(" ".join(before.split()), LONGEST)


def is_answer(reply_to: str) -> bool:
    """Whether these words answer a question, or a call that the user refused."""
    return reply_to.rstrip("*_`) ").endswith(ASKING) or reply_to.startswith(REFUSED)


def settles(words: str, reply_to: str) -> bool:
    """Whether very short words follow a question, and are no question, command or shell line."""
    is_terse = width(words) <= TERSE_CHARS and words[:1] not in ("/", "!")
    return is_answer(reply_to) and is_terse and not any(mark in words for mark in ASKING)


def width(words: str) -> int:
    """Return the length of a text in letters of a script with blanks."""
    if words.isascii():
        return len(words)
    return sum(WIDE if mark > "⺀" else 1 for mark in words)
