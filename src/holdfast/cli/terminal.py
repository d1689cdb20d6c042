"""Print safely: wrapped between words, in colour on a terminal, and without control characters.

Paths, branches, tasks and names come from anywhere. An escape sequence in one could clear the
screen or forge a line, and a direction override could show a path backwards. So the streams
themselves remove such characters, whichever command prints. Colours (`ESC [ … m`) pass.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Literal, TextIO

from holdfast.text import fence
from holdfast.text.numbers import Progress, silent
from holdfast.wire.log import inert

if TYPE_CHECKING:
    from rich.console import RenderableType

REPLACEMENT = "?"
# What stands for our own signs in a terminal that lacks them
SIGNS = "▁▂▃▄▅▆▇█▓░─▲△└·←→↳⏎“”‘’–"  # noqa: RUF001
IN_ASCII = {**dict(zip(SIGNS, "_.:-=+*##.-^^`-<>>|\"\"''-", strict=True)), "…": "..."}
_RANGES = (
    (0x00, 0x08),  # C0 without tab and line end; escape is handled below
    (0x0B, 0x1A),
    (0x1C, 0x1F),
    (0x7F, 0x9F),  # delete, C1: U+009B alone begins a sequence
    (0x061C, 0x061C),  # marks and overrides of direction
    (0x200E, 0x200F),
    (0x2028, 0x202E),  # line and paragraph separators among them
    (0x2066, 0x2069),
    (0xFEFF, 0xFEFF),
    (0xD800, 0xDFFF),  # half characters: no UTF-8 holds them
    (0xE0000, 0xE007F),  # invisible tags
)
ACTING = {code: REPLACEMENT for first, last in _RANGES for code in range(first, last + 1)}
_NO_COLOUR = re.compile(r"\x1b(?!\[[0-9;]*m)")
COLOURS = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
    "orange": "38;5;208",
}
WIDE = 120  # columns; longer lines of prose are hard to read
MOST_COLUMNS = 10_000  # of a table in a pipe
LEAST_TEXT = 20  # columns right of an indentation; with fewer, lines are not indented


def say(text: str = "", *, err: bool = False, hang: int = 2) -> None:
    """Print; on a terminal each line is wrapped between words. Where a line goes on, it is indented
    by `hang` columns more than it began."""
    stream = sys.stderr if err else sys.stdout
    print(wrap(text, columns(stream), hang), file=stream, flush=True)


def columns(stream: TextIO | None = None) -> int:
    """Return the width to wrap at. It is 0 in a pipe or a file, where a program wants complete
    lines, unless `COLUMNS` is set."""
    stream = stream or sys.stdout
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return min(WIDE, os.get_terminal_size(stream.fileno()).columns) if stream.isatty() else 0
    except (OSError, ValueError):  # no real stream: under test, or closed
        return 0


def wrap(text: str, width: int, hang: int = 2) -> str:
    """Wrap text at `width`. A longer word is not broken. With 0, the text is returned as it is."""
    if not width:
        return text
    return "\n".join(_fill(line, width, hang) for line in text.split("\n"))


def _fill(line: str, width: int, hang: int) -> str:
    if len(line) <= width:
        return line
    import textwrap

    lead = len(line) - len(line.lstrip(" ")) + hang
    indent = " " * (lead if lead + LEAST_TEXT <= width else 0)
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def paint(text: str, *colours: str, err: bool = False) -> str:
    if not text or not has_colour(sys.stderr if err else sys.stdout):
        return text
    return f"\x1b[{';'.join(COLOURS[name] for name in colours)}m{text}\x1b[0m"


def has_colour(stream: TextIO) -> bool:
    """Return whether to use colours: never in a pipe or a file, and never under NO_COLOR.
    FORCE_COLOR is for a pager that shows colours."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def draw(*parts: RenderableType) -> None:
    print("\n".join(lines_of(parts)), flush=True)


def lines_of(parts: Sequence[RenderableType]) -> list[str]:
    """Draw into lines, with rich. In a pipe none is cut or wrapped, and none ends with blanks."""
    from rich.console import Console
    from rich.measure import Measurement

    colours: Literal["auto"] | None = "auto" if has_colour(sys.stdout) else None
    console = Console(
        width=columns() or MOST_COLUMNS, highlight=False, emoji=False, color_system=colours
    )
    if not columns():
        widths = (Measurement.get(console, console.options, part).maximum for part in parts)
        console.width = max(WIDE, *widths)
    with console.capture() as drawn:
        for part in parts:
            console.print(part)
    return [line.rstrip() for line in drawn.get().splitlines()]


def draw_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows, and their headings to stderr: stdout is data. The last column is cut if the
    terminal is narrow."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in headings:
        table.add_column(heading, no_wrap=heading != headings[-1], overflow="ellipsis")
    for row in rows:
        table.add_row(*(Text(inert(cell, MOST_COLUMNS), no_wrap=True) for cell in row))
    heading, *lines = lines_of([table])
    print(heading, file=sys.stderr, flush=True)
    print("\n".join(lines), flush=True)


def print_json(value: object) -> None:
    print(json.dumps(value, indent=2), flush=True)


def clean(text: str) -> str:
    """Make text for a line safe: anyone may have written it, and a model may read it, so no tag in
    it may work."""
    return inert(fence.clean(text))


def safe(text: str) -> str:
    """Replace every character that would act on a terminal by "?"; line ends and tabs stay."""
    return _NO_COLOUR.sub(REPLACEMENT, text.translate(ACTING))


def _to_ascii(error: UnicodeError) -> tuple[str, int]:
    """Write what a terminal lacks in ASCII: a sign of ours as a similar one, the rest as "?"."""
    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end]
    return "".join(IN_ASCII.get(sign, REPLACEMENT) for sign in lacking), error.end


TO_ASCII = "holdfast-ascii"
codecs.register_error(TO_ASCII, _to_ascii)


class SafeStream(io.TextIOWrapper):
    """Standard output or error, filtered by `safe`; `raw_stream` is the unfiltered one."""

    raw_stream: TextIO

    def write(self, text: str, /) -> int:
        super().write(safe(text))
        return len(text)


@contextmanager
def safe_streams() -> Iterator[None]:
    """Make standard output and error safe inside this block."""
    before = sys.stdout, sys.stderr
    inside = [_guard(stream) for stream in before]
    sys.stdout, sys.stderr = inside
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for ours, theirs in zip(inside, before, strict=True):
            if isinstance(ours, SafeStream) and ours is not theirs:
                _let_go(ours)


def unfiltered(stream: TextIO) -> TextIO:
    """Return the unfiltered stream, for code that moves the cursor and prints only safe text."""
    return stream.raw_stream if isinstance(stream, SafeStream) else stream


def _guard(stream: TextIO) -> TextIO:
    if isinstance(stream, SafeStream) or not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.flush()
    safe_stream = SafeStream(
        stream.buffer,
        encoding=stream.encoding,
        errors=TO_ASCII,
        newline="\n",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
    safe_stream.raw_stream = stream
    return safe_stream


def _let_go(stream: SafeStream) -> None:
    """Detach from the stream below without closing it. Write errors (a closed pipe, a full disk)
    appear when that one is flushed."""
    with suppress(OSError, ValueError):
        stream.flush()
    with suppress(OSError, ValueError):
        stream.detach()


AFTER_SECONDS = 1.0  # of work, until it is shown
EVERY_SECONDS = 0.1  # between two updates: a transcript has a hundred thousand lines


@contextmanager
def working(what: str) -> Iterator[Progress]:
    """Show on a terminal that a command is at work; yields a function that says how far it is."""
    if not sys.stderr.isatty():
        yield silent
        return
    from threading import Timer

    from rich import progress
    from rich.console import Console

    bar = progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TextColumn("{task.fields[count]}"),
        console=Console(file=unfiltered(sys.stderr)),
        transient=True,
    )
    task, told_at = bar.add_task(what, total=None, count=""), 0.0

    def tell(words: str, done: int, total: int) -> None:
        nonlocal told_at
        if time.monotonic() < told_at + EVERY_SECONDS:
            return
        told_at = time.monotonic()
        count = f"{done:,} of {total:,}"
        bar.update(task, description=words, completed=done, total=total, count=count)

    timer = Timer(AFTER_SECONDS, bar.start)
    timer.start()
    try:
        yield tell
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def confirm(question: str, show: Callable[[], None] | None = None) -> None:
    """Ask; anything but a yes ends the command. `show` shows the details on a `d`."""
    import click

    question, hint = f"{question} [y/N{'/d' if show else ''}]", ""
    try:
        while True:
            answer = click.prompt(question, default="n", show_default=False, err=True)
            if answer.strip().lower() in ("y", "yes"):
                return
            if answer.strip().lower() != "d" or show is None:
                break
            show()
    except click.Abort:  # the end of the input, or Ctrl-C
        hint = "" if sys.stdin.isatty() else " With --yes it goes on without a question."
        say(err=True)
    say(f"Nothing was changed.{hint}", err=True)
    sys.exit(1)


ALERT_PAINT = {"warning": "yellow", "advisory": "orange", "urgent": "red", "critical": "red"}


def bar(used_ratio: float, zone: str, width: int = 40) -> str:
    """Draw a bar; its full length is the compaction limit."""
    filled = min(width, max(0, round(used_ratio * width)))
    return paint("█" * filled, zone) + paint("░" * (width - filled), "dim")


def age(seconds: float) -> str:
    """Return how old something is, in its largest unit."""
    minutes = max(0.0, seconds / 60)
    if minutes < 90:
        return f"{minutes:.0f} min"
    return f"{minutes / 60:.0f} h" if minutes < 2880 else f"{minutes / 1440:.0f} days"
