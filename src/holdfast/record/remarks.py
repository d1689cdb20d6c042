"""What the model said while it worked: choices, findings and plans, in any wording.

Nothing decides which of them matter. What only announces the next call is left out, since the call
itself is in the record.
"""

from holdfast.record.model import Decision, Place, Record
from holdfast.text.sentences import clip, clip_last, sentences

MOST_REMARKS = 80
SHORTEST, HEAD, TAIL = 40, 140, 95  # characters
_ENDS = (".", "!", "?", ":", ";", ",", "。", "！", "？")  # noqa: RUF001
_ANNOUNCING = (
    *("let me ", "now ", "i'll ", "i will ", "next", "good", "great", "perfect", "ok", "time to "),
    *("jetzt ", "nun ", "ich werde ", "lass mich ", "ahora ", "voy a ", "maintenant ", "je vais "),
)


def hear(record: Record, text: str, place: Place) -> None:
    """The model spoke."""
    if record.far or len(text) < SHORTEST:
        return
    said = sentences(text)
    if said and said[-1].endswith(":"):
        said.pop()  # the call stands for it
    kept = " ".join(_ended(one) for one in said if not _announces(one))
    if len(kept) > HEAD + TAIL + 3:
        end = clip_last(kept, TAIL).lstrip()  # a conclusion stands at the end
        kept = f"{clip(kept, HEAD).rstrip()} … {end}"
    if len(kept) >= SHORTEST:
        record.remarks = [*record.remarks, Decision(kept, place)][-MOST_REMARKS:]


def _ended(sentence: str) -> str:
    """Items of a list stay apart."""
    return sentence if sentence.endswith(_ENDS) else f"{sentence};"


def _announces(sentence: str) -> bool:
    """It says what is done next, and gives no reason."""
    one_clause = not any(mark in sentence[:-1] for mark in ",;:")
    return one_clause and sentence.lower().startswith(_ANNOUNCING)
