"""The workflow state that an orchestrating tool keeps in the project: `conductor-state.json`.

The file belongs to that tool and has no fixed form: an object with names, numbers, and lists of
specs. It is quoted in short; nothing in it is interpreted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from holdfast.text.fence import flat
from holdfast.wire import places, scan

SECTION = "Workflow State"
PLACES = ("conductor-state.json", ".claude/conductor-state.json")
MOST_LINES, MOST_CHARS = 40, 300


def read(project: str) -> tuple[str, dict[str, Any]]:
    """Return the file's path in the project and its content; both empty if there is none."""
    for place in PLACES:
        path = places.resolve_inside(project, place) if project else ""
        state = scan.parse_object(places.read_small(path)) if path else {}
        if state:
            return place, state
    return "", {}


def lines(state: Mapping[str, Any]) -> list[str]:
    """Return one line for each value, and for each item of a list: specs are quoted as they are."""
    found = [
        f"{key}: {one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)}"
        for key, value in state.items()
        for one in (value if isinstance(value, list) else [value])
        if one not in (None, "", [], {})
    ]
    return [flat(line, MOST_CHARS) for line in found[:MOST_LINES]]
