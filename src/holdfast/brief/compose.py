"""The brief itself: items chosen by worth per token, laid out under headings, fenced."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast.brief import complement, fence, names, standing, told, uncut, used
from holdfast.brief.about import about
from holdfast.brief.item import EDITED, Archived, Claim, Item, item_id, short
from holdfast.brief.others import others
from holdfast.brief.roles import Section, role_for, sections_of
from holdfast.brief.size import chars_for, units
from holdfast.brief.trim import Choice, choose
from holdfast.budget.allot import Allotment
from holdfast.budget.ledger import Ledger
from holdfast.checkpoint.facts import Facts, Place
from holdfast.redact import are_clean, redact

DEFAULT_TOKENS = 2000
CUT_LINE = "({} lesser items cut)"
STARRED = f" ({EDITED} edited)"
KEPT = frozenset(("task", "pinned"))  # what cannot be evicted
NOTHING_SET = Ledger()
MARGIN = 40  # the cut line, what a star means, and what redaction may add


class Line(msgspec.Struct, frozen=True):
    """One line of the brief, why it is there, and where it was said."""

    text: str
    reason: str
    source: Place


class Brief(msgspec.Struct, frozen=True):
    text: str
    lines: list[Line]
    role: str
    items: list[Item] = []
    allotment: Allotment | None = None  # None where what is pinned took all the room
    spent: dict[str, int] = {}  # characters, by compartment


def compose(
    facts: Facts,
    max_tokens: int = DEFAULT_TOKENS,
    role: str = "",
    *,
    agent_type: str = "",
    marked: Sequence[str] = (),
    work: Mapping[str, Any] | None = None,
    claims: Sequence[Claim] = (),
    budget: Ledger = NOTHING_SET,
    archived: Sequence[Archived] = (),
) -> Brief:
    """What to hand back now; `marked` are rules from elsewhere that must be in it, `work` what is
    known of the shared work, `claims` what the summary before it says wrongly, `budget` what was
    pinned, evicted and allotted, `archived` what of the session is on the shelf."""
    role = role or role_for(agent_type, has_agents=bool(facts.agents))
    sections = [_addressed(one, agent_type) for one in sections_of(role)]
    limit = chars_for(max_tokens)
    frame = units(fence.opening(_origin(facts))) + units(fence.closing()) + MARGIN
    more = [*uncut.marked(marked), *uncut.pins(budget.pins)]
    items = [*map(told.claim, claims), *gather(facts, limit, limit - frame, more)]
    items += [*others(work or {}), *told.shelved(archived)]
    items = _not_evicted(items, budget.evicted)
    choice = choose(items, sections, limit - frame, budget.shares)
    uncut.lengthen(choice, facts, limit)
    return _laid_out(facts, choice, sections, limit, role, len(items) - choice.merged)


def _not_evicted(items: list[Item], evicted: frozenset[str]) -> list[Item]:
    """The request stays whatever was said: without it nothing else has a meaning."""
    if not evicted:
        return items
    return [one for one in items if one.section in KEPT or item_id(one) not in evicted]


def _addressed(section: Section, agent_type: str) -> Section:
    """A subagent is asked by the agent that called it, not by the user."""
    if not agent_type:
        return section
    return replace(section, heading=section.heading.replace("the user", "its caller"))


def gather(facts: Facts, limit: int, room: int, more: Sequence[Item]) -> list[Item]:
    """Everything that could be said, cleaned of what the client has already said."""
    held = complement.Held(facts)
    items = [*uncut.items(facts, limit, room, more), *_others(facts, held, limit)]
    return [item for item in items if not held.item(item)]


def _others(facts: Facts, held: complement.Held, limit: int) -> Iterator[Item]:
    yield from told.flight(facts, limit)
    yield from standing.tasks(facts)
    yield from standing.failing(facts, 2 if limit < used.TERSE_CHARS else 4)
    yield from used.files(facts, held, limit)
    yield from used.commands(facts, limit)
    yield from names.names(facts, held, limit)
    yield from told.decisions(facts)
    yield from told.questions(facts)
    yield from told.earlier(facts)
    yield from standing.fixed(facts)
    yield from standing.agents(facts)
    if limit >= used.TERSE_CHARS:
        yield from about(facts)
        yield from standing.references(facts)


def _origin(facts: Facts) -> str:
    session = fence.flat(facts.session_id[:13], 13).replace('"', "") or "of this session"
    return f"transcript {session}, operation {facts.op}"


def _laid_out(
    facts: Facts, choice: Choice, sections: Sequence[Section], limit: int, role: str, known: int
) -> Brief:
    """Should the estimate have been short, the least worthy go until it fits."""
    taken = choice.taken
    while True:
        lines = _safe(_lines(taken, sections))
        left = known - len(taken)
        body = [fence.opening(_origin(facts)), *(line.text for line in lines)]
        if left > 0:
            body.append(CUT_LINE.format(left))
        text = redact("\n".join([*body, fence.closing()]))
        if units(text) <= limit or not taken:
            text = text if units(text) <= limit else ""
            return Brief(text, lines, role, taken, choice.allotment, choice.spent)
        taken = taken[:-1]


def _safe(lines: list[Line]) -> list[Line]:
    """The last word on every line, whichever field of a transcript it was made from."""
    if not are_clean(f"{one.text}\n{one.reason}" for one in lines):
        lines = [replace(one, text=redact(one.text), reason=redact(one.reason)) for one in lines]
    return [replace(one, text=fence.line(one.text), reason=fence.line(one.reason)) for one in lines]


def _lines(taken: list[Item], sections: Sequence[Section]) -> list[Line]:
    lines: list[Line] = []
    files = {one.key for one in taken if one.section == "files"}
    within: dict[str, list[Item]] = {}
    for one in sorted(taken, key=lambda item: item.order):
        place = "names" if one.section == "names" and one.under not in files else one.section
        if one.section == "names" and one.under in files:
            place = f"in {one.under}"
        within.setdefault(place, []).append(one)
    for section in sections:
        if mine := within.get(section.name):
            starred = section.name == "files" and any(one.text.endswith(EDITED) for one in mine)
            heading = section.heading + (STARRED if starred else "")
            lines.append(Line(f"## {heading}", "", Place()))
            lines += _section(section.name, mine, within)
    return lines


def _section(name: str, items: list[Item], within: dict[str, list[Item]]) -> Iterator[Line]:
    if name == "files":
        yield from _files(items, within)
    elif name == "names":
        yield from _names(items)
    elif name == "references":
        yield _row("", items)
    else:
        for item in items:
            yield Line(f"- {item.text}", item.reason, item.place)


def _names(items: list[Item]) -> Iterator[Line]:
    """Those of files that are not listed: file by file, then those of no file."""
    files: dict[str, list[Item]] = {}
    for item in items:
        files.setdefault(item.under, []).append(item)
    for file, inside in sorted(files.items(), key=lambda pair: not pair[0]):
        yield _row(f"{fence.clean(short(file))}: " if file else "", inside)


def _row(head: str, items: list[Item]) -> Line:
    text = ", ".join(item.text for item in items)
    return Line(f"- {head}{text}", items[0].reason, items[0].place)


def _files(items: list[Item], within: dict[str, list[Item]]) -> Iterator[Line]:
    """Folder by folder, the folder of the hottest file first."""
    folders: dict[str, list[Item]] = {}
    for item in items:
        folders.setdefault(item.under, []).append(item)
    for folder, inside in folders.items():
        if folder and len(inside) > 1:
            yield Line(folder, "", Place())
        for item in inside:
            named = within.get(f"in {item.key}", [])
            names = ": " + ", ".join(name.text for name in named) if named else ""
            whole = folder if len(inside) == 1 else ""
            yield Line(f"- {whole}{item.text}{names}", item.reason, item.place)
