"""The budget of a brief, for people."""

from __future__ import annotations

from holdfast.cli.terminal import paint, say
from holdfast.events.window_budget import BudgetStatus, CompartmentUse
from holdfast.text.escape import shown
from holdfast.window.alert_texts import about
from holdfast.window.velocity import in_words

SHOWN_CHARS = 90


def show(found: BudgetStatus, most: int) -> None:
    spent = f"{found.spent_tokens:,} of {found.max_tokens:,} tokens"
    say(f"{paint('brief', 'bold')}   {spent}, role {found.role}", hang=8)
    left = in_words(found.ops_left_low, found.ops_left_high, found.pace_ms)
    share = f"{about(found.estimated)}{found.used_ratio:.1%} of the compaction limit used"
    told = f"{left} left" if left else shown(f"steps left: {found.forecast_basis}")
    say(f"{paint('window', 'bold')}  {share}; {told}", hang=8)
    say(paint(_row("compartment", "share", "room", "used"), "dim"))
    for part in found.parts:
        say(
            _row(part.name, f"{part.share:.0%}", f"{part.share_tokens:,}", f"{part.spent_tokens:,}")
        )
    frame = f"{found.frame_tokens:,}"
    say(_row("headings and frame", "", frame, frame))
    say(paint(_row("sum", "", f"{found.max_tokens:,}", f"{found.spent_tokens:,}"), "bold"))
    for words in found.loans:
        say(f"loan: {words}")
    for part in found.parts:
        _show_items(part, most)
    for one in found.pins:
        say(f"pin {one.id} ({one.scope}, {one.compartment}): {shown(one.text)}")
    if found.evicted:
        say(f"evicted: {', '.join(found.evicted)}")


def _row(name: str, share: str, room: str, used: str) -> str:
    return f"  {name:<22}{share:>6}{room:>8}{used:>8}"


def _show_items(part: CompartmentUse, most: int) -> None:
    if part.items:
        by = "" if part.set_by == "role" else f" (share set by the {part.set_by})"
        say(f"{paint(part.name, 'bold')}{by}")
    for one in part.items[:most]:
        firm = ", never cut" if one.is_never_cut and not one.is_pinned else ""
        text = shown(one.text)
        text = text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 1]}…"
        say(f"  {one.id} {one.section}{firm}: {text}", hang=9)
    if len(part.items) > most:
        say(f"  … {len(part.items) - most} more: --all")
