"""What is fuzzed: each target takes any bytes and raises if a law of its reader does not hold.

A reader may refuse with its own error. Anything else that is raised is a fault, and so is an answer
that breaks a law. Targets need nothing but Holdfast, so that what was found can be run as a test.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fuzz.choices import Choices, hostile_payload, hostile_transcript

IN_MEMORY = Path("/dev/shm")


@contextmanager
def _folder() -> Iterator[Path]:
    """A new folder, in memory where there is room: a run writes some hundred thousand files."""
    place = str(IN_MEMORY) if os.access(IN_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="holdfast-fuzz-", dir=place) as name:
        yield Path(name)


def transcript(data: bytes) -> None:
    """No content raises; every line is counted; reading on equals reading at once."""
    from holdfast.record.reader import read_record
    from holdfast.transcript import GZIP_MAGIC
    from holdfast.transcript.parse import LineTally
    from holdfast.transcript.reader import Reader, read
    from holdfast.transcript.steps import operations

    with _folder() as folder:
        path = folder / "session.jsonl"
        path.write_bytes(data)
        tally = LineTally()
        found = list(read(path, tally=tally))
        list(operations(found))
        list(operations(found, sidechain=True))
        written = [line for line in data.split(b"\n") if line.strip()]
        if not data.startswith(GZIP_MAGIC):
            # A whole line that was written behind a torn one makes two of one line.
            counted = tally.lines + tally.torn_tail
            assert len(written) <= counted <= 2 * len(written), "a line was not counted"
        read_record(path)
        half = data.rfind(b"\n", 0, len(data) // 2) + 1
        path.write_bytes(data[:half])
        reader = Reader(path)
        early = list(reader)
        path.write_bytes(data)
        late = [*early, *reader]
        if not data.startswith(GZIP_MAGIC):
            assert [(e.offset, e.line) for e in late] == [(e.offset, e.line) for e in found], (
                "reading on gave something else"
            )


def payload(data: bytes) -> None:
    """The hook's own parser agrees with `json` on JSON, and gives an object for anything else."""
    from holdfast.wire import scan, tail

    found = scan.parse_object(data)
    assert isinstance(found, dict)
    light = scan.parse_object(scan.lighten(scan.limit_payload(data)))
    size = tail.count_response_chars(light.get("tool_response"), 3.5)
    assert 0 <= size < float("inf"), "a size that is no size"
    with suppress(ValueError, RecursionError):
        expected = json.loads(data.decode("utf-8"))
        if isinstance(expected, dict):
            assert repr(found) == repr(expected), "not what json reads"


def hook(data: bytes) -> None:
    """Odd payloads and odd transcripts: nothing is raised, and what is printed is valid."""
    from holdfast.setup.rehearsal import read_output

    with _folder() as folder:
        choices = Choices(data)
        inner = folder / "a" / "b" / "c"  # an odd path may lead upwards
        inner.mkdir(parents=True)
        path = inner / "session.jsonl"
        path.write_bytes(hostile_transcript(choices))
        event, sent = hostile_payload(choices, path)
        printed = _fire(sent, inner)
        trouble = read_output(event, printed.decode("utf-8").strip())[2]
        assert not trouble, trouble


def _fire(sent: bytes, folder: Path) -> bytes:
    """One hook in this process: its home is the folder, and what it prints is caught."""
    from holdfast.hook import entry

    named = b'"hook_event_name"' in sent
    output, stdout, before = folder / "printed", os.dup(1), (Path.cwd(), list(sys.path))
    environ = dict(os.environ)
    os.environ.update(HOME=str(folder), HOLDFAST_HOME=str(folder / "home"))
    opened = os.open(output, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.chdir(folder)
        os.dup2(opened, 1)
        entry.handle(sent, [])
    except ValueError as error:
        if named and "names no event" not in str(error):
            raise
    finally:
        os.dup2(stdout, 1)
        for descriptor in (stdout, opened):
            os.close(descriptor)
        os.chdir(before[0])
        sys.path[:] = before[1]
        os.environ.clear()
        os.environ.update(environ)
    return output.read_bytes()


def checkpoint(data: bytes) -> None:
    """Refused with its own error, or read; what is written is read back; a changed bit is found."""
    from holdfast.checkpoint.checkpoint_file import DamagedCheckpoint, normalize, parse, render
    from holdfast.checkpoint.verify import verify

    with _folder() as folder:
        (folder / "checkpoint.md").write_bytes(data)
        verify(str(folder / "checkpoint.md"), [])
    try:
        found = parse(data)
    except DamagedCheckpoint:
        return
    document = normalize(found.document)
    written = render(document)
    again = parse(written)
    assert again.whole, "what was written does not verify"
    assert again.document == document, "what was written is read as something else"
    damaged = bytearray(written)
    damaged[len(data) * 7919 % len(written)] ^= 1 << (len(data) % 8)
    with suppress(DamagedCheckpoint):
        assert not parse(bytes(damaged)).whole, "a changed bit was not found"


def settings(data: bytes) -> None:
    """Our settings: no content raises, each value fits, and merging twice equals merging once."""
    from holdfast.settings import load
    from holdfast.settings.table import TABLE

    users, projects = data, b""
    if b"\n---\n" in data:
        users, projects = data.split(b"\n---\n", 1)
    with _folder() as folder, _home(folder):
        load.user_file().parent.mkdir(parents=True, exist_ok=True)
        load.user_file().write_bytes(users)
        load.project_file(str(folder)).parent.mkdir()
        load.project_file(str(folder)).write_bytes(projects)
        once = load.load(str(folder), environ={})
        for setting in TABLE:
            value = once.values[setting.name]
            assert type(value) is type(setting.default), (setting.name, value)
            if isinstance(value, int | float) and not setting.choices:
                assert setting.low <= value <= setting.high, (setting.name, value)
        assert load.load(str(folder), environ={}) == once, "loaded again, it differs"
        load.project_file(str(folder)).unlink()
        load.user_file().unlink()
        twice = load.load(str(folder), environ={}, changes=once.values)
        assert twice.values == once.values, "merged again, it differs"
        assert not twice.errors, twice.errors


@contextmanager
def _home(folder: Path) -> Iterator[None]:
    before = os.environ.get("HOLDFAST_HOME")
    os.environ["HOLDFAST_HOME"] = str(folder / "home")
    try:
        yield
    finally:
        del os.environ["HOLDFAST_HOME"]
        if before is not None:
            os.environ["HOLDFAST_HOME"] = before


def client_settings(data: bytes) -> None:
    """Claude Code's settings: refused, or joined and left again without a trace."""
    from holdfast.setup import settings_text, wiring
    from holdfast.setup.errors import SettingsBroken

    table, ours = wiring.hook_table(), frozenset((wiring.this_program().package,))
    try:
        text = settings_text.or_empty(data.decode("utf-8"))
        before = settings_text.check(text)
        settings_text.check_room(before)
    except (UnicodeDecodeError, SettingsBroken):
        return
    if settings_text.commands(before) or b"holdfast" in data:
        assert settings_text.leave(text, None, ours) is not None
        return
    line = wiring.status_line(settings_text.status_command_in(before))
    joined = settings_text.join(text, table, line)
    assert settings_text.has_all(joined, table, line, ours), "our part is not complete"
    left = settings_text.leave(joined, text, ours)
    assert left == text, "something of ours stayed, or something of theirs went"
    assert settings_text.join(left, table, line) == joined, "joined again, it differs"
    for key in before.keys() - {"hooks", "statusLine"}:
        assert repr(settings_text.check(joined)[key]) == repr(before[key]), f"{key} was changed"


def plan(data: bytes) -> None:
    """Refused with its own error, or read the same each time, with dependencies that exist."""
    from holdfast.plan.load import PARSERS, decode_plan, read_plan
    from holdfast.plan.task import BadPlan

    for suffix in PARSERS:
        with suppress(BadPlan):
            read_plan(data.decode("utf-8", "replace"), suffix)
    try:
        found = decode_plan(data)
    except BadPlan:
        return
    assert decode_plan(data) == found, "read again, it differs"
    if not data.startswith(b"\xef\xbb\xbf"):
        assert decode_plan(b"\xef\xbb\xbf" + data) == found, (
            "read with a byte order mark, it differs"
        )
    ids = [task.id for task in found.tasks]
    assert len(set(ids)) == len(ids), "two tasks with one id"
    for task in found.tasks:
        assert set(task.depends) <= set(ids), "waits for what is not there"
        assert task.id not in task.depends, "waits for itself"


TARGETS: dict[str, Callable[[bytes], None]] = {
    "transcript": transcript,
    "payload": payload,
    "hook": hook,
    "checkpoint": checkpoint,
    "settings": settings,
    "client_settings": client_settings,
    "plan": plan,
}
