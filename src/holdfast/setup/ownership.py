"""Which Holdfast lines are ours: those of this package, and those that our receipts name.

Another virtual environment or another user may have a Holdfast of its own in the same file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdfast.setup import receipt as receipts
from holdfast.setup import wiring
from holdfast.setup.changes import bytes_of
from holdfast.setup.receipt import Receipt


def our_packages(home: Path) -> frozenset[str]:
    """The folders of this package, and of those that this HOLDFAST_HOME was installed from."""
    named = (_named_by(receipt) for receipt in receipts.load_all(home))
    return frozenset((wiring.this_program().package,)).union(*named)


def packages_in(data: bytes | None) -> frozenset[str]:
    """The packages whose hooks, status line or MCP server stand in a JSON text."""
    try:
        held = json.loads((data or b"{}").decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return frozenset()
    return frozenset(program.package for program in _programs(held))


def _named_by(receipt: Receipt) -> frozenset[str]:
    """Receipts of 0.1.0 name no package: what was not there before that install came with it."""
    if receipt.packages:
        return frozenset(receipt.packages)
    found = frozenset[str]()
    for file in receipt.files:
        found |= packages_in(_bytes(Path(file.path))) - packages_in(file.before)
    return found


def _bytes(path: Path) -> bytes | None:
    try:
        return bytes_of(path)
    except OSError:
        return None


def _programs(value: Any) -> Iterator[wiring.Program]:
    command, server = wiring.read_command(value), wiring.read_server(value)
    if command is not None:
        yield command.program
    if server is not None:
        yield server
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in inside:
        yield from _programs(part)
