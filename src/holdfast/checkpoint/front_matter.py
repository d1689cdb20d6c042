"""The front matter: a strict subset of YAML, so that any YAML reader can read it and we need none.

`key: value` lines, where a value is a JSON string, a whole number, `true` or `false`. No PyYAML:
its import alone costs 3.4 times an interpreter's start, and a hook writes this.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from holdfast.checkpoint.errors import DamagedCheckpoint
from holdfast.text.fence import acting

Value = str | int | bool
# The fields that a document has under the same name.
_SAME = "trigger project session_id agent_id iteration parent summary state_hash"
SAME = tuple(_SAME.split())
FIELDS = ("version", "created", *SAME, "verified")
HASH = "content_hash"
PART = "front matter"


def write(values: Mapping[str, Value]) -> str:
    return "".join(f"{name}: {_write_value(values[name])}\n" for name in FIELDS)


def _write_value(value: Value) -> str:
    return quote(value) if isinstance(value, str) else json.dumps(value)


def quote(text: str) -> str:
    """Return a JSON string that means the same in YAML. Characters past U+FFFF are not escaped:
    JSON writes them as two halves, which YAML would read as two characters."""
    found = json.dumps(text, ensure_ascii=False)
    for character in set(acting(found)):
        if character <= "\uffff":
            found = found.replace(character, f"\\u{ord(character):04x}")
    return found


def read(lines: list[str]) -> dict[str, object]:
    """Read exactly the known fields, each once; the error names a newer version."""
    values: dict[str, object] = {}
    for line in lines:
        name, colon, text = line.partition(": ")
        if not colon or name in values:
            raise DamagedCheckpoint(PART, f"not understood: {line[:60]!r}")
        try:
            values[name] = json.loads(text)
        except (ValueError, RecursionError):
            raise DamagedCheckpoint(PART, f"{name} has an invalid value: {text[:60]!r}") from None
    version = values.get("version")
    if type(version) is int and version > 1:
        raise DamagedCheckpoint(PART, f"version {version} was written by a newer Holdfast")
    if odd := sorted(values.keys() ^ {*FIELDS, HASH}):
        raise DamagedCheckpoint(PART, f"missing or unknown: {odd[0][:60]!r}")
    return values
