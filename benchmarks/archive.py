"""What archiving long tool outputs saves on real transcripts, and what it costs.

    python -m benchmarks.archive --corpus DIR

Saved: the share of all tokens of tool results that would not have entered the window. Cost: of the
results that would have been shortened, the share of which the session used something later (until
the next compaction) that only the hidden part had told it: it would have had to expand.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.readings import transcripts
from holdfast.archive.outputs import preview
from holdfast.cli.install import ARCHIVE_CHARS
from holdfast.transcript.blocks import ToolResult, ToolUse
from holdfast.transcript.entries import Boundary
from holdfast.transcript.reader import read
from holdfast.transcript.steps import Operation, operations
from holdfast.wire.mark import CHARS_PER_TOKEN

LIMITS = (4_000, 6_000, 8_000, 12_000, 16_000)
EXPANDING_TOKENS = 1_600  # one page, and the call for it
SHORTENED = re.compile(r"Bash|Grep|WebFetch|WebSearch|mcp__.*")
READ = re.compile(r"Read")
NAMES = re.compile(r"[A-Za-z_][\w./-]{7,}")  # identifiers and paths: what is used by its name
CUT_CHARS = 30_000  # beyond, newer clients keep a file themselves
Row = tuple[str, str, str]


@dataclass
class Tally:
    results: int = 0
    tokens: float = 0.0
    shortened: int = 0
    saved: float = 0.0
    needed: int = 0


@dataclass
class _Hidden:
    names: set[str]
    tally: Tally


@dataclass
class Session:
    """One session played once, for each limit at the same time."""

    tallies: dict[tuple[str, int], Tally]
    known: set[str] = field(default_factory=set)
    hidden: list[_Hidden] = field(default_factory=list)
    calls: dict[str, str] = field(default_factory=dict)

    def play(self, items: Iterable[object]) -> None:
        for item in items:
            if isinstance(item, Boundary):
                self.hidden.clear()
            elif isinstance(item, Operation):
                self._answered(item)
                for result in item.results:
                    self._came_back(result)

    def _answered(self, operation: Operation) -> None:
        for block in operation.blocks:
            if isinstance(block, ToolUse):
                self.calls[block.id] = block.name
                self._used(set(NAMES.findall(str(block.input))))

    def _used(self, names: set[str]) -> None:
        fresh = names - self.known
        for one in self.hidden:
            if one.names & fresh:
                one.tally.needed += 1
        self.hidden = [one for one in self.hidden if not one.names & fresh]
        self.known |= names

    def _came_back(self, result: ToolResult) -> None:
        text, tool = result.text, self.calls.get(result.tool_use_id, "")
        for (kind, limit), tally in self.tallies.items():
            tally.results += 1
            tally.tokens += len(text) / CHARS_PER_TOKEN
            wanted = SHORTENED if kind == "outputs" else READ
            if limit < len(text) <= CUT_CHARS and not result.is_error and wanted.fullmatch(tool):
                self._shorten(text, tally)

    def _shorten(self, text: str, tally: Tally) -> None:
        shown = preview(text, "out-00000000")
        tally.shortened += 1
        tally.saved += (len(text) - len(shown)) / CHARS_PER_TOKEN
        told = set(NAMES.findall(shown))
        self.hidden.append(_Hidden(set(NAMES.findall(text)) - told - self.known, tally))


def measure(corpus: Path) -> dict[tuple[str, int], Tally]:
    tallies = {(kind, limit): Tally() for kind in ("outputs", "files read") for limit in LIMITS}
    for path in transcripts(corpus):
        Session(tallies).play(operations(read(path)))
    return tallies


def rows(corpus: Path | None) -> Iterator[Row]:
    if corpus is None:
        return
    for (kind, limit), found in measure(corpus).items():
        usual = ", the default" if (kind, limit) == ("outputs", ARCHIVE_CHARS) else ""
        saved = found.saved / found.tokens if found.tokens else 0.0
        again = found.needed / found.shortened if found.shortened else 0.0
        net = (found.saved - found.needed * EXPANDING_TOKENS) / (found.tokens or 1.0)
        words = f"{saved:.1%} of the tokens of results saved, {net:.1%} after expanding"
        count = f"{found.shortened:,} of {found.results:,} shortened, {again:.0%} needed again"
        yield f"{kind} over {limit:,}{usual}", f"{words} ({count})", "no less than 0 net"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True)
    for name, figure, _ in rows(parser.parse_args().corpus):
        print(f"{name:32} {figure}")
