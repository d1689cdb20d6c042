"""How sessions are cut into segments, and what their compression keeps, on real transcripts.

    python -m benchmarks.segments --corpus DIR [--sample 20 --seed 7]

Distribution: segments of a session, steps and tokens of a segment, sessions over 50 steps in one
piece, segments under 3 steps. Agreement: of the user's requests, questions not among them, those a
segment begins with (recall); of the segments' beginnings, those within a step of a turn
(precision). Names: those that end in an ellipsis. Compression: how many tokens fewer; outcomes cut
short; segments called done that hold something not resolved; and of what the segment had (files,
commands, names, references, rules) and the session used again after it, the share its words name.

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
from holdfast.record.model import Record
from holdfast.record.reader import read_record
from holdfast.redact import redact
from holdfast.segment import compress, cutter, segment, steps
from holdfast.segment import cutter as cutting
from holdfast.segment.cutter import Cut
from holdfast.segment.kept_items import ModelWords
from holdfast.segment.segment import Segment
from holdfast.segment.steps import SegmentStep
from holdfast.transcript.reader import read

Row = tuple[str, str, str]
LONG_STEPS, DUST_STEPS = 50, 3
COLD_AFTER, LEAST_MESSAGES = 20, 5


@dataclass
class Session:
    path: Path
    steps: list[SegmentStep]
    cut: Cut
    record: Record


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
    """`steps` are those that were cut, as the product reads them."""
    record = read_record(path)
    found: list[SegmentStep] = []
    known = Cut()
    for entry in read(path):
        if not entry.is_sidechain and (done := steps.feed(known.reading, entry)) is not None:
            cutting.add_user_words(known, done, record)
            found.append(done)
    return Session(path, found, cutting.read(Cut(session_id=path.stem), path, record), record)


@dataclass
class Counts:
    segments: list[int] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    long: list[bool] = field(default_factory=list)  # whether one piece, of each long session
    asked: list[bool] = field(default_factory=list)
    anew: list[bool] = field(default_factory=list)
    near: list[bool] = field(default_factory=list)
    cold: list[bool] = field(default_factory=list)
    done: list[bool] = field(default_factory=list)
    names_cut: list[bool] = field(default_factory=list)
    outcomes_cut: list[bool] = field(default_factory=list)
    contradicted: int = 0
    reduction: list[float] = field(default_factory=list)
    small: int = 0
    ratios: list[tuple[int, int]] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)
    classes: dict[str, list[float]] = field(default_factory=dict)


def count(counts: Counts, session: Session) -> None:
    segments, last = session.cut.segments, session.cut.open
    runs = [one.turns for one in segments] + ([len(last)] if last else [])
    counts.segments.append(len(runs))
    counts.steps += runs
    counts.tokens += [one.tokens for one in segments]
    if len(session.steps) > LONG_STEPS:
        counts.long.append(not segments)
    _agreement(counts, session)
    for one in segments:
        if session.cut.turn - one.end_turn >= COLD_AFTER:
            counts.cold.append(session.cut.since_mention(one) >= COLD_AFTER)
        if session.cut.since_mention(one) >= COLD_AFTER:
            counts.done.append(segment.is_done(session.record, one))
        counts.names_cut.append(segment.topic(session.record, one).endswith("…"))


def _agreement(counts: Counts, session: Session) -> None:
    """Gaps that could be judged: `AHEAD` steps of the session come after them."""
    known = session.steps
    starts = {one.end_turn + 1 for one in session.cut.segments}
    marks = {step.number for step in known if step.is_prompted}
    for at, step in enumerate(known[: len(known) - cutter.AHEAD]):
        if at and step.asks and not step.inquires:
            counts.asked.append(step.number in starts)
            before = {name for one in known[max(0, at - 10) : at] for name in one.files}
            after = {name for one in known[at : at + 5] for name in one.files}
            if before.isdisjoint(after):
                counts.anew.append(step.number in starts)
    for start in starts:
        counts.near.append(not marks.isdisjoint({start - 1, start, start + 1}))


def keep(counts: Counts, session: Session) -> None:
    """Compress every segment that may be, and look what the session used of it afterwards."""
    lines = used_again.lines(session.path)
    for one in session.cut.segments:
        if one.message_count < LEAST_MESSAGES:
            continue
        source = compress.source_of(one, session.record, str(session.path))
        text = compress.content(source)
        tokens = -int(-len(text) // 3.5)
        counts.outcomes_cut.append(_is_cut(source.words, text) and tokens < 0.9 * _budget(one))
        done = segment.is_done(session.record, one)
        counts.contradicted += done and ("\nNot resolved:" in text or "\nLeft to do:" in text)
        counts.ratios.append((one.tokens, tokens))
        counts.reduction.append(1 - tokens / max(1, one.tokens))
        counts.small += tokens > one.tokens * 0.2
        scores = used_again.recall(lines, one.start_byte, one.end_byte, text)
        if scores:
            counts.recall.append(used_again.weighted(scores))
            for name, score in scores.items():
                counts.classes.setdefault(name, []).append(score)


def _budget(one: Segment) -> int:
    return compress.budget(one.tokens)


def _is_cut(words: Sequence[ModelWords], text: str) -> bool:
    """The end of the model's last words is not in the text."""
    last = " ".join(redact(words[-1].text).split())[-60:] if words else ""
    return last not in " ".join(text.split())


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
    yield "steps of a segment", _spread(counts.steps), ""
    yield "tokens of a segment (characters / 3.5)", _spread(counts.tokens), ""
    yield f"one piece, of {len(counts.long)} sessions over 50 steps", _share(counts.long), ""
    dust = [one < DUST_STEPS for one in counts.steps]
    yield "segments under 3 steps", _share(dust), ""
    yield f"{len(counts.asked)} requests begin a segment", _share(counts.asked), ""
    yield f"of {len(counts.anew)} that turn to other files", _share(counts.anew), ""
    yield "segments begin at a turn, within a step", _share(counts.near), ""
    yield "20 steps old at the end of the session, and not mentioned", _share(counts.cold), ""
    yield "of those, done", _share(counts.done), ""
    yield "names that are cut", _share(counts.names_cut), ""
    before, after = (sum(side) for side in zip(*counts.ratios, strict=True))
    yield "compressed: tokens fewer, all together", f"{1 - after / before:.1%}", "80-90 %"
    yield "compressed: tokens fewer, of a segment", _spread(counts.reduction, "{:.1%}"), "80-90 %"
    small = f"{counts.small} of {len(counts.reduction)}"
    yield "too small to be told in a fifth", small, ""
    cut = f"{sum(counts.outcomes_cut)} of {len(counts.outcomes_cut)}"
    yield "outcome cut while a tenth of the budget is unspent", cut, "0"
    yield "called done, with something open inside", str(counts.contradicted), "0"
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
    found: list[list[str]] = []
    for session in sessions(corpus):
        found += [list(_shown(session, one)) for one in session.cut.segments]
    for lines in random.Random(seed).sample(found, min(size, len(found))):
        yield "\n".join(lines)


def _shown(session: Session, one: Segment) -> Iterator[str]:
    done = "done" if segment.is_done(session.record, one) else "not done"
    yield f"=== {session.path.name} {one.segment_id}: steps {one.start_turn}-{one.end_turn}"
    yield f"{one.tokens:,} tokens, {done}; topic: {segment.topic(session.record, one)}"
    for step in session.steps:
        near = min(abs(step.number - one.start_turn), abs(step.number - one.end_turn)) <= 2
        if near or (step.is_prompted and one.start_turn <= step.number <= one.end_turn):
            edge = "|" if one.start_turn <= step.number <= one.end_turn else " "
            mark = "asks" if step.asks else "replies" if step.is_prompted else ""
            names = [name.rpartition("/")[2] for name in step.files][:4]
            yield f"{edge} {step.number:4} {mark:7} {names} {list(step.words)[:8]}"
    if session.path.exists():
        source = compress.source_of(one, session.record, str(session.path))
        text = compress.content(source)
        yield f"--- {-int(-len(text) // 3.5):,} tokens\n{text}"


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
