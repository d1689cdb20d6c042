"""A settings file as Claude Code would see it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from holdfast.setup import settings_text
from holdfast.setup.changes import bytes_of
from holdfast.setup.errors import SettingsBroken


def settings_in(path: Path) -> dict[str, Any]:
    """Its settings; none where Claude Code could not read them either."""
    try:
        data = bytes_of(path)
        return settings_text.check(settings_text.or_empty((data or b"").decode()))
    except (OSError, UnicodeDecodeError, SettingsBroken):
        return {}


def installed_commands(
    path: Path, packages: Collection[str] | None = None
) -> list[tuple[str, str]]:
    """The very command lines of these packages, or of any Holdfast, that stand in a settings file
    or a plugin's hooks.json."""
    return settings_text.commands(settings_in(path), packages)
