"""A session's fill as a picture: columns in the terminal, or an SVG file."""

from __future__ import annotations

from html import escape
from itertools import pairwise

from rich.text import Text

from holdfast.window.replay import Point, Replay
from holdfast.wire.log import inert

BLOCKS = " ▁▂▃▄▅▆▇█"
HEX = {"green": "#3fa34d", "yellow": "#d4a72c", "orange": "#e36209", "red": "#cf222e"}
SVG_WIDTH, SVG_HEIGHT, MARGIN = 960, 320, 40
ZONE_STYLE = {"green": "green", "yellow": "yellow", "orange": "dark_orange", "red": "bold red"}


def columns(replay: Replay, width: int = 78, height: int = 10) -> list[Text]:
    """The fullest reading of each slice of steps, the compaction limit at the top."""
    slices = _slices(replay.points, width)
    marked = {compaction.index for compaction in replay.compactions}
    rows = []
    for row in range(height, 0, -1):
        text = Text(f"{row * 100 // height:>4}% ", style="dim")
        for points in slices:
            top = max(points, key=lambda point: _ratio(point))
            text.append(_cell(_ratio(top), row, height), style=ZONE_STYLE[top.zone])
        rows.append(text)
    foot = Text("      ")
    for points in slices:
        hit = any(point.index in marked for point in points)
        foot.append("▲" if hit else "─", style="bold cyan" if hit else "dim")
    return [*rows, foot]


def _cell(ratio: float, row: int, height: int) -> str:
    part = ratio * height - (row - 1)
    return BLOCKS[min(8, max(0, round(part * 8)))]


def _ratio(point: Point) -> float:
    return point.used_tokens / point.edge_tokens if point.edge_tokens else 0.0


def _slices(points: list[Point], width: int) -> list[list[Point]]:
    count = min(width, len(points))
    bounds = [round(i * len(points) / count) for i in range(count + 1)] if count else [0]
    return [points[a:b] for a, b in pairwise(bounds) if b > a]


def svg(replay: Replay) -> str:
    """The same as a drawing: fill as an area, the limit, compactions and alerts marked."""
    points = replay.points
    top = max([max(p.used_tokens, p.edge_tokens) for p in points], default=1)
    step = (SVG_WIDTH - 2 * MARGIN) / max(1, len(points) - 1)

    def x(index: int) -> float:
        return MARGIN + index * step

    def y(tokens: float) -> float:
        return SVG_HEIGHT - MARGIN - tokens / top * (SVG_HEIGHT - 2 * MARGIN)

    parts = [_svg_head(replay)]
    parts += [
        f'<rect x="{x(p.index):.1f}" y="{y(p.used_tokens):.1f}" width="{max(step, 0.6):.2f}" '
        f'height="{SVG_HEIGHT - MARGIN - y(p.used_tokens):.1f}" fill="{HEX[p.zone]}"/>'
        for p in points
    ]
    line = " ".join(f"{x(p.index):.1f},{y(p.edge_tokens):.1f}" for p in points)
    parts.append(f'<polyline points="{line}" fill="none" stroke="#57606a" stroke-dasharray="4 3"/>')
    parts += [
        f'<line x1="{x(c.index):.1f}" x2="{x(c.index):.1f}" y1="{MARGIN}" '
        f'y2="{SVG_HEIGHT - MARGIN}" stroke="#0969da"><title>compaction '
        f"({escape(inert(c.trigger))})</title></line>"
        for c in replay.compactions
    ]
    parts += [
        f'<circle cx="{x(r.index):.1f}" cy="{MARGIN - 8}" r="3" fill="#8250df"><title>'
        f"{escape(r.alert or r.zone or '')} at {r.used_ratio:.0%}</title></circle>"
        for r in replay.raised
        if r.is_delivered
    ]
    return "\n".join([*parts, "</svg>\n"])


def _svg_head(replay: Replay) -> str:
    title = escape(inert(f"{replay.session_id} · {replay.model} · {len(replay.points)} steps"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SVG_WIDTH} {SVG_HEIGHT}" '
        f'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>'
        f'<text x="{MARGIN}" y="18" fill="#24292f">{title}</text>'
        f'<text x="{MARGIN}" y="{SVG_HEIGHT - 14}" fill="#57606a">steps; dashed: compaction limit; '
        "blue: compactions; dots: alerts</text>"
    )
