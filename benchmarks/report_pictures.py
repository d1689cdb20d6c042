"""The pictures of `make report`: how a cost grows, as SVG."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from statistics import median

from benchmarks.growth import Curve

TITLE_WIDTH = 44  # characters that fit above a picture


def draw(curves: Sequence[Curve]) -> str:
    """The middle of the runs as a line, lowest to highest as a band, each size with its number."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    first = curves[0]
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": first.title, "font.size": 11}):
        figure = Figure(figsize=(6, 4), layout="constrained")
        axes = figure.subplots()
        for label in dict.fromkeys(curve.label for curve in curves):
            same = [curve for curve in curves if curve.label == label]
            columns = list(zip(*(curve.y for curve in same), strict=True))
            middles = [median(one) for one in columns]
            axes.plot(same[0].x, middles, marker="o", label=label)
            axes.fill_between(same[0].x, [*map(min, columns)], [*map(max, columns)], alpha=0.2)
            axes.annotate(
                f"{middles[-1]:.3g}",
                (same[0].x[-1], middles[-1]),
                (0, 7),
                textcoords="offset points",
                ha="right",
            )
        title = textwrap.fill(first.title, TITLE_WIDTH)
        axes.set(title=title, xlabel=first.x_axis, ylabel=first.y_axis)
        axes.set_xscale("log")
        axes.set_xticks(first.x, [f"{one:,}" for one in first.x])
        axes.minorticks_off()
        axes.set_ylim(0, 1.2 * max(y for curve in curves for y in curve.y))
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
        axes.grid(visible=True, alpha=0.3)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]
