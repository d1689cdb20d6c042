"""`holdfast watch`: every window on this machine, live, until Ctrl-C."""

from __future__ import annotations

import signal
import sys
import time
from functools import lru_cache
from typing import Any

import click
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.constrain import Constrain
from rich.live import Live
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from holdfast.cli import sessions, terminal
from holdfast.cli.start import SignalFlag, until_signalled
from holdfast.cli.status import report
from holdfast.cli.terminal import say, unfiltered
from holdfast.record.user_input import first_words
from holdfast.redact import redact
from holdfast.text.sentences import title_of
from holdfast.transcript import Unreadable
from holdfast.window import alert_texts
from holdfast.window.state import State
from holdfast.window.velocity import in_words
from holdfast.window.windows import is_live
from holdfast.wire.log import inert

EMPTY = "No session is running. Start Claude Code in a project."
BAR, SHORT_BAR = 10, 4
EVERY_SECONDS = 2.0
ECHO_CHARS = 2  # a terminal shows ^C where a frame ends: on the next line, two would be seen
MOST_PATH = 4_096
NARROW = 80  # columns of a terminal; below, the bar is short: the number beside it says the same
TITLE_CHARS = 120


@click.command()
@click.option("--once", is_flag=True, help="Look once, then end.")
def watch(once: bool) -> None:
    """Show every session on this machine, live.

    One row for each session and subagent, refreshed every two seconds, until Ctrl-C.
    """
    console = Console(file=unfiltered(sys.stdout))
    if once:
        console.print(_drawn(_rows(), console.width))
        return
    say(f"every {EVERY_SECONDS:g} s; Ctrl-C stops it", err=True)
    # a signal in the middle of a frame would show its head twice
    with until_signalled(signal.SIGINT) as ended:
        if console.is_terminal:
            _draw_frames(console, ended)
        else:
            _print_frames(terminal.console(), ended)
    raise click.Abort


def _draw_frames(console: Console, ended: SignalFlag) -> None:
    with Live(_frame(console), console=console, auto_refresh=False, screen=False) as live:
        while not ended.wait(EVERY_SECONDS):
            live.update(_frame(console), refresh=True)


def _print_frames(console: Console, ended: SignalFlag) -> None:
    """Print one table below the other into a pipe or file: there, `Live` prints only its last."""
    console.print(_drawn(_rows(), console.width))
    while not ended.wait(EVERY_SECONDS):
        console.print(_drawn(_rows(), console.width))


def _frame(console: Console) -> Constrain:
    wide = max(1, console.width - ECHO_CHARS)
    return Constrain(_drawn(_rows(), wide), wide)


def _rows() -> list[dict[str, Any]]:
    """The live windows, as the dashboard counts them: what compacts next first, agents under their
    session."""
    now_ms = int(time.time() * 1000)
    known = sessions.windows()
    live = (window for window in known if is_live(window.folder, window.state, now_ms))
    rows = [report(window) | {"title": _title(window.state)} for window in live]
    rows.sort(key=_urgency)
    first = {row["session_id"]: at for at, row in reversed(list(enumerate(rows)))}
    return sorted(rows, key=lambda row: (first[row["session_id"]], bool(row["agent_id"])))


def _urgency(row: dict[str, Any]) -> tuple[float, ...]:
    """Red and orange first, then by the steps that are shown, then by how full it is."""
    zone = {"red": 0, "orange": 1}.get(row["zone"], 2)
    steps = row["ops_left"]
    if steps is None or row["compacting"]:
        return zone, float("inf"), -row["used_ratio"]
    return zone, steps, -row["used_ratio"]


def _title(state: State) -> str:
    """What a session was asked first; what kind an agent is."""
    if state.agent_id:
        return f"└ {inert(state.agent_type or state.agent_id, TITLE_CHARS)}"
    return _first_words(state.transcript)


@lru_cache(1_000)
def _first_words(transcript: str) -> str:
    try:
        return title_of(redact(first_words(transcript)))
    except (OSError, Unreadable):
        return ""


def _drawn(rows: list[dict[str, Any]], width: int) -> Table | Text:
    return _table(rows, width) if rows else Text(EMPTY)


def _table(rows: list[dict[str, Any]], width: int) -> Table:
    """Build the table. If there is little room, it has no titles, and folders are cut at their
    start: those of one machine begin alike."""
    table = Table(box=None, pad_edge=False)
    wide = width >= NARROW
    for heading in ("session", "context", "", "left", "alert"):
        table.add_column(heading, no_wrap=True)
    if wide:
        table.add_column("asked first", no_wrap=True, ratio=2)
    table.add_column("folder", ratio=1 if wide else None)
    for row in rows:
        zone = str(row["zone"])
        about = alert_texts.estimate_mark(row["estimated"])
        table.add_row(
            _cell("" if row["agent_id"] else row["session_id"], 8),
            Text.from_ansi(terminal.bar(row["used_ratio"], zone, BAR if wide else SHORT_BAR)),
            "compacting" if row["compacting"] else f"{about}{row['used_ratio']:.0%}",
            in_words(row["ops_left"]) or "?",
            str(row["alert"] or ""),
            *((_cell(row["title"], TITLE_CHARS),) if wide else ()),
            PathEnd(inert(str(row["cwd"] or ""), MOST_PATH)),
        )
    return table


def _cell(value: object, most: int) -> Text:
    """Make text from anywhere safe: neither markup nor escapes work in it."""
    return Text(inert(str(value or ""), most))


class PathEnd:
    def __init__(self, path: str) -> None:
        self._path = path

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(end_of(self._path, options.max_width), no_wrap=True)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, max(1, cell_len(self._path))).with_maximum(options.max_width)


def end_of(path: str, width: int) -> str:
    """Return the end of a text in at most this many columns, with a mark if it was cut."""
    if cell_len(path) <= width:
        return path
    at = 0
    while at < len(path) and cell_len(path[at:]) >= width:
        at += 1
    return f"…{path[at:]}"
