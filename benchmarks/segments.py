"""How sessions are cut into segments, and what their compression keeps, on real transcripts.

    python -m benchmarks.segments --corpus DIR [--sample 20 --seed 7]

Distribution: segments of a session, turns and tokens of a segment, sessions over 50 turns in one
piece, segments under 3 turns. Agreement: of the user's new requests, those a segment begins with
(recall); of the segments' beginnings, those within a turn of a prompt or a change of the task list
(precision). Compression: how many tokens fewer; and of what the segment had (files, commands,
names, references, rules) and the session used again after it, the share its words name.

What was used again is found by code of its own (`benchmarks.used_again`), not by the product's.
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

from benchmarks import used_again
from holdfast.segment import boundary, compress, turns
from holdfast.segment import cut as cutting
from holdfast.segment.cut import Cut
from holdfast.segment.segment import Segment
from holdfast.segment.turn import Turn
from holdfast.transcript import read

Row = tuple[str, str, str]
LONG_TURNS, DUST_TURNS = 50, 3
COLD_AFTER, LEAST_MESSAGES = 20, 5
SUBSTANTIAL_CHARS = 40


@dataclass
class Session:
    path: Path
    turns: list[Turn]
    cut: Cut
    texts: dict[str, str] = field(default_factory=dict)


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
    known = turns.Reading()
    done = [turns.feed(known, entry) for entry in read(path) if not entry.is_sidechain]
    found = [turn for turn in (*done, known.now) if turn is not None]
    return Session(path, found, cutting.read(Cut(session_id=path.stem), path))


@dataclass
class Counts:
    segments: list[int] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    long: list[bool] = field(default_factory=list)  # whether one piece, of each long session
    asked: list[bool] = field(default_factory=list)
    anew: list[bool] = field(default_factory=list)
    near: list[bool] = field(default_factory=list)
    cold: list[bool] = field(default_factory=list)
    reduction: list[float] = field(default_factory=list)
    small: int = 0
    ratios: list[tuple[int, int]] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)
    classes: dict[str, list[float]] = field(default_factory=dict)


def count(counts: Counts, session: Session) -> None:
    segments, last = session.cut.segments, session.cut.open
    runs = [one.turns for one in segments] + ([len(last)] if last else [])
    counts.segments.append(len(runs))
    counts.turns += runs
    counts.tokens += [one.tokens for one in segments]
    if len(session.turns) > LONG_TURNS:
        counts.long.append(not segments)
    _agreement(counts, session)
    for one in segments:
        if session.cut.turn - one.end_turn >= COLD_AFTER:
            counts.cold.append(session.cut.since_mention(one) >= COLD_AFTER)


def _agreement(counts: Counts, session: Session) -> None:
    """Gaps that could be judged: `AHEAD` turns of the session come after them."""
    known = session.turns
    starts = {one.end_turn + 1 for one in session.cut.segments}
    marks = {turn.number for turn in known if turn.is_prompted or turn.began or turn.finished}
    for at, turn in enumerate(known[: len(known) - boundary.AHEAD]):
        if at and turn.kind == "request" and turn.asked_chars >= SUBSTANTIAL_CHARS:
            counts.asked.append(turn.number in starts)
            before = {name for one in known[max(0, at - 10) : at] for name in one.files}
            after = {name for one in known[at : at + 5] for name in one.files}
            if before.isdisjoint(after):
                counts.anew.append(turn.number in starts)
    for start in starts:
        counts.near.append(not marks.isdisjoint({start - 1, start, start + 1}))


def keep(counts: Counts, session: Session) -> None:
    """Compress every segment that may be, and look what the session used of it afterwards."""
    lines = used_again.lines(session.path)
    for one in session.cut.segments:
        if one.message_count < LEAST_MESSAGES:
            continue
        facts = compress.facts_of(one, str(session.path), session.cut.reading.roots)
        text = compress.content(facts, one.tokens, one.part_of)
        tokens = -int(-len(text) // 3.5)
        counts.ratios.append((one.tokens, tokens))
        counts.reduction.append(1 - tokens / max(1, one.tokens))
        counts.small += tokens > one.tokens * 0.2
        scores = used_again.recall(lines, one.start_byte, one.end_byte, text)
        if scores:
            counts.recall.append(used_again.weighted(scores))
            for name, score in scores.items():
                counts.classes.setdefault(name, []).append(score)


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
    yield "sessions, segments", f"{len(counts.segments)}, {sum(counts.segments)}", ""
    yield "segments of a session", _spread(counts.segments), ""
    yield "turns of a segment", _spread(counts.turns), ""
    yield "tokens of a segment (characters / 3.5)", _spread(counts.tokens), ""
    yield f"one piece, of {len(counts.long)} sessions over 50 turns", _share(counts.long), ""
    dust = [one < DUST_TURNS for one in counts.turns]
    yield "segments under 3 turns", _share(dust), ""
    yield f"{len(counts.asked)} requests begin a segment", _share(counts.asked), ""
    yield f"of {len(counts.anew)} that turn to other files", _share(counts.anew), ""
    yield "segments begin at a prompt or task change, within a turn", _share(counts.near), ""
    yield "20 turns old at the end of the session, and cold", _share(counts.cold), ""
    before, after = (sum(side) for side in zip(*counts.ratios, strict=True))
    yield "compressed: tokens fewer, all together", f"{1 - after / before:.1%}", "≥ 80 %"
    yield "compressed: tokens fewer, of a segment", _spread(counts.reduction, "{:.1%}"), "≥ 80 %"
    small = f"{counts.small} of {len(counts.reduction)}"
    yield "too small to be told in a fifth", small, ""
    told = f"next-need recall of its own items, {len(counts.recall)} segments"
    yield told, f"{mean(counts.recall):.3f}", "≥ .75"
    for name, scores in counts.classes.items():
        yield f"… {name}, {len(scores)} segments", f"{mean(scores):.3f}", ""


def _spread(values: Sequence[float], shape: str = "{:,.0f}") -> str:
    """Deciles 1, 5 and 9, and the largest."""
    cuts = quantiles(values, n=10)
    told = [shape.format(value) for value in (cuts[0], cuts[4], cuts[8], max(values))]
    return f"p10 {told[0]}, median {told[1]}, p90 {told[2]}, largest {told[3]}"


def _share(values: Sequence[bool]) -> str:
    return f"{mean(values):.1%}" if values else "none"


def sample(corpus: Path, size: int, seed: int) -> Iterator[str]:
    """Some segments to be read: what they are called, begin and end with, and keep."""
    found: list[tuple[Session, Segment]] = []
    for session in sessions(corpus):
        found += [(session, one) for one in session.cut.segments]
    for session, one in random.Random(seed).sample(found, min(size, len(found))):
        yield "\n".join(_shown(session, one))


def _shown(session: Session, one: Segment) -> Iterator[str]:
    yield f"=== {session.path.name} {one.segment_id}: turns {one.start_turn}-{one.end_turn}"
    yield f"{one.tokens:,} tokens, {one.completed or 'not completed'}; topic: {one.topic}"
    for turn in session.turns:
        near = min(abs(turn.number - one.start_turn), abs(turn.number - one.end_turn)) <= 3
        if near or (turn.asked and one.start_turn <= turn.number <= one.end_turn):
            edge = "|" if one.start_turn <= turn.number <= one.end_turn else " "
            marks = "".join(mark for mark, on in zip("bfpxr", _flags(turn), strict=True) if on)
            asked = f" [{turn.kind}] {' '.join(turn.asked.split())[:160]}" if turn.asked else ""
            names = [name.rpartition("/")[2] for name in turn.files][:4]
            said = list(turn.words)[:8]
            yield f"{edge} {turn.number:4} {marks:3}{asked} {names} {said}"
    if session.path.exists():
        facts = compress.facts_of(one, str(session.path), session.cut.reading.roots)
        yield "--- " + compress.content(facts, one.tokens, one.part_of)


def _flags(turn: Turn) -> tuple[bool, ...]:
    return turn.began, turn.finished, turn.passed, turn.failed, turn.rests


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
