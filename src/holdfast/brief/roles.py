"""Four roles, each with a template file: which sections, in which order, with which share.

A line is `name share heading`; a line that begins with `#` is a comment. What stands before
`flight` is what the role is for: it comes next after the user's words. A file of the same
name in HOLDFAST_HOME/templates/ replaces it, unless nothing in it can be used.
"""

import msgspec

from holdfast.wire import places

ROLES = ("orchestrator", "developer", "specialist", "validator")
MAIN = ROLES[:2]  # a main session leads and develops
SECTIONS_WORDS = (
    "pinned marked request own flight waves blocked returned tasks plan failing unchecked "
    "questions agents messages said unsure decisions files commands about archived"
)
SECTIONS = tuple(SECTIONS_WORDS.split())  # in the order of a main session's brief
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
    """Return the role of an agent's type. A main session with agents is the orchestrator."""
    if not agent_type:
        return "orchestrator" if has_agents else "developer"
    low = agent_type.lower()
    return next((role for role, cues in _BY_TYPE if any(cue in low for cue in cues)), "developer")


def sections_of(role: str, *, chosen: bool = True) -> list[Section]:
    """Return the template of a role: the user's own, else ours. A role that nobody has `chosen` is
    that of a main session, which leads and develops: it has the sections of both."""
    role = role if role in ROLES else "developer"
    sections = _template(f"{places.home()}/templates", role)
    if not sections:
        others = [] if chosen else [name for name in MAIN if name != role]
        sections = [section for name in (role, *others) for section in _template(_FOLDER, name)]
        if not chosen:
            by_name = {section.name: section for section in reversed(sections)}
            sections = [by_name[name] for name in SECTIONS if name in by_name]
    names = {section.name for section in sections}
    return [*(section for section in ALWAYS if section.name not in names), *sections]


def _template(folder: str, role: str) -> list[Section]:
    return parse(places.read_small(f"{folder}/{role}.txt").decode("utf-8", "replace"))


def parse(text: str) -> list[Section]:
    sections: dict[str, Section] = {}
    for line in text.splitlines():
        name, _, rest = line.strip().partition(" ")
        name = _FORMER.get(name, name)
        share, _, heading = rest.strip().partition(" ")
        if name in SECTIONS and share.isdigit() and heading.strip():
            sections[name] = Section(name, min(int(share), 100) / 100, heading.strip()[:80])
    return list(sections.values())
