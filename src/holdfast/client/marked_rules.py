"""Rules marked (ENFORCED) or (CRITICAL) that the client does not bring back by itself.

CLAUDE.md of user, project and folder come back after a compaction; the one in the client's own
folder for a project (`~/.claude/projects/<path>/CLAUDE.md`) is never loaded.
"""

from __future__ import annotations

import os

from holdfast.wire import places

MARKS = ("(ENFORCED)", "(CRITICAL)")
MOST_BYTES = 256 << 10
MOST_RULES, MOST_CHARS = 12, 300


def marked_rules(project: str) -> list[str]:
    """The marked lines, without their list bullets, as far as a brief has room for them."""
    home = os.environ.get("CLAUDE_CONFIG_DIR") or os.environ.get("HOME", "") + "/.claude"
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in project)
    data = places.read_small(f"{home}/projects/{slug}/CLAUDE.md", MOST_BYTES)
    lines = data.decode("utf-8", "replace").splitlines()
    found = [line.strip().lstrip("-*# ") for line in lines if any(mark in line for mark in MARKS)]
    return [rule[:MOST_CHARS] for rule in found][:MOST_RULES]
