"""A workflow as a picture: an SVG, or text that Mermaid draws.

The SVG shows batches from top to bottom, each with a bar for its tokens. It has a background of its
own, light or dark like the reader's screen, so that it can be read on any page. Every colour is
written twice: where styles are removed, the light ones remain.

The reader's fonts are unknown, so text is measured with the widths of a wide font (DejaVu Sans, as
fractions of its size): in any other font the text is shorter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from unicodedata import combining, east_asian_width

from holdfast.plan.split import TaskPiece
from holdfast.plan.workflow import TaskBatch, Workflow
from holdfast.text.numbers import counted, listed, named, short, step_of

WIDTH, MARGIN, LINE, GAP, BAR, INSET = 720, 24, 18, 34, 10, 10
LEFT, RIGHT = MARGIN + INSET, WIDTH - MARGIN - INSET
TITLE_LINES = 2
MOST_NAMED = 8  # files of a part, tasks it waits for
COLOURS = {  # light, dark
    "ground": ("#ffffff", "#0d1117"),
    "ink": ("#24292f", "#e6edf3"),
    "dim": ("#57606a", "#9198a1"),
    "box": ("#f6f8fa", "#151b23"),
    "edge": ("#d0d7de", "#3d444d"),
    "room": ("#dfe3e8", "#2f3742"),
    "mark": ("#0969da", "#4493f8"),
    "fits": ("#3fa34d", "#3fa34d"),
    "may": ("#d4a72c", "#d4a72c"),
    "not": ("#cf222e", "#f0524c"),
}
WORDS = {
    "fits": "what it takes (paler: up to the end of its range)",
    "may": "the end of its range does not fit",
    "not": "does not fit",
    "room": "the room",
}
FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"
MOST_BATCHES = 400  # a picture of more shows nothing
LONGEST_LABEL = 60
NARROW = frozenset("iIjlfrt.,:;'`|!()[]{}/\\- \"")
WIDE = frozenset("mwMWOQGD@%&—…")
SIZE = 12


def draw_svg(workflow: Workflow) -> str:
    shown = workflow.batches[:MOST_BATCHES]
    sheet = _Sheet()
    sheet.text(MARGIN, MARGIN, named(workflow.title or "plan"), size=14, bold=True, most=1)
    size = f"{counted(len(workflow.batches), 'batch')}, {workflow.size}"
    sheet.text(MARGIN, MARGIN + LINE, size if shown else "nothing left to do", colour="dim")
    sheet.top = MARGIN + 2 * LINE
    numbers = {
        piece.task.id: f"{at}.{place}"
        for at, batch in enumerate(shown, 1)
        for place, piece in enumerate(batch.pieces, 1)
    }
    sheet.indent = LEFT + INSET + max(map(width, numbers.values()), default=0)
    for at, batch in enumerate(shown):
        if at:
            _checkpoint(sheet)
        _box(sheet, batch_title(at, batch, workflow.room.session), batch, numbers)
    if (more := len(workflow.batches) - len(shown)) > 0:
        sheet.text(MARGIN, sheet.top + LINE, f"{more:,} more batches")
        sheet.top += LINE
    _legend(sheet, [_colour(batch) for batch in shown])
    return _svg(sheet, named(workflow.title or "plan"))


@dataclass
class _Sheet:
    """What is drawn so far, and how far down it reaches."""

    parts: list[str] = field(default_factory=list)
    top: int = 0
    indent: float = LEFT  # where titles begin

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        colour: str = "ink",
        size: int = 12,
        bold: bool = False,
        end: bool = False,
        room: float = RIGHT - LEFT,
        most: int = 1,
    ) -> int:
        """Draw text; returns how many lines it took. With `end`, x is its right end."""
        lines = wrap(words, room * 12 / size / (1.1 if bold else 1), most)
        anchor = ' text-anchor="end"' if end else ""
        weight = ' font-weight="bold"' if bold else ""
        for at, line in enumerate(lines):
            self.parts.append(
                f'<text x="{x:.0f}" y="{y + at * LINE:.0f}" font-size="{size}"{anchor}{weight} '
                f"{_fill(colour)}>{escape(line)}</text>"
            )
        return len(lines)

    def block(self, x: float, y: float, wide: float, high: float, colour: str, more: str) -> None:
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.0f}" width="{wide:.1f}" height="{high:.0f}" '
            f"{_fill(colour)} {more}/>"
        )


def _fill(colour: str) -> str:
    return f'class="{colour}" fill="{COLOURS[colour][0]}"'


def _box(sheet: _Sheet, title: str, batch: TaskBatch, numbers: dict[str, str]) -> None:
    start, frame = sheet.top, len(sheet.parts)
    sheet.text(LEFT, start + LINE, title, bold=True)
    down = start + 2 * LINE
    for piece in batch.pieces:
        down = _task(sheet, piece, down, numbers)
    _bar(sheet, batch, down - LINE // 2)
    sheet.top = down - LINE // 2 + BAR + 6
    edge = f'stroke="{COLOURS["edge"][0]}" rx="6"'
    framed = _Sheet()
    framed.block(MARGIN, start, WIDTH - 2 * MARGIN, sheet.top - start, "box", edge)
    sheet.parts.insert(frame, framed.parts[0])  # beneath all that stands in it


def _task(sheet: _Sheet, piece: TaskPiece, top: int, numbers: dict[str, str]) -> int:
    """Draw a task: number and title left, size right; below, its dependencies and files."""
    title, size = sheet.indent, _size(piece)
    sheet.text(LEFT, top, numbers[piece.task.id], colour="dim")
    sheet.text(RIGHT, top, size, colour="dim", end=True)
    room = RIGHT - title - width(size) - INSET
    top += LINE * sheet.text(title, top, named(piece.task.shown), room=room, most=TITLE_LINES)
    for words in _beneath(piece, numbers):
        top += LINE * sheet.text(title, top, words, colour="dim", room=RIGHT - title)
    return top


def _size(piece: TaskPiece) -> str:
    tokens, wide = piece.estimate.in_words
    known = piece.estimate.low_tokens == piece.estimate.high_tokens
    if piece.estimate.is_unknown:
        return tokens
    return f"{tokens}, {wide}" if known else f"{tokens} ({wide})"


def _beneath(piece: TaskPiece, numbers: dict[str, str]) -> Iterator[str]:
    waits = [numbers[name] for name in piece.task.depends if name in numbers]
    if waits:
        yield f"after {listed(waits, MOST_NAMED)}"
    if piece.of:
        yield step_of(piece.of.title)
    if piece.task.part:
        yield named(listed(piece.task.files, MOST_NAMED))


def _colour(batch: TaskBatch) -> str:
    if batch.is_unknown:
        return "room"
    if batch.tokens > batch.room_tokens:
        return "not"
    return "fits" if batch.high_tokens <= batch.room_tokens else "may"


def _bar(sheet: _Sheet, batch: TaskBatch, top: int) -> None:
    """Draw a bar: its full length is the room; the part between estimate and upper end is paler."""
    whole, room, colour = RIGHT - LEFT, max(1, batch.room_tokens), _colour(batch)
    sheet.block(LEFT, top, whole, BAR, "room", 'rx="2"')
    for tokens, look in ((batch.high_tokens, 'opacity="0.4" rx="2"'), (batch.tokens, 'rx="2"')):
        sheet.block(LEFT, top, min(1.0, tokens / room) * whole, BAR, colour, look)


def _checkpoint(sheet: _Sheet) -> None:
    middle, top = WIDTH // 2, sheet.top
    ends = f'y1="{top}" y2="{top + GAP}" stroke="{COLOURS["mark"][0]}"'
    sheet.parts.append(f'<line class="line" x1="{middle}" x2="{middle}" {ends}/>')
    sheet.parts.append(f'<circle cx="{middle}" cy="{top + GAP // 2}" r="5" {_fill("mark")}/>')
    sheet.text(middle + 12, top + GAP // 2 + 4, "checkpoint", colour="mark")
    sheet.top += GAP


def _legend(sheet: _Sheet, colours: Sequence[str]) -> None:
    """The meaning of each colour that was used."""
    x, top = float(MARGIN), sheet.top + LINE + 4
    for colour in (name for name in WORDS if name in colours or (name == "room" and colours)):
        wide = 20 + width(WORDS[colour], 11)
        if x > MARGIN and x + wide > RIGHT:
            x, top = float(MARGIN), top + LINE
        sheet.block(x, top - 9, 14, BAR, colour, 'rx="2"')
        sheet.text(x + 20, top, WORDS[colour], colour="dim", size=11)
        x += wide + 16
        sheet.top = top


def _svg(sheet: _Sheet, title: str) -> str:
    high = sheet.top + MARGIN
    dark = "".join(f".{name}{{fill:{dark}}}" for name, (_, dark) in COLOURS.items())
    edges = f".box{{stroke:{COLOURS['edge'][1]}}}.line{{stroke:{COLOURS['mark'][1]}}}"
    size = f'width="{WIDTH}" height="{high}" viewBox="0 0 {WIDTH} {high}"'
    first = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{FONT}" role="img">'
    return "\n".join(
        [
            first,
            f"<title>{escape(title)}</title>",
            f"<style>@media (prefers-color-scheme: dark) {{{dark}{edges}}}</style>",
            f'<rect width="100%" height="100%" {_fill("ground")}/>',
            *sheet.parts,
            "</svg>\n",
        ]
    )


def draw_mermaid(workflow: Workflow) -> str:
    """The workflow as Mermaid text: `flowchart TD` with a node per batch and checkpoint."""
    lines = ["flowchart TD"]
    for at, batch in enumerate(workflow.batches[:MOST_BATCHES]):
        titles = (_quoted(piece.task.shown) for piece in batch.pieces)
        head = batch_title(at, batch, workflow.room.session)
        lines.append(f'    batch_{at}["{"<br/>".join([head, *titles])}"]')
        if at:
            lines.append(f'    checkpoint_{at - 1}(["checkpoint"])')
            lines.append(f"    batch_{at - 1} --> checkpoint_{at - 1} --> batch_{at}")
    if not workflow.batches:
        lines.append('    nothing["nothing left to do"]')
    if (more := len(workflow.batches) - MOST_BATCHES) > 0:
        lines.append(f'    more["{more:,} more batches"]')
    return "\n".join(lines) + "\n"


def _quoted(title: str) -> str:
    """Escape a title with entities, so that none of its characters can end the label."""
    return "".join(
        mark if mark.isalnum() or mark in " .,-_/…" else f"#{ord(mark)};"
        for mark in short(named(title), LONGEST_LABEL)
    )


def batch_title(at: int, batch: TaskBatch, session: str) -> str:
    where = "" if batch.fresh else f" in {session}"
    is_large = batch.tokens > batch.room_tokens and not batch.is_unknown
    large = ", larger than the room" if is_large else ""
    side = ", could run side by side" if batch.parallel else ""
    size = f"about {batch.shown_tokens:,} of {batch.room_tokens:,} tokens"
    size = "size unknown, a session of its own" if batch.is_unknown else size
    return f"batch {at + 1}{where}: {size}{large}{side}"


def width(text: str, size: float = SIZE) -> float:
    return sum(_share(mark) for mark in text) * size


def _share(mark: str) -> float:
    if combining(mark):
        return 0.0
    if east_asian_width(mark) in "WF" or ord(mark) >= 0x1F000:
        return 1.3
    if mark in NARROW:
        return 0.42
    return 1.0 if mark in WIDE else 0.76 if mark.isupper() else 0.64


def wrap(text: str, room: float, most: int) -> list[str]:
    """At most `most` lines, broken between words if that leaves half a line; a cut ends in …"""
    lines: list[str] = []
    while text:
        fits = _fitting(text, room)
        if fits == len(text):
            return [*lines, text]
        if len(lines) == most - 1:
            return [*lines, text[: _fitting(text, room - width("…"))].rstrip() + "…"]
        space = text.rfind(" ", 0, fits + 1)
        at = space if space > fits // 2 else fits
        lines.append(text[:at].rstrip())
        text = text[at:].lstrip()
    return lines


def _fitting(text: str, room: float) -> int:
    """How many characters fit; at least one, so that wrapping ends."""
    used = 0.0
    for at, mark in enumerate(text):
        used += width(mark)
        if used > room:
            return max(1, at)
    return len(text)
