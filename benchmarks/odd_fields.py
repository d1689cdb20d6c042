"""What is lost of real transcripts whose lines have odd fields.

    python -m benchmarks.odd_fields CORPUS_DIR [--seed N]

Each prompt, answer, result and queued text is read as it stands, and again with three fields of its
line dropped, nulled or of another type. What a line says is found here in its JSON, and has to
stand in the entry that the product reads. A field that says what a line or a block is, or that
holds the content itself, stays as it is. What the client itself wrote where an answer should be
("API Error", model `<synthetic>`) does not count.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.readings import transcripts
from holdfast.record.user_input import texts_in
from holdfast.transcript.blocks import Text, ToolUse
from holdfast.transcript.entries import Answer, Entry, Result
from holdfast.transcript.parse import SYNTHETIC, LineTally, parse

Row = tuple[str, str, str]
KINDS = ("user", "assistant", "queue-operation")
STAYS = frozenset(
    ("type", "role", "message", "content", "text", "input", "name", "operation", "model")
)
ODD: tuple[Any, ...] = (None, 7, -1, 1.5, "odd", True, [], ["odd"], {}, {"odd": 1})
CHANGED = 3  # fields of a line
SHOWN_CHARS = 120


def rows(corpus: Path, seed: int = 1) -> Iterator[Row]:
    random, counts = Random(seed), Counter[str]()
    for path in transcripts(corpus):
        for data in _lines(path):
            _count(data, random, counts)
    lines = f"{counts['lines']:,} lines, {counts['texts']:,} texts"
    yield f"lost as it stands, of {lines}", f"{counts['lost']}", "0"
    yield f"lost with {CHANGED} odd fields a line", f"{counts['lost odd']}", "0"


def _count(data: bytes, random: Random, counts: Counter[str]) -> None:
    try:
        line = json.loads(data)
    except ValueError:
        return
    if not isinstance(line, dict) or line.get("type") not in KINDS or line.get("isSidechain"):
        return
    wanted = [one for one in _content(line) if one.strip()]
    counts["lines"] += 1
    counts["texts"] += len(wanted)
    counts["lost"] += _missing(data, wanted)
    other = _with_odd_fields(line, random)
    counts["lost odd"] += _missing(json.dumps(other, ensure_ascii=False).encode(), wanted)


def _missing(data: bytes, wanted: list[str]) -> int:
    try:
        held = list(_held(parse(data, 0, LineTally())))
    except ValueError:
        return len(wanted)
    missing = [one for one in wanted if not any(one.strip() in text for text in held)]
    for one in missing:
        print(f"lost: {one[:SHOWN_CHARS]!r}", flush=True)
    return len(missing)


def _content(line: dict[str, Any]) -> Iterator[str]:
    """Yield what a line says, by its JSON alone."""
    message = line.get("message")
    if isinstance(message, dict) and message.get("model") == SYNTHETIC:
        return
    content = message.get("content") if isinstance(message, dict) else line.get("content")
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        if isinstance(block.get("text"), str) and block.get("type") == "text":
            yield block["text"]
        if isinstance(block.get("input"), dict) and block.get("type") == "tool_use":
            yield from (one for one in block["input"].values() if isinstance(one, str))
        inner = block.get("content") if block.get("type") == "tool_result" else None
        if isinstance(inner, str):
            yield inner
        for part in inner if isinstance(inner, list) else ():
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                yield part["text"]


def _held(entry: Entry | None) -> Iterator[str]:
    """Yield the same from the entry."""
    if isinstance(entry, Answer):
        for block in entry.blocks:
            if isinstance(block, Text):
                yield block.text
            elif isinstance(block, ToolUse):
                yield from (one for one in block.input.values() if isinstance(one, str))
    elif isinstance(entry, Result):
        yield from (one.text for one in entry.results)
        yield entry.text
    elif entry is not None:
        yield getattr(entry, "text", "")
        yield from texts_in(entry)


def _with_odd_fields(line: dict[str, Any], random: Random) -> dict[str, Any]:
    other = deepcopy(line)
    places = [(inner, key) for inner in _objects(other) for key in inner if key not in STAYS]
    for inner, key in random.sample(places, min(CHANGED, len(places))):
        if random.random() < 1 / 3:
            inner.pop(key, None)
        else:
            inner[key] = random.choice(ODD)
    return other


def _objects(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield line
    message = line.get("message")
    if isinstance(message, dict):
        yield message
        content = message.get("content")
        yield from (
            one for one in (content if isinstance(content, list) else ()) if isinstance(one, dict)
        )


def _lines(path: Path) -> Iterator[bytes]:
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
        yield from file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks.odd_fields")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for name, figure, wanted in rows(given.corpus, given.seed):
        print(f"{name}  {figure}  {wanted}", flush=True)


if __name__ == "__main__":
    main()
