"""What sets the briefs of the four roles apart, on real sessions and on one of five waves.

    python -m benchmarks.roles                          # the one of five waves, built over HTTP
    python -m benchmarks.roles CORPUS_DIR [--sessions N]
    python -m benchmarks.roles --write DIR              # its briefs, to be read cold

A session gives cause for a brief of its own if it has what the role works with: subagents for an
orchestrator, changed files for a validator and a specialist, failing commands for a validator.
Where it does, a role is compared with the developer: is the brief another one, byte for byte, and
how much of what the role works with stands in it.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from collections.abc import Iterator
from pathlib import Path

from starlette.testclient import TestClient
from tests.api.five_waves import Session

from holdfast.api.app import create
from holdfast.brief.compose import Brief, compose
from holdfast.brief.roles import ROLES
from holdfast.hub.store.store import Store
from holdfast.record.model import Record
from holdfast.record.reader import read_record

Row = tuple[str, str, str]
USUAL = "developer"
SIZES = (500, 2000)  # tokens
# What each works with; the developer is measured by the same.
WORKS_WITH = {
    "orchestrator": ("agents",),
    "validator": ("changed files", "commands that fail"),
    "specialist": ("changed files",),
}


def rows(corpus: Path, most: int | None = None) -> Iterator[Row]:
    found = [
        (_things(record), {role: compose(record, role=role) for role in ROLES})
        for record in _records(corpus, most)
    ]
    alike = sum(len({one.text for one in briefs.values()}) == 1 for _, briefs in found)
    yield f"sessions of {len(found)} in which all four roles are alike", str(alike), "0"
    for role, kinds in WORKS_WITH.items():
        cause = [one for one in found if any(one[0][kind] for kind in kinds)]
        own = sum(briefs[role].text != briefs[USUAL].text for _, briefs in cause)
        yield f"{role}: briefs unlike the developer's", f"{own} of {len(cause)}", "all"
        for kind in kinds:
            told, usual = (
                _share([(things[kind], briefs[name]) for things, briefs in cause])
                for name in (role, USUAL)
            )
            yield f"{role}: {kind} told (developer)", f"{told:.3f} ({usual:.3f})", "not less"


def five_waves(write: Path | None = None) -> Iterator[Row]:
    """Over HTTP; a line is shared if it stands in the briefs of all four roles."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(f"sqlite:///{folder}/holdfast.db")
        session = Session(TestClient(create(store), "http://127.0.0.1:3847"))
        for size in SIZES:
            briefs = {role: session.brief(role, size) for role in (*ROLES, "main")}
            lines = [set(briefs[role].splitlines()) for role in ROLES]
            shared = len(set.intersection(*lines))
            share = shared / (sum(map(len, lines)) / len(lines))
            told = f"{share:.0%} ({shared} of {', '.join(str(len(one)) for one in lines)})"
            yield f"lines shared by four roles, five waves, {size} tokens", told, "≤ 40%"
        store.close()
    if write is not None:
        for role, text in briefs.items():
            (write / f"{role}.md").write_text(f"{text}\n")


def _records(corpus: Path, most: int | None) -> Iterator[Record]:
    for path in sorted(corpus.glob("*/*.jsonl.gz"))[:most]:
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
            file.write(gzip.decompress(path.read_bytes()))
            file.flush()
            record = read_record(file.name)
        if record.turns and record.op:
            yield record


def _things(record: Record) -> dict[str, set[str]]:
    """What there is of each kind, by what a brief's item is known by."""
    failing = {key for key, one in record.commands.items() if one.failed and not one.failed.closed}
    return {
        "agents": {str(one.place) for one in record.agents.values()},
        "changed files": {path for path, one in record.files.items() if one.edits},
        "commands that fail": failing,
    }


def _share(pairs: list[tuple[set[str], Brief]]) -> float:
    """The mean over sessions that have some of it."""
    shares = [len(things & _told(brief)) / len(things) for things, brief in pairs if things]
    return sum(shares) / max(1, len(shares))


def _told(brief: Brief) -> set[str]:
    keys = {one.key for one in brief.items}
    return keys | {str(one.place) for one in brief.items if one.section == "agents"}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus", type=Path, nargs="?")
    parser.add_argument("--sessions", type=int)
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    for row in rows(given.corpus, given.sessions) if given.corpus else five_waves(given.write):
        print(*row, sep="  ")
