"""Lines that the session's own model adds to its checkpoints: what was done, why, what was decided,
what is next. They stand in the sections under its name, also in later checkpoints of the window.

And the workflow state that an orchestrating tool keeps in the project, `conductor-state.json`. The
file belongs to that tool and has no fixed form: an object with names, numbers, and lists of specs.
It is quoted in short; nothing in it is interpreted.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from holdfast.record.model import Place, Record
from holdfast.record.turns import turn_number
from holdfast.redact.find import redact
from holdfast.text.fence import flat
from holdfast.text.sentences import clip
from holdfast.wire import places, scan

SECTIONS = {
    "what": "What Changed",
    "why": "Why Changed",
    "decided": "Key Decisions",
    "next": "Next Steps",
}
MOST_LINES, LINE_CHARS = 12, 300
WORKFLOW = "Workflow State"
WORKFLOW_PLACES = ("conductor-state.json", ".claude/conductor-state.json")
MOST_WORKFLOW_LINES = 40
UNKNOWN = "(not in the record)"
_CODE = re.compile(r"`([^`]+)`")
_PATH = re.compile(r"[\w.-]*(?:/[\w.-]+)+\.\w+")


class AddedLine(msgspec.Struct, frozen=True):
    kind: str  # a key of SECTIONS
    turn: int
    text: str

    @property
    def item(self) -> str:
        return f"Added by the model, turn {self.turn}: {self.text}"


def read(stored: str) -> list[AddedLine]:
    rows = (line.split(" ", 2) for line in stored.splitlines())
    lines = (row for row in rows if len(row) == 3 and row[0] in SECTIONS and row[1].isdecimal())
    return [AddedLine(kind, int(at), text) for kind, at, text in lines]


def add(stored: str, given: Mapping[str, Iterable[str]], record: Record) -> str:
    """Return the stored lines with new ones; of very many, the newest. The same words once."""
    turn = turn_number(record, Place(record.offset, "", record.op))
    new = [
        AddedLine(kind, turn, clip(_marked(words, record), LINE_CHARS))
        for kind, texts in given.items()
        for line in redact("\n".join(texts)).splitlines()  # a secret may have several lines
        if (words := flat(line, LINE_CHARS)).strip()
    ]
    fresh = {line.text: line for line in reversed(new)}
    lines = [*(line for line in read(stored) if line.text not in fresh), *reversed(fresh.values())]
    return "\n".join(f"{line.kind} {line.turn} {line.text}" for line in lines[-MOST_LINES:])


def _marked(text: str, record: Record) -> str:
    """Mark each path and each command in backticks that the transcript does not know."""
    for name in dict.fromkeys(_named(text)):
        if not _is_known(name, record):
            at = text.index(name) + len(name)
            at += text[at : at + 1] == "`"
            text = f"{text[:at]} {UNKNOWN}{text[at:]}"
    return text


def _named(text: str) -> Iterator[str]:
    yield from (code for code in _CODE.findall(text) if " " in code)
    yield from _PATH.findall(text)


def _is_known(name: str, record: Record) -> bool:
    """Whether the transcript names it before the call that adds the line: that has no result."""
    if any(name in turn.asked or name in turn.said for turn in record.turns):
        return True
    if any(name in line and command.ok is not None for line, command in record.commands.items()):
        return True
    return any(
        f"/{path}".endswith(f"/{name}") or f"/{path}/".rfind(f"/{name.rstrip('/')}/") >= 0
        for path, used in record.files.items()
        if used.reads or used.is_changed or used.op < record.op
    )


def read_workflow(project: str) -> tuple[str, dict[str, Any]]:
    """Return the file's path in the project and its content; both empty if there is none."""
    for place in WORKFLOW_PLACES:
        path = places.resolve_inside(project, place) if project else ""
        state = scan.parse_object(places.read_small(path)) if path else {}
        if state:
            return place, state
    return "", {}


def workflow_lines(state: Mapping[str, Any]) -> list[str]:
    lines = [
        f"{key}: {item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)}"
        for key, value in state.items()
        for item in (value if isinstance(value, list) else [value])
        if item not in (None, "", [], {})
    ]
    return [flat(line, LINE_CHARS) for line in lines[:MOST_WORKFLOW_LINES]]
