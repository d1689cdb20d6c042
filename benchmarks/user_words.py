"""How much of what a user typed before a compaction stands in the brief after it.

    python -m benchmarks.user_words CORPUS_DIR
    python -m benchmarks.user_words --sessions DIR [--show]

A prompt counts as kept when the brief holds 80 % of the six-word runs of its first 400 characters.
Prompts are found here by a rule of their own, so that what the product overlooks counts as lost.

`--sessions` measures sessions that somebody wrote together with what is to come of them: beside
`NN.jsonl` stands `NN.expected.json`, `{"typed": [...], "not_typed": [...]}`. The record must hold
every typed text word for word (of one longer than 4,000 characters, head and tail), and the brief
its words; no phrase that was not typed may stand in what either shows as the user's. A typed text
may stand apart, as one of which nobody can tell who wrote it, whole or in part: that is counted.
Blanks at the ends of a text do not count. `--show` prints each miss.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
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
    from holdfast.brief.item import OUTPUT_TOKENS
    from holdfast.record.reader import read_record

    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(cut.data)
        file.flush()
        record = read_record(file.name)
        texts = [compose(record).text, compose(record, OUTPUT_TOKENS, given="").text]
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


class Judged(NamedTuple):
    """A session: texts that the record or the brief lost, and what was attributed wrongly."""

    name: str
    typed: int
    lost: list[str]
    apart: list[str]
    lost_in_brief: list[str]
    wrong: list[str]


def session_rows(folder: Path, *, show: bool = False) -> Iterator[Row]:
    judged = [judge(path) for path in sorted(folder.glob("*.jsonl"))]
    for one in judged if show else ():
        for what in ("lost", "apart", "lost_in_brief", "wrong"):
            for text in getattr(one, what):
                yield f"{one.name}: {what.replace('_', ' ')}", repr(text), ""
    typed = sum(one.typed for one in judged)
    lost = sum(len(one.lost) for one in judged)
    brief = sum(len(one.lost_in_brief) for one in judged)
    wrong = sum(len(one.wrong) for one in judged)
    apart = sum(len(one.apart) for one in judged)
    yield f"typed texts lost in the record, {len(judged)} sessions", f"{lost} of {typed}", "0"
    yield "typed texts that stand apart as nobody's", f"{apart} of {typed}", "-"
    yield "typed texts lost in the brief of the hook", f"{brief} of {typed}", "0"
    yield "phrases of others shown as the user's", str(wrong), "0"


def judge(path: Path) -> Judged:
    """Read a session, and compare what is kept as the user's words with what was typed."""
    from holdfast.brief.compose import compose
    from holdfast.brief.item import OUTPUT_TOKENS
    from holdfast.record.reader import read_record

    expected = json.loads(path.with_suffix(".expected.json").read_text(encoding="utf-8"))
    record = read_record(str(path))
    kept = list(_users(record))
    brief = compose(record, OUTPUT_TOKENS, given="").text
    shown = [*kept, *_quoted(brief)]
    typed = expected["typed"]
    missing = [text for text in typed if not any(_whole(text) in one for one in kept)]
    known = "\n".join([*kept, *(one.text for one in record.unsure)])
    lost = [text for text in missing if not all(map(known.__contains__, _whole(text).split("\n")))]
    return Judged(
        path.stem,
        len(typed),
        lost,
        [text for text in missing if text not in lost],
        [text for text in typed if not _in_brief(brief, text.strip())],
        [text for text in expected["not_typed"] if any(text in one for one in shown)],
    )


def _users(record: Any) -> Iterator[str]:
    """What the record keeps as words of the user; a plan that was approved is the model's."""
    for turn in record.turns:
        yield "" if turn.is_plan else turn.asked
        yield from (one.answer for one in turn.questions)


def _whole(text: str) -> str:
    from holdfast.record.turns import CUT, clip_words

    return clip_words(text.strip()).partition(CUT)[0]


def _in_brief(brief: str, text: str) -> bool:
    """Whether the words stand there: colours are left out, and signs are shown otherwise where they
    could be taken for a tag. Text without any word must stand there as it is."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return _holds(brief, text) if _words(text) else text in brief


def _quoted(brief: str) -> Iterator[str]:
    """The lines that a reader takes for words of the user, without what they answer."""
    said = brief.partition("## What the user said")[2].partition("\n## ")[0]
    for line in said.splitlines():
        if line.startswith("- “"):
            yield line.partition("” (to “")[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path, nargs="?", help="a folder of transcripts")
    parser.add_argument("--sessions", type=Path, help="a folder of sessions with what was typed")
    parser.add_argument("--show", action="store_true", help="each miss, to be read")
    given = parser.parse_args()
    for row in rows(given.corpus) if given.corpus else ():
        print(*row, sep="  ")
    for row in session_rows(given.sessions, show=given.show) if given.sessions else ():
        print(*row, sep="  ")


if __name__ == "__main__":
    main()
