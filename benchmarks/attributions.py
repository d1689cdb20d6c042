"""Words that summaries put into the user's mouth: how many are found, how many are false alarms.

    python -m benchmarks.attributions CORPUS_DIR [FABRICATIONS.json] [--show]

Every summary of the corpus is checked as it is: what is flagged there is read by hand (`--show`).
FABRICATIONS.json holds statements that someone else made up, to be inserted one at a time:
`session` (path below the corpus), `line` of the summary, `after` (a text of it) and `text`.

What users of other sessions said is a fabrication that nobody had to make up: the quotations in
every list of user messages are checked against their own session and against others of the same
repository.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.brief.attributions import find_unsourced, is_complete
from holdfast.brief.item import FalseClaim
from holdfast.brief.summary_coverage import contents_of
from holdfast.brief.summary_passages import passages
from holdfast.record import RecordReader
from holdfast.record.model import Record
from holdfast.transcript import Summary, read

Row = tuple[str, str, str]
WHOLE_MESSAGE = re.compile(r'"[^"]{8,800}"')
MOST_OTHERS = 3  # sessions that a quotation is put into


class Compacted(NamedTuple):
    session: str
    line: int
    summary: str
    record: Record
    flags: list[FalseClaim]


def rows(corpus: Path, fabrications: Path | None, *, show: bool = False) -> Iterator[Row]:
    known = [
        one for path in sorted(corpus.glob("*/*.jsonl.gz")) for one in _compacted(corpus, path)
    ]
    false = sum(len(one.flags) for one in known)
    complete = sum(is_complete(one.record) for one in known)
    yield (
        f"flags in {len(known)} real summaries, {complete} with a complete record",
        str(false),
        "≤ 4",
    )
    if show:
        yield from (("", claim.sentence, claim.evidence) for one in known for claim in one.flags)
    yield from _covered(known)
    yield from _exchanged(known)
    if fabrications is not None:
        yield from _found(known, json.loads(fabrications.read_text()), false, show=show)


def _compacted(corpus: Path, path: Path) -> Iterator[Compacted]:
    """Every compaction of a transcript, with the record as it was then."""
    data = gzip.decompress(path.read_bytes())
    if b"isCompactSummary" not in data:
        return
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(data)
        file.flush()
        for entry in read(Path(file.name)):
            if isinstance(entry, Summary) and not entry.is_sidechain:
                record = RecordReader().read(file.name, until=entry.offset)
                flags = find_unsourced(record, entry.text)
                line = data.count(b"\n", 0, entry.offset)
                yield Compacted(str(path.relative_to(corpus)), line, entry.text, record, flags)


def _covered(known: list[Compacted]) -> Iterator[Row]:
    """How the summaries tell what the user said and what is open."""
    told = [contents_of(one.summary, one.record) for one in known]
    for name, sections in (("messages", ("said",)), ("open items", ("tasks", "failing"))):
        counts = [
            sum(item.section in sections for items in some for item in items)
            for some in zip(*told, strict=True)
        ]
        yield f"{name} kept / shortened / lost", " / ".join(map(str, counts)), ""


def _exchanged(known: list[Compacted]) -> Iterator[Row]:
    """Quotations of real summaries: true at home, false in another session."""
    whole = [one for one in known if is_complete(one.record) and not one.record.words_missing]
    own = others = flagged_own = flagged_others = 0
    for one in whole:
        repository = one.session.partition("/")[0]
        beside = [
            other
            for other in whole
            if other.session != one.session and other.session.startswith(f"{repository}/")
        ][:MOST_OTHERS]
        for words in _quotations(one.summary):
            own, flagged_own = own + 1, flagged_own + _is_doubted(one, words)
            others += len(beside)
            flagged_others += sum(_is_doubted(other, words) for other in beside)
    yield "real quotations of the user flagged in their session", f"{flagged_own} of {own}", ""
    share = flagged_others / max(1, others)
    yield "the same in other sessions of the repository", f"{share:.0%} of {others}", ""


def _quotations(summary: str) -> list[str]:
    found = (passage.text for passage in passages(summary) if passage.is_users)
    return [text for text in found if WHOLE_MESSAGE.fullmatch(text) and text.count(" ") >= 4]


def _is_doubted(one: Compacted, words: str) -> bool:
    return bool(find_unsourced(one.record, f"6. All user messages:\n   - {words}\n"))


def _found(
    known: list[Compacted], made_up: list[dict[str, Any]], false: int, *, show: bool
) -> Iterator[Row]:
    by_place = {(one.session, one.line): one for one in known}
    verdicts: Counter[tuple[str, bool]] = Counter()
    for item in made_up:
        verdict = _is_flagged(by_place[item["session"], item["line"]], item)
        verdicts[item["kind"], verdict] += 1
        if show and not verdict:
            yield "missed", item["kind"], item["text"].strip()
    found = sum(count for (_, flagged), count in verdicts.items() if flagged)
    yield "fabrications found", f"{found} of {len(made_up)}", "≥ 60 %"
    for kind in sorted({kind for kind, _ in verdicts}):
        total = verdicts[kind, True] + verdicts[kind, False]
        yield f"of these, kind {kind}", f"{verdicts[kind, True]} of {total}", ""
    share = found / max(1, found + false)
    yield (
        "flags that are right, the false ones of all real summaries counted",
        f"{share:.0%}",
        "≥ 90 %",
    )


def _is_flagged(one: Compacted, item: dict[str, Any]) -> bool:
    head, after, tail = one.summary.partition(item["after"])
    before = {claim.sentence for claim in one.flags}
    flags = find_unsourced(one.record, head + after + item["text"] + tail)
    return any(claim.sentence not in before for claim in flags)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("fabrications", type=Path, nargs="?")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    for row in rows(given.corpus, given.fabrications, show=given.show):
        print(*row, sep="  ")
