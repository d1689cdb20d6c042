"""Secrets found in samples that somebody else wrote, and false alarms on real transcripts.

    python -m benchmarks.unseen_secrets --secrets FILE [--without FILE] [--corpus DIR] [--show]

FILE: JSON lines `{"kind", "position", "text", "secrets": [...]}`; a sample counts as found when
none of its secrets is left in the redacted text. `--without`: JSON lines `{"kind", "text"}` that
hold none. The corpus is real transcripts: an item is a prompt, a text block or a tool result, and
every item in which something is found counts as an alarm, until somebody has read it: `--show`
prints each, with what stands before it.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.readings import transcripts
from holdfast.redact.find import find, redact
from holdfast.transcript.blocks import Text, ToolResult
from holdfast.transcript.entries import Answer, Prompt, Result, Summary
from holdfast.transcript.reader import read

Row = tuple[str, str, str]
BEFORE_CHARS, SHOWN_CHARS = 60, 80


def rows(secrets: Path | None, without: Path | None, corpus: Path | None) -> Iterator[Row]:
    """(measure, figure, what to reach) for each figure."""
    if secrets is None:
        yield "secrets found", "not measured: no samples: say SECRETS=FILE", ""
    else:
        samples = _lines(secrets)
        missed = [one for one in samples if is_missed(one)]
        kinds = len({one["kind"] for one in samples})
        share = f"{1 - len(missed) / len(samples):.1%} of {len(samples):,}, {kinds} kinds"
        yield f"secrets found, {secrets.name}", share, "≥ 95 %"
        worst = Counter(one["kind"] for one in missed).most_common(10)
        yield "missed most", ", ".join(f"{kind} {count}" for kind, count in worst) or "none", ""
    if without is not None:
        clean = _lines(without)
        alarmed = sum(bool(find(one["text"])) for one in clean)
        yield f"false alarms, {without.name}", f"{alarmed} of {len(clean):,}", ""
    if corpus is not None:
        items = list(texts(corpus))
        alarmed = sum(bool(find(text)) for text in items)
        figure = f"{alarmed} of {len(items):,} items ({1000 * alarmed / len(items):.2f} in 1,000)"
        yield "items of real transcripts with a finding", figure, "≤ 1 in 1,000 false"


def is_missed(sample: dict[str, Any]) -> bool:
    left = redact(sample["text"])
    return any(secret in left for secret in sample["secrets"])


def texts(corpus: Path) -> Iterator[str]:
    """Each prompt, text block and tool result."""
    for path in transcripts(corpus):
        for entry in read(path):
            if isinstance(entry, Prompt | Summary):
                yield entry.text
            elif isinstance(entry, Answer):
                yield from (block.text for block in entry.blocks if isinstance(block, Text))
            elif isinstance(entry, Result):
                for block in entry.message.blocks:
                    if isinstance(block, ToolResult | Text):
                        yield block.text


def _lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _show(secrets: Path | None, corpus: Path | None) -> None:
    for sample in _lines(secrets) if secrets else ():
        if is_missed(sample):
            print(f"missed {sample['kind']}, {sample['position']}: {sample['text'][:300]!r}")
    seen: Counter[tuple[str, str, str]] = Counter()
    for text in texts(corpus) if corpus else ():
        for one in find(text):
            before = text[max(0, one.start - BEFORE_CHARS) : one.start]
            seen[one.kind, before, text[one.start : one.end][:SHOWN_CHARS]] += 1
    for (kind, before, value), count in seen.items():
        print(f"found {count}x {kind}: {before!r} [{value!r}]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--secrets", type=Path, help="samples with secrets")
    parser.add_argument("--without", type=Path, help="samples without")
    parser.add_argument("--corpus", type=Path, help="a folder of transcripts")
    parser.add_argument("--show", action="store_true", help="each miss and each alarm, to be read")
    given = parser.parse_args()
    if given.show:
        _show(given.secrets, given.corpus)
    for row in rows(given.secrets, given.without, given.corpus):
        print(*row, sep=" | ")


if __name__ == "__main__":
    main()
