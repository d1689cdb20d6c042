"""How well people's questions about real sessions are answered by the search.

    python -m benchmarks.questions QUESTIONS.json CORPUS [--meaning] [--keep DIR] [--misses]

QUESTIONS is a list of {"repo", "question", "kind", "answer": [strings]}; CORPUS has a folder of
.jsonl or .jsonl.gz sessions for each repo. The sessions of a repo become one project in a
temporary home, and `recall` answers there as it does for `holdfast search` and the MCP tool.
A result is right if its text holds one of the answer's strings, in any case and spacing; it is
shown right if the few words that are printed of it do. The answers should be written by someone
who has read the sessions and not the code.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from holdfast.memory import embedders, engines, locations, sync
from holdfast.memory.recall import recall
from holdfast.memory.results import FoundItem

Row = tuple[str, str, str]
FIRST = 5
_PLACES = ("HOME", "HOLDFAST_HOME", "CLAUDE_CONFIG_DIR", "HOLDFAST_DATABASE")


class Asked(NamedTuple):
    """One question: the rank of the first right result (0: none), as found and as shown."""

    kind: str
    repo: str
    question: str
    right: int
    shown: int
    ms: float
    cpu_ms: float
    items: int


def ask(
    questions: Sequence[dict[str, Any]],
    corpus: Path,
    *,
    by_meaning: bool = False,
    keep: Path | None = None,
) -> Iterator[Asked]:
    by_repo: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in questions:
        by_repo[one["repo"]].append(one)
    with _home(keep) as home:
        for repo, some in by_repo.items():
            project = _project(home, corpus / repo)
            index = engines.open_index(locations.resolve(project))
            sync.sync_index(index)
            if by_meaning:
                sync.fill_vectors(index, embedders.current_embedder())
            items = index.counts().items
            recall("warm", project=project, by_keyword=not by_meaning)
            for one in some:
                yield _asked(one, project, items, by_keyword=not by_meaning)


def _asked(one: dict[str, Any], project: str, items: int, *, by_keyword: bool) -> Asked:
    began, began_cpu = time.perf_counter(), time.process_time()
    found = recall(one["question"], project=project, limit=FIRST, by_keyword=by_keyword).found
    ms = (time.perf_counter() - began) * 1000
    cpu_ms = (time.process_time() - began_cpu) * 1000
    wanted = [_flat(answer) for answer in one["answer"]]
    right = _rank([_whole(result) for result in found], wanted)
    shown = _rank([_shown(result) for result in found], wanted)
    return Asked(one["kind"], one["repo"], one["question"], right, shown, ms, cpu_ms, items)


def _whole(result: FoundItem) -> str:
    """All a result holds: what was asked in its turn, and the words that were found there."""
    return f"{result.item.title} {result.text}"


def _shown(result: FoundItem) -> str:
    return f"{result.title} {result.snippet}"


def _rank(texts: Sequence[str], wanted: Sequence[str]) -> int:
    flat = [_flat(text) for text in texts]
    return next((n for n, text in enumerate(flat, 1) if any(one in text for one in wanted)), 0)


def _flat(text: str) -> str:
    return " ".join(text.lower().split())


@contextmanager
def _home(keep: Path | None) -> Iterator[Path]:
    """A home of its own: neither the user's sessions nor the user's index are touched."""
    before = {name: os.environ.get(name) for name in _PLACES}
    with ExitStack() as stack:
        made = tempfile.TemporaryDirectory(prefix="holdfast-questions-")
        home = keep.resolve() if keep else Path(stack.enter_context(made))
        os.environ.pop("HOLDFAST_DATABASE", None)
        os.environ["HOME"] = str(home)
        os.environ["HOLDFAST_HOME"] = str(home / ".holdfast")
        os.environ["CLAUDE_CONFIG_DIR"] = str(home / ".claude")
        try:
            yield home
        finally:
            for name, value in before.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value


def _project(home: Path, sessions: Path) -> str:
    """A folder for the project, and its sessions where the client would have written them."""
    project = home / "src" / sessions.name
    project.mkdir(parents=True, exist_ok=True)
    folder = Path(locations.client_folder(locations.resolve(str(project))))
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(sessions.glob("*.jsonl*")):
        plain = folder / path.name.removesuffix(".gz")
        if plain.exists():
            continue
        data = path.read_bytes()
        plain.write_bytes(gzip.decompress(data) if path.suffix == ".gz" else data)
    return str(project)


def rows(questions: Path, corpus: Path) -> Iterator[Row]:
    """For `make bench`, by keyword: vectors for a corpus take most of an hour."""
    yield from told(list(ask(_read(questions), corpus)))


def told(found: Sequence[Asked]) -> Iterator[Row]:
    about = f"{len(found)} questions"
    yield f"right answer first, {about}", _share([one.right == 1 for one in found]), "≥ 60 %"
    yield f"right answer in the first {FIRST}", _share([one.right > 0 for one in found]), "≥ 90 %"
    yield "shown by the first result", _share([one.shown == 1 for one in found]), ""
    yield f"shown by the first {FIRST}", _share([one.shown > 0 for one in found]), ""
    for kind in sorted({one.kind for one in found}):
        ranks = [one.right for one in found if one.kind == kind]
        first, five = (_share([1 <= rank <= most for rank in ranks]) for most in (1, FIRST))
        yield f"{kind}: first, in the first {FIRST}", f"{first}, {five}", ""
    largest = max((one.items for one in found), default=0)
    spent = median([one.ms for one in found] or [0.0])
    cpu = median([one.cpu_ms for one in found] or [0.0])
    name = f"one search, at most {largest:,} items, p50"
    yield name, f"{spent:.0f} ms, CPU {cpu:.0f} ms", "≤ 50 ms"


def _share(those: Sequence[bool]) -> str:
    return f"{sum(those)} of {len(those)} ({sum(those) / max(1, len(those)):.0%})"


def _read(path: Path) -> list[dict[str, Any]]:
    found = json.loads(path.read_text(encoding="utf-8"))
    return [one for one in found if one.get("answer")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--meaning", action="store_true", help="make vectors first: slow")
    parser.add_argument("--keep", type=Path, help="keep sessions and index here for another run")
    parser.add_argument("--misses", action="store_true", help="list what was not right at once")
    parser.add_argument("--repo", default="", help="only questions of repositories named so")
    given = parser.parse_args()
    questions = [one for one in _read(given.questions) if given.repo in one["repo"]]
    found = list(ask(questions, given.corpus, by_meaning=given.meaning, keep=given.keep))
    for name, figure, wanted in told(found):
        print(f"{name:48} {figure:24} {wanted}".rstrip())
    for one in found if given.misses else ():
        if one.right != 1 or one.shown != 1:
            print(f"  {one.right}/{one.shown}  {one.kind}, {one.repo}: {one.question}")


if __name__ == "__main__":
    main()
