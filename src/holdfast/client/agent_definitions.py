"""What the definition of a subagent says of its window: `autoCompactWindow` in its front matter.

Read as client 2.1.325 does: Markdown files under `agents`, the project's before the user's. Agents
of plugins and of `--agents` are not looked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from holdfast.client.limit_settings import LEAST_WINDOW, MOST_WINDOW
from holdfast.wire import places

MOST_FILES = 500
HEAD_BYTES = 1 << 16


def window_of(agent_type: str, project: str, environ: Mapping[str, str]) -> int | None:
    """The window that caps this kind of agent; None where its definition sets none."""
    for path in _definitions(project, environ):
        front = _front_matter(path)
        if front.get("name") == agent_type:
            return _window(front.get("autoCompactWindow", ""))
    return None


def _definitions(project: str, environ: Mapping[str, str]) -> Iterator[Path]:
    home = environ.get("HOME", "")
    config = environ.get("CLAUDE_CONFIG_DIR") or (f"{home}/.claude" if home else "")
    left = MOST_FILES
    for folder in (f"{project}/.claude" if project else "", config):
        if not folder:
            continue
        for inside, _, names in os.walk(f"{folder}/agents"):
            for name in sorted(names):
                if name.endswith(".md") and left > 0:
                    left -= 1
                    yield Path(inside, name)


def _front_matter(path: Path) -> dict[str, str]:
    """Its plain `key: value` lines; enough for a name and a number."""
    try:
        head = places.read_small(str(path), HEAD_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return {}
    lines = head.splitlines()
    if not lines or lines[0].strip() != "---":
        return {}
    found: dict[str, str] = {}
    for line in lines[1:]:
        if line.strip() == "---":
            return found
        key, colon, value = line.partition(":")
        if colon and key == key.strip():
            found[key] = value.strip().strip("\"'")
    return {}


def _window(told: str) -> int | None:
    good = told.isdecimal() and len(told) < 9 and LEAST_WINDOW <= int(told) <= MOST_WINDOW
    return int(told) if good else None
