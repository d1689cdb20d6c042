"""The budget of a window as it stands: five compartments, what fills them, how long it lasts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.brief import pinned, trim
from holdfast.brief.compose import KEPT, Brief
from holdfast.brief.item import BriefItem, item_id
from holdfast.brief.roles import sections_of
from holdfast.budget import compartments as five
from holdfast.budget import ledger, operations
from holdfast.budget.estimate import tokens_of, units
from holdfast.budget.ledger import Ledger, NoSuchPin, Pin
from holdfast.events import take_checkpoint, window_brief
from holdfast.settings import load as settings_load
from holdfast.window import health, view
from holdfast.wire.mark import CHARS_PER_TOKEN

if TYPE_CHECKING:
    from holdfast.window.state import State


@dataclass(frozen=True, slots=True)
class BriefEntry:
    """One item of the present brief."""

    id: str  # a pin goes by that of its pin
    section: str
    text: str
    reason: str
    tokens: int
    is_pinned: bool
    is_never_cut: bool  # a pin, and also the request, marked rules, the last words
    can_be_evicted: bool


@dataclass(frozen=True, slots=True)
class CompartmentUse:
    """One compartment, in tokens of the brief."""

    name: str
    share: float
    set_by: str  # role, project or user
    priority: int
    share_tokens: int
    spent_tokens: int
    borrowed_tokens: int
    lent_tokens: int
    items: tuple[BriefEntry, ...]


@dataclass(frozen=True, slots=True)
class BudgetStatus:
    session_id: str
    role: str
    max_tokens: int
    spent_tokens: int
    parts: tuple[CompartmentUse, ...]
    loans: tuple[str, ...]  # in words
    pins: tuple[Pin, ...]
    evicted: tuple[str, ...]
    used_ratio: float
    estimated: bool
    ops_left: int | None
    ops_left_low: int | None
    ops_left_high: int | None
    minutes_left: float | None
    pace_ms: float | None
    forecast_basis: str


def status(state: State, folder: str, now_ms: int, max_tokens: int | None = None) -> BudgetStatus:
    """What the brief would be now, by compartment, beside when the window runs out."""
    max_tokens = window_brief.wanted_tokens(state.project) if max_tokens is None else max_tokens
    facts = take_checkpoint.facts_of(state, folder)
    brief = window_brief.composed(state, folder, facts, max_tokens)
    known = ledger.read(state.project, state.session_id)
    settings = settings_load.load(state.project)
    seen = view.of_transcript(state, settings, now_ms, folder)
    ahead = health.describe(seen, state, settings.share("watch_at"))
    return BudgetStatus(
        session_id=state.session_id,
        role=brief.role,
        max_tokens=max_tokens,
        spent_tokens=tokens_of(units(brief.text)),
        parts=tuple(_parts(brief, known)),
        loans=tuple(_in_tokens(brief)),
        pins=known.pins,
        evicted=tuple(sorted(known.evicted)),
        used_ratio=ahead["used_ratio"],
        estimated=ahead["estimated"],
        ops_left=ahead["ops_left"],
        ops_left_low=ahead["ops_left_low"],
        ops_left_high=ahead["ops_left_high"],
        pace_ms=ahead["pace_ms"],
        minutes_left=ahead["minutes_left"],
        forecast_basis=ahead["forecast_basis"],
    )


def evict(item: str, state: State, folder: str) -> BriefEntry:
    """By its id in the present brief, or the start of one."""
    brief = window_brief.composed(state, folder, take_checkpoint.facts_of(state, folder))
    found = [one for one in map(_told, brief.items) if item and one.id.startswith(item)]
    if len(found) != 1:
        raise NoSuchPin(f"{'no item begins' if not found else 'several items begin'} with {item}")
    if found[0].is_pinned:
        raise NoSuchPin(f"{found[0].id} is a pin: holdfast budget unpin {found[0].id}")
    if not found[0].can_be_evicted:
        raise NoSuchPin(f"{found[0].id} is the request: that stays")
    operations.evict(found[0].id, session_id=state.session_id)
    return found[0]


def _parts(brief: Brief, known: Ledger) -> list[CompartmentUse]:
    weights = trim.weights(sections_of(brief.role))
    found = []
    for one in five.compartments(weights, known.shares):
        grant = brief.allotment.grants[one.name] if brief.allotment else None
        inside = [item for item in brief.items if trim.of(item) == one.name]
        found.append(
            CompartmentUse(
                name=one.name,
                share=one.share / five.WHOLE,
                set_by=known.set_by.get(one.name, "role"),
                priority=one.priority,
                share_tokens=tokens_of(grant.share) if grant else 0,
                spent_tokens=tokens_of(brief.spent.get(one.name, 0)),
                borrowed_tokens=tokens_of(grant.borrowed) if grant else 0,
                lent_tokens=tokens_of(grant.lent) if grant else 0,
                items=tuple(map(_told, inside)),
            )
        )
    return found


def _told(item: BriefItem) -> BriefEntry:
    pin = pinned.pin_id(item)
    return BriefEntry(
        id=pin or item_id(item),
        section=item.section,
        text=item.text,
        reason=item.reason,
        tokens=tokens_of(units(item.text) + 3),
        is_pinned=bool(pin),
        is_never_cut=item.pinned,
        can_be_evicted=item.section not in KEPT,
    )


def _in_tokens(brief: Brief) -> list[str]:
    """The brief is counted in characters, people count tokens."""
    loans = brief.allotment.loans if brief.allotment else []
    return [
        f"{one.borrower} borrows {int(one.amount / CHARS_PER_TOKEN)} tokens "
        f"that {one.lender} leaves of its share"
        for one in loans
        if one.amount >= CHARS_PER_TOKEN
    ]
