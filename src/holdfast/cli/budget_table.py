"""The budget of a brief, for people."""

from __future__ import annotations

from holdfast.cli.terminal import say
from holdfast.events.window_budget import BudgetStatus, CompartmentUse
from holdfast.text.escape import shown
from holdfast.window.alert_texts import about
from holdfast.window.velocity import in_words

SHOWN_CHARS = 90


def show(found: BudgetStatus, most: int) -> None:
    spent = f"{found.spent_tokens:,} of {found.max_tokens:,} tokens"
    say(f"brief    {spent}, role {found.role}")
    left = in_words(found.ops_left_low, found.ops_left_high, found.pace_ms) or "time left unknown"
    share = f"{about(found.estimated)}{found.used_ratio:.1%}"
    say(f"window   {share} used; {left} ({shown(found.forecast_basis)})")
    for part in found.parts:
        _show_part(part, most)
    for words in found.loans:
        say(f"loan     {words}")
    for one in found.pins:
        say(f"pin      {one.id} ({one.scope}, {one.compartment}) {shown(one.text)}")
    if found.evicted:
        say(f"evicted  {', '.join(found.evicted)}")


def _show_part(part: CompartmentUse, most: int) -> None:
    borrowed = f", {part.borrowed_tokens:,} borrowed" if part.borrowed_tokens else ""
    lent = f", {part.lent_tokens:,} lent" if part.lent_tokens else ""
    share = f"{part.share:.0%} by {part.set_by}, {part.share_tokens:,} tokens"
    say(f"{part.name}  {share}: {part.spent_tokens:,} spent{borrowed}{lent}")
    for one in part.items[:most]:
        firm = ", never cut" if one.is_never_cut and not one.is_pinned else ""
        say(f"  {one.id} {one.section}{firm}: {shown(one.text)[:SHOWN_CHARS]}")
    if len(part.items) > most:
        say(f"  … {len(part.items) - most} more: --all")
