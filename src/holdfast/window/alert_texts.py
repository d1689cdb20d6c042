"""The text of an alert: facts first, one sentence of advice, at most 60 tokens."""

from typing import NamedTuple

from holdfast.client.compaction_limit import CompactionLimit
from holdfast.window.guard import Alert, Crossing, Reading, Verdict, Zone, estimate_mark
from holdfast.window.velocity import Forecast, in_words
from holdfast.wire.mark import CHARS_PER_TOKEN

MOST_CHARS = int(60 * CHARS_PER_TOKEN)  # 60 tokens
SAVED = "Checkpoint saved."
# One ladder: each level repeats what still holds and adds one thing. The model is told that nothing
# is asked of it. A model that was only told how full the window is hurried, or ended its turn to
# wait for the compaction, which comes only with its next request. A model that was told to begin no
# other task had nothing left to do at the next item of its list, so each text says what comes next.
TO_MODEL = {
    "orange": "Go on as before: Holdfast restores the user's rules and open work after it.",
    "advisory": "Checkpoint saved. Go on as before.",
    "red": "Checkpoint saved. Go on, but search large files or read them in parts.",
    "urgent": "Checkpoint saved. Go on in small steps: read large files in parts, and finish one "
    "edit before the next.",
    "critical": "Checkpoint saved. Finish the edit in hand before you begin the next task. "
    "Do not stop to wait: compaction comes by itself.",
}
TO_USER = {
    "orange": "If you reach a stopping point, /compact there.",
    "advisory": "Checkpoint saved. /compact at your next stopping point.",
    "red": "Checkpoint saved. /compact soon, or it comes in the middle of a task.",
    "urgent": "Checkpoint saved. /compact now to choose the moment; otherwise it comes by itself.",
    "critical": "Checkpoint saved. /compact now, or it comes within a few steps.",
}
# Automatic compaction is off: only the user can compact, and Claude Code refuses further requests.
REFUSED_TO_MODEL = (
    "Checkpoint saved. Automatic compaction is off: go on, but read large files in parts; the user "
    "is asked to /compact."
)
REFUSED_TO_USER = "Checkpoint saved. Automatic compaction is off: please /compact soon."
REFUSED_LAST_TO_MODEL = (
    "Checkpoint saved. Automatic compaction is off: finish the edit in hand, start nothing new, "
    "and ask the user to /compact; go on after it."
)
REFUSED_LAST_TO_USER = (
    "Checkpoint saved. /compact now: automatic compaction is off, so requests will be refused."
)
# The brief after a compaction is made from the transcript and needs no checkpoint.
UNSAVED_TO_MODEL = "No checkpoint could be saved; the user is told. "
STILL_RESTORED = "Go on: rules and open work are still restored, from the transcript."
UNSAVED_CRITICAL = "Finish the edit in hand before the next task. Do not stop to wait."
UNSAVED_REFUSED = "Finish the edit in hand and ask the user to /compact; go on after it."
UNSAVED_TO_USER = "No checkpoint could be saved: run holdfast doctor in a terminal to see why."
END = {"early": "compaction", "window": "compaction", "refusal": "its end"}


def format_tokens(used_tokens: int, estimated: bool) -> str:
    """Format a reading's tokens; an estimate is rounded to thousands."""
    return f"about {round(used_tokens, -3):,}" if estimated else f"{used_tokens:,}"


def name(crossing: Crossing) -> str:
    """Name the most severe change: zone and alert are one message."""
    if crossing.alert is not None and crossing.alert >= Alert.URGENT:
        return crossing.alert.name.lower()
    if crossing.zone is Zone.RED:
        return "red"
    if crossing.alert is Alert.ADVISORY:
        return "advisory"
    return "orange"


class AlertTexts(NamedTuple):
    to_model: str
    to_user: str


def compose(
    crossing: Crossing,
    verdict: Verdict,
    forecast: Forecast,
    reading: Reading,
    edge: CompactionLimit,
    window: int = 1,
    *,
    saved: bool = True,
    seconds_ago: int = 0,
) -> AlertTexts:
    """Compose the texts for the model and the user. `window` is the window's number, so that a late
    text is not read as news of the next window. `saved`: there is a checkpoint, and since when."""
    level, refused = name(crossing), edge.kind == "refusal"
    is_last = level == "critical"
    if not saved:
        critical = UNSAVED_REFUSED if refused else UNSAVED_CRITICAL
        advice = UNSAVED_TO_MODEL + (critical if is_last else STILL_RESTORED)
        for_user = UNSAVED_TO_USER
    elif refused:
        advice = REFUSED_LAST_TO_MODEL if is_last else REFUSED_TO_MODEL
        for_user = REFUSED_LAST_TO_USER if is_last else REFUSED_TO_USER
    else:
        advice, for_user = TO_MODEL[level], TO_USER[level]
    if level == "orange":  # no checkpoint is due yet
        advice, for_user = (text.removeprefix(f"{SAVED} ") for text in (advice, for_user))
    advice, for_user = (_date(text, seconds_ago) for text in (advice, for_user))
    about = estimate_mark(reading.estimated)
    full = (
        f"Holdfast: context window {window} is {about}{verdict.used_ratio:.0%} of the way to "
        f"{END[edge.kind]}"
    )
    used, room = (f"{n / 1000:,.0f}k" for n in (reading.used_tokens, edge.edge_tokens))
    return AlertTexts(
        _fit(full, forecast, advice),
        _fit(f"{full} ({about}{used} of {room} tokens)", forecast, for_user),
    )


def _date(advice: str, seconds_ago: int) -> str:
    """Say of a checkpoint that was not saved just now when it was."""
    return advice.replace(SAVED, f"Last checkpoint {seconds_ago} s ago.") if seconds_ago else advice


def _fit(full: str, forecast: Forecast, advice: str) -> str:
    """Join the parts; leave the forecast out if the text would be too long."""
    steps = in_words(forecast.ops_left)
    away = f", {steps} away" if steps else ""
    text = f"{full}{away}. {advice}"
    return text if len(text) <= MOST_CHARS else f"{full}. {advice}"[:MOST_CHARS]
