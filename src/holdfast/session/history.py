"""What every transcript of this machine tells of its session: when it was, what it cost, and what
the summaries of its compactions hold.

The figures are an index, `history.json`: each transcript is read once, and again when it has grown.
Another release may compare otherwise, and reads everything again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from holdfast import __version__
from holdfast.brief.summary_coverage import count_messages, of_messages
from holdfast.client import agents
from holdfast.client.agents import agent_of
from holdfast.client.claude_folder import project_of
from holdfast.record.user_input import first_words
from holdfast.redact.find import redact
from holdfast.session.summary_report import compaction_report
from holdfast.text.sentences import title_of
from holdfast.transcript import Unreadable, lookup
from holdfast.transcript.lookup import read_compactions
from holdfast.window.history import TokenUse, UseByDay, read_use
from holdfast.wire import places

VERSION = 2
NAME = "history.json"
MOST_BYTES = 64 << 20
MOST_TRANSCRIPTS = 5_000
SAVE_SECONDS = 1.0
SHOWN = 20  # compactions


@dataclass(frozen=True, slots=True)
class SummaryCounts:
    """One compaction. Counts are None while its summary is not compared (`is_read`), and where
    the client left none. `restored` is what would have been, unless a brief `was_given`."""

    number: int
    at: str
    is_read: bool = False
    was_given: bool = False
    items: int | None = None
    not_found: int | None = None
    restored: int | None = None
    messages: int | None = None
    messages_not_found: int | None = None


@dataclass(frozen=True, slots=True)
class TranscriptFigures:
    """`at`: sizes and newest time of change of its files when they were read; zeros: not yet."""

    path: str
    session_id: str
    agent: str
    project: str
    title: str
    at: tuple[int, int] = (0, 0)
    first_ms: int = 0
    last_ms: int = 0
    steps: int = 0
    calls: int = 0
    lines: int = 0
    skipped: int = 0
    by_day: UseByDay = field(default_factory=dict)
    compactions: tuple[SummaryCounts, ...] = ()

    @property
    def is_read(self) -> bool:
        return self.at != (0, 0)


class SessionCompaction(NamedTuple):
    of: TranscriptFigures
    counts: SummaryCounts


Figures = dict[str, TranscriptFigures]
Tell = Callable[[Figures], object]


def load() -> Figures:
    """What is known, by path, newest first; empty if the file is missing, damaged or older."""
    return dict(_load(_stamp([Path(_path())])))


def update(tell: Tell = lambda _: None, is_over: Callable[[], bool] = lambda: False) -> Figures:
    """Bring the figures up to date: list all sessions, read each, compare summaries, newest first.
    `tell` is called after each step; what is done is saved in any case."""
    figures = _listed(load())
    saved_at = 0.0
    for step in (_read, _measure_next):
        for name in list(figures):
            while not is_over() and (after := _try(step, figures[name])) != figures[name]:
                figures[name] = after
                tell(figures)
                if time.monotonic() - saved_at > SAVE_SECONDS:
                    save(figures)
                    saved_at = time.monotonic()
    if figures != load():
        save(figures)
    return figures


def compactions() -> dict[tuple[str, int], SummaryCounts]:
    """Return what is known of every compaction of a main window, by session and number."""
    found = load().values()
    return {(one.session_id, each.number): each for one in found for each in one.compactions}


def last_compactions(figures: Figures) -> list[SessionCompaction]:
    passed = (
        SessionCompaction(figure, each)
        for figure in figures.values()
        for each in figure.compactions
    )
    compared = [one for one in passed if one.counts.items is not None]
    return sorted(compared, key=lambda one: one.counts.at, reverse=True)[:SHOWN]


def in_words(found: Sequence[SessionCompaction]) -> str:
    """A message is counted at each compaction after it: each summary may hold it or not."""
    messages = sum(one.counts.messages or 0 for one in found)
    missing = sum(one.counts.messages_not_found or 0 for one in found)
    which = "your last compaction" if len(found) == 1 else f"your last {len(found)} compactions"
    words = f"{of_messages(missing, messages)} {'is' if missing == 1 else 'are'}"
    where = "summary" if len(found) == 1 else "summaries (counted at each compaction)"
    return f"{which}: {words} not in the {where}"


def progress(figures: Figures) -> tuple[str, int, int]:
    """Return what is being done, how many are done, and of how many."""
    read = sum(figure.is_read for figure in figures.values())
    if read < len(figures):
        return "reading transcripts", read, len(figures)
    passed = [each for figure in figures.values() for each in figure.compactions]
    return "comparing summaries", sum(each.is_read for each in passed), len(passed)


def counts_in(report: dict[str, Any]) -> dict[str, int | None]:
    """Return the counts of a report; None where there is no summary to compare."""
    if report["summary"] is None:
        return dict.fromkeys(COUNTS)
    items = report["items"]
    missing = [item for item in items if not item["is_found"]]
    return {
        "items": len(items),
        "not_found": len(missing),
        "restored": sum(one["restored_in"] is not None for one in missing),
        "messages": count_messages(item["kind"] for item in items),
        "messages_not_found": count_messages(item["kind"] for item in missing),
    }


COUNTS = ("items", "not_found", "restored", "messages", "messages_not_found")


def save(figures: Figures) -> None:
    rows = [asdict(figure) for figure in list(figures.values())[:MOST_TRANSCRIPTS]]
    whole = {"version": VERSION, "release": __version__, "transcripts": rows}
    data = json.dumps(whole).encode()
    with suppress(OSError):  # the next reader reads the transcripts again
        places.make_folder(places.home())
        places.replace_whole(_path(), data)


def _path() -> str:
    return f"{places.home()}/{NAME}"


@lru_cache(1)
def _load(_stamped: tuple[int, int]) -> Figures:
    with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
        held = json.loads(places.read_small(_path(), MOST_BYTES) or b"{}")
        if (held.get("version"), held.get("release")) == (VERSION, __version__):
            return {row["path"]: _figures(row) for row in held["transcripts"]}
    return {}


def _figures(row: dict[str, Any]) -> TranscriptFigures:
    by_day = {
        day: {model: TokenUse(*used) for model, used in models.items()}
        for day, models in row["by_day"].items()
    }
    size, changed_ns = row["at"]
    counts = tuple(SummaryCounts(**compaction) for compaction in row["compactions"])
    known = {**row, "at": (size, changed_ns), "by_day": by_day, "compactions": counts}
    return TranscriptFigures(**known)


def _stamp(files: list[Path]) -> tuple[int, int]:
    size = newest_ns = 0
    for file in files:
        with suppress(OSError):
            about = file.stat()
            size, newest_ns = size + about.st_size, max(newest_ns, about.st_mtime_ns)
    return size, newest_ns


def _listed(known: Figures) -> Figures:
    """Return the transcripts that there are now, newest first, new ones by their first lines."""
    figures: Figures = {}
    for session, file in list(agents.by_session().items())[:MOST_TRANSCRIPTS]:
        one = known.get(str(file))
        if one is None:
            with suppress(OSError, Unreadable):  # deleted meanwhile, or no transcript
                title = title_of(redact(first_words(file)))
                project = project_of(file)
                one = TranscriptFigures(str(file), session, agent_of(file).name, project, title)
        if one is not None:
            figures[str(file)] = one
    return figures


def _try(step: Callable[[TranscriptFigures], TranscriptFigures], one: TranscriptFigures) -> Any:
    try:
        return step(one)
    except (OSError, Unreadable, ValueError):  # it stays as it was: not read
        return one


def _read(one: TranscriptFigures) -> TranscriptFigures:
    """Read the files of a session again if they have changed; what was compared stays."""
    file = Path(one.path)
    agents = [path for _, path in lookup.subagent_files(file)]
    at = _stamp([file, *agents])
    if at == one.at:
        return one
    use = read_use(file)
    by_day = use.by_day
    for path in agents:
        by_day = read_use(path, sidechain=True, before=by_day).by_day
    known = {each.number: each for each in one.compactions}
    passed = read_compactions(file, sidechain=False) if lookup.compactions(file).count else ()
    rest = use._asdict() | {"by_day": by_day}
    found = (known.get(n) or SummaryCounts(n, each.at) for n, each in enumerate(passed, 1))
    return replace(one, at=at, compactions=tuple(found), **rest)


def _measure_next(one: TranscriptFigures) -> TranscriptFigures:
    number = max((each.number for each in one.compactions if not each.is_read), default=0)
    if not number:
        return one
    report = compaction_report(Path(one.path), number, sidechain=False)
    counts = counts_in(report) if report else {}
    found = {each.number: each for each in one.compactions}
    values = (counts.get(name) for name in COUNTS)
    was_given = bool(report and report["was_given"])
    found[number] = SummaryCounts(number, found[number].at, True, was_given, *values)
    return replace(one, compactions=tuple(found.values()))
