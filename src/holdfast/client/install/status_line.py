"""The user's own status line, which ours runs first: found at install, kept for the entry to read.

The receipts are the truth; `HOLDFAST_HOME/statusline.json` is made from them:
{"version": 1, "command": "...", "projects": {"/a/project": "..." or null}}
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from holdfast.client.install import receipt as receipts
from holdfast.client.install.changes import Change, bytes_of
from holdfast.client.install.found import settings_in
from holdfast.client.install.receipt import Receipt
from holdfast.client.install.scopes import BELOW, Target, settings_file
from holdfast.client.install.settings_text import their_status_command
from holdfast.client.install.wiring import is_ours


def command_to_wrap(target: Target, home: Path, ours: Path) -> str | None:
    """What the status line would run without us: this file's own, else that of the scopes below."""
    if target.scope not in BELOW:
        return None  # a plugin cannot set a status line
    for scope in (target.scope, *BELOW[target.scope]):
        path = settings_file(scope, home, target.project or home)
        command = their_status_command(settings_in(path))
        if command is None:
            continue
        if not is_ours(command):
            return command
        known = receipts.load(ours, path)  # never wrap ourselves: that would not end
        if known is not None and known.wrapped is not None:
            return known.wrapped
    return None


def index(ours: Path, kept: Sequence[Receipt]) -> Change:
    """statusline.json as these receipts want it; no file when there is nothing to wrap."""
    path = ours / "statusline.json"
    users = [receipt.wrapped for receipt in kept if receipt.scope == "user"]
    projects = {receipt.project: receipt.wrapped for receipt in kept if receipt.project}
    wrapped = [command for command in (*users, *projects.values()) if command is not None]
    if not wrapped:
        return Change(path, bytes_of(path), None, private=True)
    plain: dict[str, object] = {"version": 1, "command": wrapped[0]}
    if projects:
        plain["projects"] = projects
    return Change(path, bytes_of(path), json.dumps(plain, indent=2).encode() + b"\n", private=True)
