"""A workflow as a picture: mermaid's text, and an SVG of our own."""

from __future__ import annotations

from html import escape

from holdfast.plan.workflow import Batch, Workflow
from holdfast.wire.inert import inert

MOST_BATCHES = 400  # a picture of more shows nothing
LONGEST_LABEL = 60
WIDTH, MARGIN, LINE, GAP, BAR = 720, 24, 18, 34, 10
FRAME = 'rx="6" fill="#f6f8fa" stroke="#d0d7de"'
FITS, MAY_NOT, DOES_NOT = "#3fa34d", "#d4a72c", "#cf222e"


def mermaid(workflow: Workflow) -> str:
    """For whatever draws mermaid: `flowchart TD`, a node per batch and checkpoint."""
    lines = ["flowchart TD"]
    for at, batch in enumerate(workflow.batches[:MOST_BATCHES]):
        said = "<br/>".join(
            [_head(at, batch), *(_quoted(piece.task.shown) for piece in batch.pieces)]
        )
        lines.append(f'    batch_{at}["{said}"]')
        if at:
            lines.append(f'    checkpoint_{at - 1}(["checkpoint"])')
            lines.append(f"    batch_{at - 1} --> checkpoint_{at - 1} --> batch_{at}")
    return "\n".join([*lines, *_left_out(workflow)]) + "\n"


def _quoted(title: str) -> str:
    """Mermaid reads entities, so no mark of a title can end its label."""
    short = inert(title, LONGEST_LABEL)
    return "".join(
        mark if mark.isalnum() or mark in " .,-_/" else f"#{ord(mark)};" for mark in short
    )


def _left_out(workflow: Workflow) -> list[str]:
    more = len(workflow.batches) - MOST_BATCHES
    return [f"    more[{more} more batches]"] if more > 0 else []


def _head(at: int, batch: Batch) -> str:
    side = ", side by side" if batch.parallel else ""
    return f"batch {at + 1}: {batch.tokens:,} of {batch.room_tokens:,} tokens{side}"


def svg(workflow: Workflow) -> str:
    """Batches from top to bottom, each with a bar: what it takes, its range, and the room."""
    parts: list[str] = []
    top = 2 * MARGIN
    for at, batch in enumerate(workflow.batches[:MOST_BATCHES]):
        if at:
            parts.append(_checkpoint(top))
            top += GAP
        parts.append(_box(at, batch, top))
        top += _height(batch)
    parts += [
        f'<text x="{MARGIN}" y="{top + LINE}">{line.strip()}</text>' for line in _left_out(workflow)
    ]
    title = escape(inert(workflow.title or "plan", LONGEST_LABEL))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top + MARGIN}" '
        'font-family="sans-serif" font-size="12" fill="#24292f">'
        f'<rect width="100%" height="100%" fill="#fff"/>'
        f'<text x="{MARGIN}" y="{MARGIN}" font-size="14">{title}: {len(workflow.batches)} batches, '
        f"about {workflow.tokens:,} tokens</text>"
    )
    return "\n".join([head, *parts, "</svg>\n"])


def _height(batch: Batch) -> int:
    return LINE * (len(batch.pieces) + 2) + BAR


def _box(at: int, batch: Batch, top: int) -> str:
    width = WIDTH - 2 * MARGIN
    lines = [
        f'<rect x="{MARGIN}" y="{top}" width="{width}" height="{_height(batch)}" {FRAME}/>',
        f'<text x="{MARGIN + 10}" y="{top + LINE}" font-weight="bold">{_head(at, batch)}</text>',
    ]
    for index, piece in enumerate(batch.pieces, 2):
        words = escape(inert(piece.task.shown, 2 * LONGEST_LABEL))
        lines.append(
            f'<text x="{MARGIN + 10}" y="{top + index * LINE}">{words}'
            f'<tspan fill="#57606a"> {piece.estimate.tokens:,}</tspan></text>'
        )
    return "\n".join([*lines, _bar(batch, top + _height(batch) - BAR - 6)])


def _bar(batch: Batch, top: int) -> str:
    """The room is the whole bar; what the range reaches beyond the point is paler."""
    width = WIDTH - 2 * MARGIN - 20
    room = max(1, batch.room_tokens)

    def long(tokens: int) -> float:
        return min(1.0, tokens / room) * width

    left = MARGIN + 10
    fits = batch.tokens <= room
    colour = DOES_NOT if not fits else FITS if batch.high_tokens <= room else MAY_NOT
    return (
        f'<rect x="{left}" y="{top}" width="{width}" height="{BAR}" fill="#eaeef2"/>'
        f'<rect x="{left}" y="{top}" width="{long(batch.high_tokens):.1f}" height="{BAR}" '
        f'fill="{colour}" opacity="0.35"/>'
        f'<rect x="{left}" y="{top}" width="{long(batch.tokens):.1f}" height="{BAR}" '
        f'fill="{colour}"><title>{batch.low_tokens:,} to {batch.high_tokens:,} tokens</title>'
        "</rect>"
    )


def _checkpoint(top: int) -> str:
    middle = WIDTH // 2
    return (
        f'<line x1="{middle}" x2="{middle}" y1="{top}" y2="{top + GAP}" stroke="#0969da"/>'
        f'<circle cx="{middle}" cy="{top + GAP // 2}" r="5" fill="#0969da"/>'
        f'<text x="{middle + 12}" y="{top + GAP // 2 + 4}" fill="#0969da">checkpoint</text>'
    )
