"""How sessions are cut into segments, and what their compression keeps, on real transcripts.

    python -m benchmarks.segments --corpus DIR [--sample 20 --seed 7]

Distribution: segments of a session, steps of a segment, segments that are done. Names: those that
are cut. Compression: how many tokens fewer.
"""

from __future__ import annotations

import argparse
import gzip
import random
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, quantiles

from holdfast.record.model import Record
from holdfast.record.reader import read_record
from holdfast.segment import compress, formats
from holdfast.segment.compress import Segment
from holdfast.text.fence import flat

Row = tuple[str, str, str]
COLD_AFTER, LEAST_MESSAGES = 20, 5


@dataclass
class Session:
    path: Path
    record: Record
    segments: list[Segment]


def sessions(corpus: Path) -> Iterator[Session]:
    """Each transcript of the corpus, unpacked where it must be."""
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        for number, path in enumerate(sorted(corpus.rglob("*.jsonl*"))):
            if path.suffix == ".gz":
                plain = Path(folder) / f"{number}.jsonl"
                with gzip.open(path, "rb") as packed, plain.open("wb") as file:
                    shutil.copyfileobj(packed, file)
                yield _session(plain)
                plain.unlink()
            else:
                yield _session(path)


def _session(path: Path) -> Session:
    record = read_record(path)
    return Session(path, record, compress.segments(record, path.stem))


@dataclass
class Counts:
    segments: list[int] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    cold: list[bool] = field(default_factory=list)
    done: list[bool] = field(default_factory=list)
    names_cut: list[bool] = field(default_factory=list)
    reduction: list[float] = field(default_factory=list)
    ratios: list[tuple[int, int]] = field(default_factory=list)


def count(counts: Counts, session: Session) -> None:
    record = session.record
    counts.segments.append(len(session.segments))
    for one in session.segments:
        counts.steps.append(one.end_turn - one.start_turn + 1)
        if record.op - one.end_turn >= COLD_AFTER:
            counts.cold.append(record.op - one.last_mention >= COLD_AFTER)
        counts.done.append(compress.is_done(record, one))
        counts.names_cut.append(compress.topic(record, one).endswith("…"))


def keep(counts: Counts, session: Session) -> None:
    """Compress every segment that may be."""
    for one in session.segments:
        if one.message_count < LEAST_MESSAGES:
            continue
        source = compress.read_source(one, session.record, str(session.path))
        text = compress.content(source)
        counts.ratios.append((source.tokens, formats.tokens(text)))
        counts.reduction.append(1 - formats.tokens(text) / max(1, source.tokens))


def rows(corpus: Path | None) -> Iterator[Row]:
    """(measure, figure, what to reach)."""
    if corpus is None:
        return
    counts = Counts()
    for session in sessions(corpus):
        count(counts, session)
        keep(counts, session)
    yield from _told(counts)


def _told(counts: Counts) -> Iterator[Row]:
    yield "sessions, segments that are over", f"{len(counts.segments)}, {sum(counts.segments)}", ""
    yield "segments of a session", _spread(counts.segments), ""
    yield "steps of a segment", _spread(counts.steps), ""
    yield "20 steps old at the end of the session, and not mentioned", _share(counts.cold), ""
    yield "done", _share(counts.done), ""
    yield "names that are cut", _share(counts.names_cut), ""
    before, after = (sum(side) for side in zip(*counts.ratios, strict=True))
    yield "compressed: tokens fewer, all together", f"{1 - after / before:.1%}", "80-90 %"
    yield "compressed: tokens fewer, of a segment", _spread(counts.reduction, "{:.1%}"), "80-90 %"


def _spread(values: Sequence[float], shape: str = "{:,.0f}") -> str:
    """Deciles 1, 5 and 9, and the largest."""
    cuts = quantiles(values, n=10)
    told = [shape.format(value) for value in (cuts[0], cuts[4], cuts[8], max(values))]
    return f"p10 {told[0]}, median {told[1]}, p90 {told[2]}, largest {told[3]}"


def _share(values: Sequence[bool]) -> str:
    return f"{mean(values):.1%}" if values else "none"


def sample(corpus: Path, size: int, seed: int) -> Iterator[str]:
    """Some segments to be read: name, turns and those around them, and the text."""
    found: list[list[str]] = []
    for session in sessions(corpus):
        found += [list(_shown(session, one)) for one in session.segments]
    for lines in random.Random(seed).sample(found, min(size, len(found))):
        yield "\n".join(lines)


def _shown(session: Session, one: Segment) -> Iterator[str]:
    record = session.record
    done = "done" if compress.is_done(record, one) else "not done"
    yield f"=== {session.path.name}: steps {one.start_turn}-{one.end_turn}, {done}"
    yield f"topic: {compress.topic(record, one)}"
    first, last = record.turns.index(one.turns[0]), record.turns.index(one.turns[-1])
    for at, turn in enumerate(record.turns[max(0, first - 2) : last + 3], max(0, first - 2)):
        names = [name.rpartition("/")[2] for name in [*turn.edited, "|", *turn.read]][:8]
        edge = "|" if first <= at <= last else " "
        yield f"{edge} {turn.place.op:4} {flat(turn.asked, 160)} {names}"
    source = compress.read_source(one, record, str(session.path))
    text = compress.content(source)
    yield f"--- {source.tokens:,} → {formats.tokens(text):,} tokens\n{text}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--sample", type=int, default=0, help="print so many segments to be read")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    if given.sample:
        for text in sample(given.corpus, given.sample, given.seed):
            print(text, end="\n\n")
        return
    for name, figure, wanted in rows(given.corpus):
        print(f"{name:60} {figure:56} {wanted}")


if __name__ == "__main__":
    main()
