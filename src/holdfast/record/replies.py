"""What a short prompt answers: "B" or "yes" means nothing without the words before it.

Every short prompt is shown with the end of what the model had said. Nothing decides which prompts
are replies.
"""

from holdfast.record.model import Record
from holdfast.text.sentences import ASKING, clip_last, last_sentences

REFUSED = "refused: "  # before a call that the user stopped
SHORT_CHARS = 80
TERSE_CHARS = 32  # shorter words mean little without what they answer
WIDE = 3  # letters that one character of a script without blanks counts
LONGEST = 500
QUESTION_CHARS = 160  # more if its last sentence is longer


def reply_to(record: Record, words: str) -> str:
    """Return the end of the model's words that these words follow. Empty for words that are clear
    by themselves, or that follow words of the user."""
    if not record.turns or len(words) > SHORT_CHARS or width(words) > SHORT_CHARS:
        return ""
    before = next((turn.said for turn in reversed(record.turns) if not turn.taken_back), "")
    return clip_last(before.strip(), LONGEST)


def question_at_end(said: str, most: int = QUESTION_CHARS) -> str:
    """Return the end of the last line of the model's words, in whole sentences."""
    line = said.strip().rpartition("\n")[2]
    return last_sentences(line, most) or line


def is_answer(reply_to: str) -> bool:
    """Whether these words answer a question, or a call that the user refused."""
    return reply_to.rstrip("*_`) ").endswith(ASKING) or reply_to.startswith(REFUSED)


def width(words: str) -> int:
    """Return the length of a text in letters of a script with blanks."""
    if words.isascii():
        return len(words)
    return sum(WIDE if mark > "⺀" else 1 for mark in words)
