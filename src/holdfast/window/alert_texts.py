"""What is said at a crossing: facts first, one sentence of advice, at most 60 tokens."""

from __future__ import annotations

from holdfast.client.compaction_limit import CompactionLimit
from holdfast.window.crossing import Crossing
from holdfast.window.guard import Alert, Reading, Verdict, Zone
from holdfast.window.velocity import Forecast, in_words
from holdfast.wire.mark import CHARS_PER_TOKEN

MOST_CHARS = int(60 * CHARS_PER_TOKEN)  # 60 tokens
# The model is told that nothing is asked of it: all is saved, and restored after the compaction. A
# model that was only told how full the window is hurried, or stopped. The last alert asks it to
# begin nothing new, for an edit that is cut in two is lost.
TO_MODEL = {
    "orange": "No action needed: rules and open work are restored after the compaction.",
    "advisory": "Saved; no action needed: rules and open work are restored after the compaction.",
    "red": "Saved. Continue, but leave large reads for after the compaction.",
    "urgent": "Saved. Continue; the tool `recall` finds what the summary leaves out.",
    "critical": "Saved. Finish the edit in hand and begin nothing new; go on after the compaction.",
}
TO_USER = {
    "orange": "A good stopping point is a good time to /compact.",
    "advisory": "/compact at the next good stopping point.",
    "red": "/compact soon, at a point of your choosing.",
    "urgent": "/compact now, or Claude Code chooses the moment.",
    "critical": "Please /compact now.",
}
SAVED, NOT_SAVED = "Saved", "No checkpoint could be saved"
ASK_DOCTOR = "No checkpoint could be saved: run holdfast doctor."
END = {
    "early": "before compaction",
    "window": "in the window",
    "refusal": "before requests are refused",
}


def about(estimated: bool) -> str:
    """Stands before every share and count of a reading that is an estimate."""
    return "about " if estimated else ""


def counted(used_tokens: int, estimated: bool) -> str:
    """A reading's tokens; of an estimate no more digits than it has."""
    return f"about {round(used_tokens, -3):,}" if estimated else f"{used_tokens:,}"


def name(crossing: Crossing) -> str:
    """The gravest news of the moment: zone and alert are one message."""
    if crossing.alert is not None and crossing.alert >= Alert.URGENT:
        return crossing.alert.name.lower()
    if crossing.zone is Zone.RED:
        return "red"
    if crossing.alert is Alert.ADVISORY:
        return "advisory"
    return "orange"


def to_model(
    crossing: Crossing,
    verdict: Verdict,
    forecast: Forecast,
    reading: Reading,
    edge: CompactionLimit,
    window: int = 1,
    *,
    saved: bool = True,
) -> str:
    """`window` is its number: what comes late is not read as news of the next one. `saved`: there
    is a checkpoint."""
    advice = TO_MODEL[name(crossing)]
    advice = advice if saved else advice.replace(SAVED, NOT_SAVED)
    return _said(verdict, forecast, reading, edge, advice, window)


def to_user(
    crossing: Crossing,
    verdict: Verdict,
    forecast: Forecast,
    reading: Reading,
    edge: CompactionLimit,
    window: int = 1,
    *,
    saved: bool = True,
) -> str:
    advice = TO_USER[name(crossing)] if saved else ASK_DOCTOR
    return _said(verdict, forecast, reading, edge, advice, window)


def _said(
    verdict: Verdict,
    forecast: Forecast,
    reading: Reading,
    edge: CompactionLimit,
    advice: str,
    window: int,
) -> str:
    share = f"{about(reading.estimated)}{verdict.used_ratio:.0%}"
    used = counted(reading.used_tokens, reading.estimated)
    full = f"Holdfast: window {window}, context {share} full, {used} of {edge.edge_tokens:,} tokens"
    steps = in_words(forecast.ops_left_low, forecast.ops_left_high)
    left = f"; {steps} left" if steps else ""
    text = f"{full} {END[edge.kind]}{left}. {advice}"
    return text if len(text) <= MOST_CHARS else f"{full}. {advice}"[:MOST_CHARS]
