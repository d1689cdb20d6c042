"""What other projects publish about themselves: `alternatives.toml`, read for the report."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("alternatives.toml")


class Published(NamedTuple):
    """One figure of another project, or "nothing published", and the text that was read."""

    name: str
    figure: str
    source: str
    read: date


class Measure(NamedTuple):
    title: str
    apart: str  # why the figures cannot be ranked
    published: Sequence[Published]
    ours: Sequence[str] = ()  # a section of `benchmarks.run`, and how the name of a row begins


def read(path: Path = FILE) -> list[Measure]:
    told = tomllib.loads(path.read_text("utf-8"))
    return [
        Measure(**{**one, "published": [Published(**each) for each in one["published"]]})
        for one in told["measure"]
    ]
