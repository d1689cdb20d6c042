"""A change as a person reads it: a unified diff."""

from __future__ import annotations

import difflib
import json

from holdfast.setup.changes import Change

LONGEST_LINE = 400  # beyond this a text is one line for a machine; it is shown indented


def unified(change: Change) -> str:
    """The change, line by line; texts that are one long line are indented to be read."""
    before, after = _text(change.before), _text(change.after)
    name = str(change.path)
    old = name if change.before is not None else "/dev/null"
    new = name if change.after is not None else "/dev/null"
    if max(map(len, (before + "\n" + after).splitlines()), default=0) > LONGEST_LINE:
        before, after = _indented(before), _indented(after)
        new += " (indented here to be read)"
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), old, new, lineterm="")
    return "\n".join(lines)


def counted(change: Change) -> tuple[int, int]:
    """How many lines it adds, and how many it takes away."""
    lines = unified(change).splitlines()[2:]
    return sum(line[:1] == "+" for line in lines), sum(line[:1] == "-" for line in lines)


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def _indented(text: str) -> str:
    try:
        return json.dumps(json.loads(text.removeprefix("\ufeff")), indent=2, ensure_ascii=False)
    except ValueError:
        return text
