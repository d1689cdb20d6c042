"""A workflow as an SVG: batches from top to bottom, each with a bar of what it takes.

It stands on a ground of its own, light or dark as the reader's screen is, so that it can be read on
any page. Every colour is written twice: where styles are taken out, the light ones remain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape

from holdfast.plan.mermaid import MOST_BATCHES, head
from holdfast.plan.split import Piece
from holdfast.plan.text_width import width, wrapped
from holdfast.plan.workflow import Batch, Workflow
from holdfast.text.numbers import counted, listed, named, step_of

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


def svg(workflow: Workflow) -> str:
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
        _box(sheet, at, batch, numbers)
    if (more := len(workflow.batches) - len(shown)) > 0:
        sheet.text(MARGIN, sheet.top + LINE, f"{more:,} more batches")
        sheet.top += LINE
    _legend(sheet, [_colour(batch) for batch in shown])
    return _whole(sheet, named(workflow.title or "plan"))


@dataclass
class _Sheet:
    """What is drawn so far, and down to where."""

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
        """How many lines it took; `end`: x is where it ends."""
        lines = wrapped(words, room * 12 / size / (1.1 if bold else 1), most)
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


def _box(sheet: _Sheet, at: int, batch: Batch, numbers: dict[str, str]) -> None:
    start, frame = sheet.top, len(sheet.parts)
    sheet.text(LEFT, start + LINE, head(at, batch), bold=True)
    down = start + 2 * LINE
    for piece in batch.pieces:
        down = _task(sheet, piece, down, numbers)
    _bar(sheet, batch, down - LINE // 2)
    sheet.top = down - LINE // 2 + BAR + 6
    edge = f'stroke="{COLOURS["edge"][0]}" rx="6"'
    framed = _Sheet()
    framed.block(MARGIN, start, WIDTH - 2 * MARGIN, sheet.top - start, "box", edge)
    sheet.parts.insert(frame, framed.parts[0])  # beneath all that stands in it


def _task(sheet: _Sheet, piece: Piece, top: int, numbers: dict[str, str]) -> int:
    """Number and title to the left, size to the right; beneath, what it waits for and holds."""
    title, size = sheet.indent, _size(piece)
    sheet.text(LEFT, top, numbers[piece.task.id], colour="dim")
    sheet.text(RIGHT, top, size, colour="dim", end=True)
    room = RIGHT - title - width(size) - INSET
    top += LINE * sheet.text(title, top, named(piece.task.shown), room=room, most=TITLE_LINES)
    for words in _beneath(piece, numbers):
        top += LINE * sheet.text(title, top, words, colour="dim", room=RIGHT - title)
    return top


def _size(piece: Piece) -> str:
    tokens, wide = piece.estimate.in_words
    known = piece.estimate.low_tokens == piece.estimate.high_tokens
    if piece.estimate.is_unknown:
        return f"{tokens}: {wide}"
    return f"{tokens}, {wide}" if known else f"{tokens} ({wide})"


def _beneath(piece: Piece, numbers: dict[str, str]) -> Iterator[str]:
    waits = [numbers[name] for name in piece.task.depends if name in numbers]
    if waits:
        yield f"after {listed(waits, MOST_NAMED)}"
    if piece.of:
        yield step_of(piece.of.title)
    if piece.task.part:
        yield named(listed(piece.task.files, MOST_NAMED))


def _colour(batch: Batch) -> str:
    if batch.is_unknown:
        return "room"
    if batch.tokens > batch.room_tokens:
        return "not"
    return "fits" if batch.high_tokens <= batch.room_tokens else "may"


def _bar(sheet: _Sheet, batch: Batch, top: int) -> None:
    """The room is the whole bar; what the range reaches beyond the point is paler."""
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
    """What a colour means, of those there are."""
    x, top = float(MARGIN), sheet.top + LINE + 4
    for colour in (name for name in WORDS if name in colours or (name == "room" and colours)):
        wide = 20 + width(WORDS[colour], 11)
        if x > MARGIN and x + wide > RIGHT:
            x, top = float(MARGIN), top + LINE
        sheet.block(x, top - 9, 14, BAR, colour, 'rx="2"')
        sheet.text(x + 20, top, WORDS[colour], colour="dim", size=11)
        x += wide + 16
        sheet.top = top


def _whole(sheet: _Sheet, title: str) -> str:
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
