"""Write the types of the dashboard from the descriptions of the routes: what the page reads is what
the interface answers.

    python docs/page_types.py            write them
    python docs/page_types.py --check    end with 1 if they are not up to date
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastapi.openapi.utils import get_openapi

from holdfast.api.app import ROUTES

PATH = Path(__file__).parents[1] / "dashboard" / "src" / "lib" / "answers.ts"
HEAD = "/** What the routes answer, made from their descriptions by `make reference`. */\n"
ROOTS = {  # the name in the interface, and on the page where that is shorter
    "AgentCapacity": "WindowState",
    "Project": "",
    "DayTotals": "Today",
    "ReadingList": "Readings",
    "SessionTurnList": "Turns",
    "SessionTurn": "Turn",
    "SessionState": "",
    "FileDiff": "",
    "CompactionRow": "CompactionSummary",
    "CompactionDetail": "Compaction",
    "CompactedItem": "MeasuredItem",
    "RestoredLine": "BriefLine",
    "History": "",
    "HistorySession": "",
    "UsageSums": "Usage",
    "NamedTokens": "Tokens",
    "MachineHealth": "",
    "CheckpointRow": "Checkpoint",
    "CheckpointDetail": "",
    "CheckpointDiff": "",
    "SearchResult": "SearchHit",
    "SearchResultList": "SearchAnswer",
    "SearchSource": "SearchItem",
    "SettingShown": "Setting",
    "SettingList": "Settings",
    "BudgetShown": "Budget",
    "BudgetItem": "",
    "BudgetPart": "",
    "BudgetPin": "Pin",
    "RawMessage": "BoardMessage",
    "MessageList": "",
    "BlockingSince": "Blocking",
    "Claim": "",
    "Hierarchy": "",
    "HierarchyRequest": "WorkRequest",
    "TaskWithSubtasks": "Task",
    "AuditEvent": "",
    "LogLineShown": "LogLine",
    "ServerDescription": "",
    "ServerHealth": "",
}
SIMPLE = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}


def write() -> str:
    """Return the file: each type that a root needs, by name."""
    schemas = get_openapi(title="", version="", routes=ROUTES)["components"]["schemas"]
    needed: dict[str, str] = {}
    waiting = list(ROOTS)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed[name] = _interface(name, schemas[name])
            waiting += _references(schemas[name])
    return HEAD + "".join(needed[name] for name in sorted(needed))


def _interface(name: str, schema: dict[str, Any]) -> str:
    fields = (f"  {field}: {_type(of)};\n" for field, of in schema.get("properties", {}).items())
    return f"\nexport interface {_named(name)} {{\n{''.join(fields)}}}\n"


def _named(name: str) -> str:
    return ROOTS.get(name) or name


def _type(of: dict[str, Any]) -> str:
    if "$ref" in of:
        return _named(of["$ref"].rpartition("/")[2])
    if "anyOf" in of:
        return " | ".join(dict.fromkeys(map(_type, of["anyOf"])))
    if "enum" in of:
        return " | ".join(f'"{value}"' for value in of["enum"])
    kind = of.get("type")
    if kind == "array":
        inner = _type(of.get("items", {}))
        return f"({inner})[]" if " " in inner else f"{inner}[]"
    if kind == "object":
        more = of.get("additionalProperties")
        return f"Record<string, {_type(more) if isinstance(more, dict) else 'unknown'}>"
    return "null" if kind == "null" else SIMPLE.get(str(kind), "unknown")


def _references(of: Any) -> Iterator[str]:
    if isinstance(of, dict):
        if "$ref" in of:
            yield of["$ref"].rpartition("/")[2]
        for value in of.values():
            yield from _references(value)
    elif isinstance(of, list):
        for value in of:
            yield from _references(value)


def main() -> int:
    text = write()
    if "--check" in sys.argv:
        return int(PATH.read_text("utf-8") != text)
    PATH.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
