"""Every file of ours states its version, and a reader takes no other.

Each file is written by the product's own writer, so no sample here can grow stale; what it reads
back as written must be found, and the very same bytes under another version must not.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from holdfast.archive import outputs, save_transcripts, transcripts
from holdfast.budget import ledger
from holdfast.checkpoint import index
from holdfast.checkpoint.index import BrokenIndex
from holdfast.checkpoint.write import keep
from holdfast.hub import projection_file
from holdfast.hub.ingest import set_aside
from holdfast.plan import estimate
from holdfast.record import model as record
from holdfast.segment import library
from holdfast.segment.formats import Done, Queue
from holdfast.session import history
from holdfast.setup import receipts
from holdfast.setup.receipts import Receipt
from holdfast.window import observed_limits, outbox, state
from holdfast.window.observed_limits import Observation
from holdfast.window.outbox import WindowOutbox
from holdfast.window.state import State
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError
from tests.archive.sessions import session_path
from tests.builders import a_prompt, a_transcript, an_answer
from tests.checkpoint.documents import a_document
from tests.plan.builders import an_edit

STATED = re.compile(rb'("version": ?)("?)(\d+)')


@dataclass(frozen=True)
class Format:
    """`write` leaves a file under the folder it is given; `read` finds in it what was written."""

    write: Callable[[Path], Path]
    read: Callable[[Path], object]


def _window(folder: Path) -> str:
    (folder / "main").mkdir(exist_ok=True)
    return str(folder / "main")


def _state(folder: Path) -> Path:
    state.save(_window(folder), State(used_tokens=50_000))
    return folder / "main" / "state.json"


def _outbox(folder: Path) -> Path:
    entry = outbox.OutboxEntry("m1", "[m1]", "[m1] hello", 1, 2)
    outbox.save(_window(folder), WindowOutbox([entry]))
    return folder / "main" / "outbox.json"


def _limits(folder: Path) -> Path:
    path = observed_limits.path()
    path.parent.mkdir(parents=True)
    observed_limits.add([Observation("m", "2.1.325", "{}", 167_000, "b1", 5)])
    return path


def _record(folder: Path) -> Path:
    path = folder / "record.json"
    path.write_bytes(record.save(record.Record(offset=7)))
    return path


def _queue(folder: Path) -> Path:
    library.save_queue("s1", Queue(compressed=[Done("s1_seg_1_0", topic="tables")]))
    return Path(library.queue_path("s1"))


def _projection(folder: Path) -> Path:
    found = {"version": projection_file.VERSION, "at_ms": 5, "session_id": "s1"}
    projection_file.write(_window(folder), found)
    return folder / "main" / projection_file.NAME


def _output(folder: Path) -> Path:
    outputs.keep("out-0123abcd", "a long text", {"tool": "Bash"})
    return Path(outputs.folder(), "out-0123abcd.txt")


def _read_output(folder: Path) -> object:
    try:
        return outputs.load("out-0123abcd")
    except HoldfastError:
        return None


def _transcript(folder: Path) -> Path:
    a_transcript(session_path(), a_prompt())
    save_transcripts.save_all(1 << 30)
    return Path(transcripts.copy_of(str(session_path())))


def _read_transcript(folder: Path) -> object:
    return transcripts.read_header(transcripts.copy_of(str(session_path())))


def _index(folder: Path) -> Path:
    keep(a_document(folder, "one"))
    return Path(index.path())


def _read_index(folder: Path) -> object:
    try:
        return index.load()
    except BrokenIndex:
        return None


def _receipt(folder: Path) -> Path:
    anchor = folder / "settings.json"
    for change in receipts.keep(folder, Receipt("user", str(anchor), "", ("a folder",), ())):
        change.path.parent.mkdir(exist_ok=True)
        change.path.write_bytes(change.after or b"")
    return receipts.path_for(folder, anchor)


def _ledger(folder: Path) -> Path:
    path = ledger.path_of("user")
    ledger.save(path, ledger.LedgerFile(1, [ledger.Pin("1", "stay")]))
    return Path(path)


def _set_aside(folder: Path) -> Path:
    set_aside.add("window:s1/main", "ValueError", 5)
    return Path(places.home(), "set-aside.json")


def _history(folder: Path) -> Path:
    figures = history.TranscriptFigures("/t.jsonl", "s1", "claude", "/p", "Map the harbour", (1, 2))
    history.save({figures.path: figures})
    return Path(places.home(), history.NAME)


FORMATS = {
    "state.json": Format(_state, lambda folder: state.load(_window(folder)).used_tokens),
    "outbox.json": Format(_outbox, lambda folder: outbox.load(_window(folder)).entries),
    "seen.json": Format(_limits, lambda folder: observed_limits.load().observations),
    "record.json": Format(
        _record, lambda folder: record.load((folder / "record.json").read_bytes())
    ),
    "queue": Format(_queue, lambda folder: library.list_archived("s1")),
    "work.json": Format(
        _projection, lambda folder: projection_file.read_projection(_window(folder))
    ),
    "an archived output": Format(_output, _read_output),
    "an archived transcript": Format(_transcript, _read_transcript),
    "the index of checkpoints": Format(_index, _read_index),
    "a ledger of pins": Format(_ledger, lambda _: ledger.load(ledger.path_of("user")).pins),
    "set-aside.json": Format(_set_aside, lambda folder: set_aside.load()),
    "history.json": Format(_history, lambda folder: history.load()),
    "a receipt": Format(_receipt, lambda folder: receipts.load(folder, folder / "settings.json")),
}


@pytest.mark.requirement("X6")
@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS.keys())
def test_what_is_written_is_read_and_the_same_under_another_version_is_not(
    tmp_path: Path, form: Format
) -> None:
    path = form.write(tmp_path)
    whole = path.read_bytes()
    assert form.read(tmp_path), "written and read by the same release"
    other, times = STATED.subn(rb"\g<1>\g<2>0", whole, count=1)
    assert (times, other != whole) == (1, True), "the file states its version"
    path.write_bytes(other)
    assert not form.read(tmp_path)


@pytest.mark.requirement("X6")
def test_an_outbox_with_an_entry_that_does_not_fit_starts_anew(tmp_path: Path) -> None:
    path = _outbox(tmp_path)
    held = json.loads(path.read_bytes())
    for name, spoiled in (("created_ms", "1"), ("state", "lost"), ("text", "x" * 999), ("id", 7)):
        [entry] = held["entries"]
        path.write_text(json.dumps({**held, "entries": [{**entry, name: spoiled}]}))
        assert outbox.load(_window(tmp_path)).entries == [], name
    path.write_text(json.dumps(held))
    assert outbox.load(_window(tmp_path)).entries


@pytest.mark.requirement("X6", "P1")
def test_what_past_requests_took_is_counted_again_under_another_version(tmp_path: Path) -> None:
    """The rows are taken out, so that whoever believes the file finds none."""
    a_transcript(
        tmp_path / "p" / "s.jsonl",
        a_prompt("Map the harbour."),
        an_edit(40_000, "m1", "map.py"),
        an_answer(50_000, id="m2"),
    )
    before = estimate.learn(Path("/p"), tmp_path)
    path = Path(places.home(), "plan", "past.json")
    held = json.loads(path.read_bytes())
    assert held["version"] == estimate.VERSION
    for entry in held["transcripts"].values():
        entry["rows"] = []
    path.write_text(json.dumps(held))
    emptied = estimate.learn(Path("/p"), tmp_path)
    assert emptied != before, "the file of this version is believed"
    path.write_text(json.dumps({**held, "version": estimate.VERSION + 1}))
    assert estimate.learn(Path("/p"), tmp_path) == before
