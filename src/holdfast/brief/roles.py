"""Four roles, each with a template file: which sections, in which order, with which share.

A line is `name share heading`; a line that begins with `#` is a comment. A file of the same name in
HOLDFAST_HOME/templates/ replaces it, unless nothing in it can be used.
"""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from holdfast.brief.item import STILL_RUNNING, BriefItem
from holdfast.record.model import Record
from holdfast.wire import places

ROLES = ("orchestrator", "developer", "specialist", "validator")
SECTIONS_WORDS = (
    "pinned marked request flight tasks plan failing questions agents messages said unsure "
    "decisions files names commands about archived"
)
SECTIONS = frozenset(SECTIONS_WORDS.split())
_FORMER = {"task": "said"}  # its name in templates of earlier releases
_FOLDER = f"{__file__.rpartition('/')[0]}/roles"
_BY_TYPE = (
    ("orchestrator", ("orchestrat", "tech-lead", "planner", "coordinator")),
    ("developer", ("developer", "backend", "frontend", "engineer", "general-purpose")),
    ("specialist", ("specialist", "expert", "explore", "research", "architect")),
    ("validator", ("validat", "review", "test", "qa", "audit", "lint")),
)


class Section(msgspec.Struct, frozen=True):
    name: str
    share: float
    heading: str


# These are shown even if a user's own, perhaps older, template does not list them.
ALWAYS = (
    Section("pinned", 0.03, "Pinned"),
    Section("marked", 0.05, "Marked as binding"),
    Section("request", 0.0, "What the user said last"),
    Section("said", 0.35, "What the user said before, in order"),
    Section("unsure", 0.0, "Not certain who said this"),
)


def role_for(agent_type: str, *, has_agents: bool = False) -> str:
    """Return the role for an agent's type. The main session is the orchestrator if it has agents,
    else the developer."""
    if not agent_type:
        return "orchestrator" if has_agents else "developer"
    low = agent_type.lower()
    return next((role for role, cues in _BY_TYPE if any(cue in low for cue in cues)), "developer")


def sections_of(role: str) -> list[Section]:
    """Return the template of a role: the user's own, else ours."""
    role = role if role in ROLES else "developer"
    for folder in (f"{places.home()}/templates", _FOLDER):
        found = parse(places.read_small(f"{folder}/{role}.txt").decode("utf-8", "replace"))
        if found:
            names = {one.name for one in found}
            return [*(one for one in ALWAYS if one.name not in names), *found]
    return []


def parse(text: str) -> list[Section]:
    found: dict[str, Section] = {}
    for line in text.splitlines():
        name, _, rest = line.strip().partition(" ")
        name = _FORMER.get(name, name)
        share, _, heading = rest.strip().partition(" ")
        if name in SECTIONS and share.isdigit() and heading.strip():
            found[name] = Section(name, min(int(share), 100) / 100, heading.strip()[:80])
    return list(found.values())


# Edited files; commands that failed once; results of subagents that have ended.
CHANGED, CHECKED, RETURNED = "changed", "checked", "returned"
# By section, or by one of the kinds above. For the developer every weight is 1.
WEIGHTS = {
    "orchestrator": {RETURNED: 6.0, "messages": 6.0, "agents": 2.0, "tasks": 1.5},
    "specialist": {CHANGED: 3.0, "flight": 3.0, RETURNED: 0.1, "messages": 0.1},
    "validator": {CHANGED: 3.0, CHECKED: 3.0, "failing": 3.0, "names": 0.3},
}
# What a role works with does not fade: an old change is still a change.
LEAST = {CHANGED: 0.02, CHECKED: 0.02, RETURNED: 0.005}
BEHIND = 1e4  # files that were only read come after all that were changed


def emphasise(items: Iterable[BriefItem], role: str, record: Record) -> list[BriefItem]:
    """Return the items with their worth for this role. If the role is about changes, changed files
    come first."""
    weights = WEIGHTS.get(role)
    if not weights:
        return list(items)
    return [one if one.pinned else _weighed(one, weights, record) for one in items]


def _weighed(item: BriefItem, weights: Mapping[str, float], record: Record) -> BriefItem:
    kind = _kind(item, record)
    weight = weights.get(kind, 1.0)
    worth = max(item.worth * weight, LEAST.get(kind, 0.0) if weight > 1 else 0.0)
    behind = BEHIND if CHANGED in weights and kind == "files" else 0.0
    return replace(item, worth=worth, order=item.order + behind)


def _kind(item: BriefItem, record: Record) -> str:
    if item.section == "files":
        used = record.files.get(item.key)
        return CHANGED if used and used.edits else item.section
    if item.section == "commands":
        ran = record.commands.get(item.key)
        return CHECKED if ran and ran.failed else item.section
    if item.section == "agents":
        return item.section if item.reason == STILL_RUNNING else RETURNED
    return item.section
