"""Reading from an offset: growing files, gzip, long lines, and what is not a file."""

import gzip
import os
import socket
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from holdfast.transcript import Unreadable, reader
from holdfast.transcript.entries import Answer, Entry
from holdfast.transcript.reader import Reader, TranscriptSource, read
from tests.transcript.builders import answer, encoded, jsonl, prompt, written


def ids(entries: Iterable[Entry]) -> list[str]:
    return [e.message_id for e in entries if isinstance(e, Answer)]


@pytest.mark.requirement("X6")
def test_a_line_written_behind_a_torn_one_is_read(tmp_path: Path) -> None:
    """A crash left half a line, and the client wrote on behind it."""
    torn = encoded(prompt("Cut in two by a full disk."))[:-40]
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(answer("m1")) + torn + jsonl(answer("m2"), answer("m3")))
    place = Reader(path)
    found = list(place)
    assert ids(found) == ["m1", "m2", "m3"]
    assert (place.tally.malformed, place.tally.words_lost, place.tally.lines) == (1, 1, 4)
    assert ids(reader.read_at(path, [found[1].offset])) == ["m2"]


def test_a_line_that_grows_while_it_is_read_is_not_taken_for_two(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"type":"us')
    with TranscriptSource(path) as source, path.open("ab") as file:
        lines = source.lines(0, 1000)
        assert next(lines) == b'{"type":"us'
        file.write(b'er"}\n')
        file.flush()
        assert list(lines) == []


def test_gzip_is_read_as_if_it_were_plain(tmp_path: Path) -> None:
    lines = jsonl(answer("m1"), answer("m2"))
    path = tmp_path / "s.jsonl.gz"
    path.write_bytes(gzip.compress(lines))
    place = Reader(path)
    assert ids(place) == ["m1", "m2"]
    assert place.offset == len(lines)
    assert ids(read(path, start=len(jsonl(answer("m1"))))) == ["m2"]


@pytest.mark.requirement("X7")
@pytest.mark.parametrize("start", [0, 1 << 20])
@pytest.mark.parametrize("harm", [lambda z: z[:-20], lambda z: z[:60] + b"\0" * 40 + z[100:]])
def test_a_damaged_gzip_gives_what_came_before_the_damage(
    tmp_path: Path, harm: Callable[[bytes], bytes], start: int
) -> None:
    packed = gzip.compress(os.urandom(2000).hex().encode() + b"\n" + jsonl(answer("m1")))
    path = tmp_path / "s.jsonl.gz"
    path.write_bytes(harm(packed))
    place = Reader(path, start=start)
    assert len(list(place)) <= 1
    assert place.tally.torn_tail


@pytest.mark.requirement("X7")
def test_a_giant_line_is_skipped_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "LONGEST_LINE_BYTES", 4096)
    path = written(tmp_path, answer("m1"), prompt("x" * 50_000), answer("m2"))
    place = Reader(path)
    assert ids(place) == ["m1", "m2"]
    assert (place.tally.oversized, place.tally.lines) == (1, 3)


@pytest.mark.requirement("X7")
def test_a_giant_line_without_an_end_is_left_for_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "LONGEST_LINE_BYTES", 4096)
    whole = jsonl(answer("m1"))
    path = tmp_path / "s.jsonl"
    path.write_bytes(whole + b'{"type":"' + b"x" * 50_000)
    place = Reader(path)
    assert ids(place) == ["m1"]
    assert place.offset == len(whole)
    assert (place.tally.torn, place.tally.oversized) == (1, 0)


@pytest.mark.requirement("X7")
def test_what_is_not_a_regular_file_is_unreadable_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fifo, listener = tmp_path / "fifo", tmp_path / "socket"
    os.mkfifo(fifo)
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(tmp_path)  # a socket's path may have only 108 bytes
        server.bind(listener.name)
        odd = [fifo, listener, tmp_path, tmp_path / "missing", Path("/dev/null"), Path("a\0b")]
        for path in odd:
            with pytest.raises(Unreadable, match="cannot read"):
                list(read(path))


@pytest.mark.parametrize("is_zipped", [False, True])
def test_single_lines_are_read_in_one_going_through(tmp_path: Path, is_zipped: bool) -> None:
    """Of a gzip too: going back to its beginning for each would take as often as long."""
    lines = [jsonl(answer(f"m{number}")) for number in range(4)]
    starts = [sum(map(len, lines[:number])) for number in range(4)]
    data = b"".join(lines)
    path = tmp_path / "s.jsonl"
    path.write_bytes(gzip.compress(data) if is_zipped else data)
    assert ids(reader.read_at(path, [starts[3], starts[1]])) == ["m1", "m3"]
    assert ids(reader.read_at(path, [5, starts[2], len(data), 1 << 40])) == ["m2"]
