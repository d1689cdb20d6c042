"""Four roles, each a template file: which sections, in which order, with which share.

A line is `name share heading`; what begins with `#` is a remark. A file of the same name in
HOLDFAST_HOME/templates/ is used instead, and one with nothing usable in it is passed over.
"""

import msgspec

from holdfast.wire import places

ROLES = ("orchestrator", "developer", "specialist", "validator")
SECTIONS_WORDS = (
    "said marked pinned flight tasks failing files commands decisions references agents messages "
    "fixed names questions about archived"
)
SECTIONS = frozenset(SECTIONS_WORDS.split())
_FORMER = {"task": "said"}  # as templates of earlier releases call it
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


# What must be told even where a user's own template, perhaps an older one, does not know of it.
ALWAYS = (
    Section("said", 0.35, "What the user said, in order"),
    Section("marked", 0.05, "Marked as binding"),
    Section("pinned", 0.03, "Pinned"),
)


def role_for(agent_type: str, *, has_agents: bool = False) -> str:
    """By the agent's type; the main session leads when it has agents, and else develops."""
    if not agent_type:
        return "orchestrator" if has_agents else "developer"
    low = agent_type.lower()
    return next((role for role, cues in _BY_TYPE if any(cue in low for cue in cues)), "developer")


def sections_of(role: str) -> list[Section]:
    """The template of a role: the user's own, else ours."""
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
