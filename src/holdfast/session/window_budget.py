"""The current budget of a window: five compartments, what fills them, how long it lasts."""

from dataclasses import dataclass, fields

from holdfast.brief import work_items
from holdfast.brief.compose import KEPT, Brief
from holdfast.brief.item import BriefItem, compartment_of, compartment_weights, item_id
from holdfast.brief.roles import sections_of
from holdfast.budget import compartments as five
from holdfast.budget import ledger
from holdfast.budget.compartments import tokens_of, units
from holdfast.budget.ledger import Ledger, NoSuchPin, Pin
from holdfast.record import storage
from holdfast.session import window_brief
from holdfast.settings import load as settings_load
from holdfast.window import health, measurement
from holdfast.window.state import State

OWN_WORDS_STAY = (
    "leave out something else: any item of `holdfast budget --all` that is not "
    '"your words"; for a larger brief: `holdfast settings set brief_tokens N`'
)


@dataclass(frozen=True, slots=True)
class BriefEntry:
    id: str  # a pin goes by that of its pin
    section: str
    text: str
    reason: str
    tokens: int
    is_pinned: bool
    is_never_cut: bool  # taken before all others: a pin, the user's words, marked rules, …
    can_be_evicted: bool


@dataclass(frozen=True, slots=True)
class CompartmentUse:
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
    max_tokens: int  # how long it may get now; it grows beyond the setting for words and notes
    spent_tokens: int
    model_tokens: int | None  # the same brief as this session's model counts; None: not measured
    frame_tokens: int  # of those spent, for headings and frame
    parts: tuple[CompartmentUse, ...]
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


def status(state: State, folder: str, now_ms: int) -> BudgetStatus:
    """The brief as it would be now, by compartment, and when the window runs out."""
    brief = window_brief.compose_brief(state, folder, storage.read_on(state, folder))
    max_tokens = tokens_of(brief.limit)
    known = ledger.read(state.project, state.session_id)
    settings = settings_load.load(state.project)
    seen = measurement.of_transcript(state, settings, now_ms, folder)
    parts, frame = _parts(brief, known, max_tokens)
    ahead = health.describe(seen, state, settings.share("watch_at"))
    forecast = [field.name for field in fields(BudgetStatus) if field.name in ahead]
    return BudgetStatus(
        role=brief.role,
        max_tokens=max_tokens,
        spent_tokens=tokens_of(units(brief.text)),
        model_tokens=five.estimate(brief.text, state.density).model_tokens,
        frame_tokens=frame,
        parts=tuple(parts),
        pins=known.pins,
        evicted=tuple(sorted(known.evicted)),
        **{name: ahead[name] for name in forecast},  # and the session
    )


def evict(item: str, state: State, folder: str) -> BriefEntry:
    """Evict an item by its id in the current brief, or the start of the id."""
    brief = window_brief.compose_brief(state, folder, storage.read_on(state, folder))
    items = map(_entry, brief.items)
    found = [one for one in items if item and one.id.startswith(item)]
    if len(found) != 1:
        raise NoSuchPin(f"{'no item begins' if not found else 'several items begin'} with {item}")
    if found[0].is_pinned:
        raise NoSuchPin(f"{found[0].id} is a pin: holdfast pin --remove {found[0].id}")
    if not found[0].can_be_evicted:
        raise NoSuchPin(
            f"{found[0].id} is what the user typed, and that always stays", OWN_WORDS_STAY
        )
    ledger.evict(found[0].id, session_id=state.session_id)
    return found[0]


def _parts(brief: Brief, known: Ledger, max_tokens: int) -> tuple[list[CompartmentUse], int]:
    """The tokens of the finished text by compartment, which add up to the total, and the tokens of
    headings and frame. While items are chosen, their cost is only an estimate."""
    five_parts = five.compartments(compartment_weights(sections_of(brief.role)), known.shares)
    whole = tokens_of(units(brief.text))
    lines = sum(units(line.text) + 1 for line in brief.lines if line.reason)
    frame = max(0, whole - tokens_of(lines)) if brief.lines else whole
    shares = _divide(max(0, max_tokens - frame), [part.share for part in five_parts])
    chars = {part.name: 0 for part in five_parts}
    for item in brief.items:
        chars[compartment_of(item)] += units(item.text) + 3
    spent = _divide(whole - frame, list(chars.values()))
    borrowed = [max(0, used - share) for used, share in zip(spent, shares, strict=True)]
    free = [max(0, share - used) for used, share in zip(spent, shares, strict=True)]
    lent = _divide(sum(borrowed), free)
    found = []
    for at, one in enumerate(five_parts):
        inside = [item for item in brief.items if compartment_of(item) == one.name]
        found.append(
            CompartmentUse(
                name=one.name,
                share=one.share / five.WHOLE,
                set_by=known.set_by.get(one.name, "role"),
                priority=one.priority,
                share_tokens=shares[at],
                spent_tokens=spent[at],
                borrowed_tokens=borrowed[at],
                lent_tokens=lent[at],
                items=tuple(map(_entry, inside)),
            )
        )
    return found, frame


def _divide(total: int, weights: list[int]) -> list[int]:
    """Whole tokens in these proportions that add up to the total."""
    whole = sum(weights)
    if not whole:
        return [0 for _ in weights]
    found = [total * weight // whole for weight in weights]
    by_rest = sorted(range(len(weights)), key=lambda at: -(total * weights[at] % whole))
    for at in by_rest[: total - sum(found)]:
        found[at] += 1
    return found


def _entry(item: BriefItem) -> BriefEntry:
    pin = work_items.pin_id(item)
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
