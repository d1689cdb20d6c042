"""How much of what a user typed before a compaction stands in the brief after it.

    python -m benchmarks.user_words CORPUS_DIR

A prompt counts as kept when the brief holds 80 % of the six-word runs of its first 400 characters.
Prompts are found here by a rule of their own, so that what the product overlooks counts as lost.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

Row = tuple[str, str, str]
RUN, SHARE, FIRST_CHARS = 6, 0.8, 400
_CLIENT = (
    "<",
    "Operation stopped by hook",
    "[Request interrupted",
    "Caveat: The messages below",
    "This session is being",
    "{",
)


class Cut(NamedTuple):
    """A transcript up to a compaction, and what was typed before it."""

    repository: str
    session: str
    data: bytes
    prompts: list[str]


def rows(corpus: Path) -> Iterator[Row]:
    found = [_kept(cut) for cut in cuts(corpus)]
    total = sum(one[0] for one in found) or 1
    small, large = (sum(one[at] for one in found) / total for at in (1, 2))
    yield (
        f"user's words in the 2,000-token brief, {len(found)} compactions",
        f"{small:.3f}",
        "≥ .95",
    )
    yield "user's words in the brief of the hook", f"{large:.3f}", "≥ .98"


def cuts(corpus: Path) -> Iterator[Cut]:
    """Every real compaction of the corpus."""
    for path in sorted(corpus.glob("*/*.jsonl.gz")):
        data = b""
        prompts: list[str] = []
        for line in gzip.decompress(path.read_bytes()).splitlines(keepends=True):
            entry = _entry(line)
            if _is_boundary(entry) and prompts:
                yield Cut(path.parent.name, path.name[:8], data, list(prompts))
            data += line
            prompts += _typed(entry)


def _kept(cut: Cut) -> tuple[int, int, int]:
    """How many prompts there are, and how many a brief of either kind holds."""
    from holdfast.brief.compose import compose
    from holdfast.record import read_record

    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(cut.data)
        file.flush()
        record = read_record(file.name)
        texts = [compose(record).text, compose(record, may_grow=True).text]
    prompts = list(dict.fromkeys(cut.prompts))
    small, large = (sum(_holds(text, one) for one in prompts) for text in texts)
    return len(prompts), small, large


def _holds(text: str, prompt: str) -> bool:
    words = _words(prompt[:FIRST_CHARS])
    told = f" {' '.join(_words(text))} "
    if len(words) <= RUN:
        return f" {' '.join(words)} " in told
    runs = [" ".join(words[at : at + RUN]) for at in range(len(words) - RUN + 1)]
    return sum(f" {run} " in told for run in runs) >= SHARE * len(runs)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _entry(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _is_boundary(entry: dict[str, Any]) -> bool:
    return entry.get("subtype") == "compact_boundary"


def _typed(entry: dict[str, Any]) -> list[str]:
    if entry.get("type") == "queue-operation" and entry.get("operation") == "enqueue":
        words = str(entry.get("content") or "")
        return [] if words.startswith((*_CLIENT, "/")) else [words] * bool(_words(words))
    if entry.get("type") != "user" or entry.get("isMeta") or entry.get("isSidechain"):
        return []
    content = (entry.get("message") or {}).get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    if entry.get("isCompactSummary") or any(one.get("type") == "tool_result" for one in blocks):
        return []
    texts = [str(one.get("text")) for one in blocks if one.get("type") == "text"]
    return [text for text in texts if _words(text) and not text.startswith(_CLIENT)]


if __name__ == "__main__":
    for row in rows(Path(sys.argv[1])):
        print(*row, sep="  ")
