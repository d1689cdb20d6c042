"""Whether what a checkpoint says is true: compared with sessions that people labelled by hand.

    python -m benchmarks.contents CORPUS_DIR LABELS_DIR [--misses] [--only LIST.json]

LABELS_DIR holds a JSON object per session: `session` (its path in the corpus), `open` (`what`,
`kind`, `evidence`), `nothing_open`, `traps` (what looks open and is finished), `decisions` (`what`,
`question`, `by`) and `changed` (paths). The checkpoint is made from the whole session by the
product's own writer.

People label in their own words, so texts are compared by distinctive words: numbers, capitals, and
words of four letters and more, cut to six, less a few that go with anything. Two texts tell of the
same thing when they share half of the distinctive words of the shorter one, and two at least.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tempfile
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

Row = tuple[str, str, str]
Label = dict[str, Any]
Sections = dict[str, list[str]]
STEM = 6
SHARE = 0.5
TRAP, UNLABELLED = "trap", "no label"
_STOP_WORDS = (
    "with that this from have will into then them they your been were should would could after "
    "before still only also when what which where like just more since planned pending progress "
    "result failing answered never turn running"
)
_STOP = frozenset(_STOP_WORDS.split())
_WORD = re.compile(r"[^\W_]+")
_TURN = re.compile(r"\([^()]*(?:since|set in) turn[^()]*\)|\b(?:turn|task) #?\d+", re.IGNORECASE)
_NOTE = re.compile(r" \([^)]*\)$")  # a remark behind a labelled path


class Check(NamedTuple):
    """One thing that was looked for, or shown: right or not."""

    measure: str
    group: str
    ok: bool
    text: str


def words(text: str) -> frozenset[str]:
    """The distinctive words of a text."""
    found = _WORD.findall(_TURN.sub(" ", text))
    return frozenset(
        word.lower().rstrip("s")[:STEM]
        for word in found
        if (len(word) > 3 or word.isdigit() or (word.isupper() and len(word) > 1))
        and word.lower() not in _STOP
    )


def same(label: str, shown: str) -> bool:
    """Both tell of the same thing."""
    one, other = words(label), words(shown)
    shorter = min(len(one), len(other))
    common = len(one & other)
    return bool(common) and common >= min(max(2, SHARE * shorter), shorter)


def compare(label: Label, sections: Sections) -> Iterator[Check]:
    yield from _open(label, sections)
    yield from _decided(label, sections)
    yield from _changed(label, sections)


def _open(label: Label, sections: Sections) -> Iterator[Check]:
    steps = sections["Next Steps"]
    shown = [*steps, *sections["Active Issues"]]
    for item in label["open"]:
        known = any(_tells(item, one) for one in shown)
        yield Check("open items found", item["kind"], known, item["what"])
    for one in shown:
        true = any(_tells(item, one) for item in label["open"])
        trap = any(same(item, one) for item in label["traps"])
        measure = "true in Next Steps" if one in steps else "true in Active Issues"
        yield Check(measure, "" if true else TRAP if trap else UNLABELLED, true, one)


def _tells(item: Label, shown: str) -> bool:
    return same(item["what"], shown) or same(f"{item['what']} {item['evidence']}", shown)


def _decided(label: Label, sections: Sections) -> Iterator[Check]:
    shown = sections["Key Decisions"]
    told = ("Why Changed", "In Progress")
    anywhere = [*shown, *(one for name in told for one in sections[name])]
    for item in label["decisions"]:
        for measure, places in (("in Key Decisions", shown), ("anywhere", anywhere)):
            known = any(same(item["what"], one) for one in places)
            yield Check(f"decisions found {measure}", item["by"], known, item["what"])
    for one in shown:
        true = any(_decides(item, one) for item in label["decisions"])
        yield Check("true in Key Decisions", "" if true else UNLABELLED, true, one)


def _decides(item: Label, shown: str) -> bool:
    return same(item["what"], shown) or same(f"{item['what']} {item['question']}", shown)


def _changed(label: Label, sections: Sections) -> Iterator[Check]:
    """Shown by its name and as much of its path as the project needs."""
    shown = {re.split(r"[:,]", one)[0] for item in sections["What Changed"] for one in item.split()}
    for path in label["changed"]:
        path = _NOTE.sub("", path)
        known = any(path == one or path.endswith(f"/{one}") for one in shown)
        yield Check("edited files in What Changed", "", known, path)


def measure(
    corpus: Path, labels: Path, only: Collection[str] = ()
) -> Iterator[tuple[str, list[Check]]]:
    """Each labelled session, and what its checkpoint got right and wrong."""
    from holdfast.checkpoint.sections import sections_of
    from holdfast.record.reader import read_record

    for path in sorted(labels.glob("*.json")):
        label = json.loads(path.read_text())
        if not isinstance(label, dict) or (only and label["session"] not in only):
            continue
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
            file.write(gzip.decompress((corpus / label["session"]).read_bytes()))
            file.flush()
            yield label["session"], list(compare(label, sections_of(read_record(file.name))))


def rows(corpus: Path, labels: Path) -> Iterator[Row]:
    yield from _rows([one for _, found in measure(corpus, labels) for one in found])


_WANTED = {
    "open items found": "≥ 90 %",
    "true in Next Steps": "≥ 95 %",
    "decisions found anywhere": "≥ 90 %",
    "true in Key Decisions": "≥ 95 %",
    "edited files in What Changed": "all",
}


def _rows(checks: list[Check]) -> Iterator[Row]:
    for name in dict.fromkeys(one.measure for one in checks):
        of = [one for one in checks if one.measure == name]
        yield name, _share(of), _WANTED.get(name, "")
        for group in sorted({one.group for one in of} - {""}):
            some = [one for one in of if one.group == group]
            figure = str(len(some)) if group in (TRAP, UNLABELLED) else _share(some)
            yield f"· {group}", figure, ""


def _share(checks: Collection[Check]) -> str:
    right = sum(one.ok for one in checks)
    return f"{right} of {len(checks)}, {right / len(checks):.0%}"


def _misses(checks: Iterable[Check]) -> list[str]:
    return [f"{one.measure}, {one.group}: {one.text}" for one in checks if not one.ok]


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare checkpoints with labelled sessions.")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("labels", type=Path)
    parser.add_argument("--misses", action="store_true", help="print what was missed or wrong")
    parser.add_argument("--only", type=Path, help="a JSON list of sessions")
    given = parser.parse_args()
    only = json.loads(given.only.read_text()) if given.only else ()
    checks: list[Check] = []
    for session, found in measure(given.corpus, given.labels, only):
        checks += found
        if given.misses:
            print(session, *_misses(found), sep="\n  ")
    for row in _rows(checks):
        print(*row, sep="  ")


if __name__ == "__main__":
    main()
