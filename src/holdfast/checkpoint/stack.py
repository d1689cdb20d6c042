"""Framework and dependencies of a session's project: from its folder while it is there, else from
what the session read."""

from __future__ import annotations

from holdfast.record import manifests
from holdfast.record.model import Record
from holdfast.wire import places

FRAMEWORKS = manifests.FRAMEWORKS
LARGEST_BYTES = 64 << 10


def dependencies(facts: Record) -> list[str]:
    """Names the project's own manifests list, in their order."""
    found: dict[str, None] = {}
    for root in facts.roots[:1]:
        for name in manifests.NAMES if root.startswith("/") else ():
            text = places.read_small(f"{root}/{name}", LARGEST_BYTES).decode("utf-8", "replace")
            found.update(dict.fromkeys(manifests.dependencies(name, text)))
    for listed in facts.dependencies.values() if not found else ():
        found.update(dict.fromkeys(listed))
    return list(found)


def frameworks(names: list[str]) -> list[str]:
    known = (FRAMEWORKS.get(name.lower(), "") for name in names)
    return [name for name in dict.fromkeys(known) if name]
