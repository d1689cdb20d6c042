"""A path in a table that is too narrow for it: its end is kept, which tells one from another."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text


class PathEnd:
    def __init__(self, path: str) -> None:
        self._path = path

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(end_of(self._path, options.max_width), no_wrap=True)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, max(1, cell_len(self._path))).with_maximum(options.max_width)


def end_of(path: str, width: int) -> str:
    """At most so many columns of it, and seen to be cut."""
    if cell_len(path) <= width:
        return path
    at = 0
    while at < len(path) and cell_len(path[at:]) >= width:
        at += 1
    return f"…{path[at:]}"
