"""What a role works with is worth more to it, so that it finds room before the rest."""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from holdfast.brief.item import STILL_RUNNING, Item
from holdfast.record.model import Record

# Files that were edited; tests and builds; what subagents that have ended returned.
CHANGED, CHECKED, RETURNED = "changed", "checked", "returned"
# By section, or by one of the kinds above. The developer's brief is the measure: all is worth 1.
WEIGHTS = {
    "orchestrator": {RETURNED: 6.0, "messages": 6.0, "agents": 2.0, "tasks": 1.5},
    "specialist": {CHANGED: 3.0, "flight": 3.0, RETURNED: 0.1, "messages": 0.1},
    "validator": {CHANGED: 3.0, CHECKED: 3.0, "failing": 3.0, "fixed": 10.0, "names": 0.3},
}
# What a role works with does not fade: a change of long ago is a change.
LEAST = {CHANGED: 0.02, CHECKED: 0.02, RETURNED: 0.005}
BEHIND = 1e4  # files that were only read come after all that were changed


def emphasised(items: Iterable[Item], role: str, record: Record) -> list[Item]:
    """The same items at their worth to this role; to whom changes matter, those first."""
    weights = WEIGHTS.get(role)
    if not weights:
        return list(items)
    return [one if one.pinned else _weighed(one, weights, record) for one in items]


def _weighed(item: Item, weights: Mapping[str, float], record: Record) -> Item:
    kind = _kind(item, record)
    weight = weights.get(kind, 1.0)
    worth = max(item.worth * weight, LEAST.get(kind, 0.0) if weight > 1 else 0.0)
    behind = BEHIND if CHANGED in weights and kind == "files" else 0.0
    return replace(item, worth=worth, order=item.order + behind)


def _kind(item: Item, record: Record) -> str:
    if item.section == "files":
        used = record.files.get(item.key)
        return CHANGED if used and used.edits else item.section
    if item.section == "commands":
        ran = record.commands.get(item.key)
        return CHECKED if ran and ran.kind else item.section
    if item.section == "agents":
        return item.section if item.reason == STILL_RUNNING else RETURNED
    return item.section
