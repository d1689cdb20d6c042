"""Reading on gives what reading anew would give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.transcript.reader import read
from holdfast.window import tail_reader
from tests.builders import a_prompt, a_result, an_answer

LINES = st.one_of(
    st.integers(1_000, 90_000).map(lambda used: json.dumps(an_answer(used, id=f"m{used}"))),
    st.text(max_size=80).map(lambda text: json.dumps(a_prompt(text))),
    st.text(max_size=400).map(lambda text: json.dumps(a_result("t1", text))),
    st.just("not a line of a session"),
)


@pytest.mark.slow
@pytest.mark.requirement("W7", "U6")
@given(
    st.lists(st.tuples(st.lists(LINES, max_size=4), st.integers(0, 60)), max_size=8),
    st.integers(200, 4_000),
)
def test_what_is_followed_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    grown: list[tuple[list[str], int]],
    last_bytes: int,
) -> None:
    path = tmp_path_factory.mktemp("following") / "s.jsonl"
    path.touch()
    follows, whole = tail_reader.Following(), b""
    for lines, torn in grown:
        whole += "".join(line + "\n" for line in lines).encode()
        path.write_bytes(whole + b'{"type":"user","message":{"role":"user"'[:torn])
        start = max(0, path.stat().st_size - last_bytes)
        anew = [entry.offset for entry in read(path, start=start)]
        assert [entry.offset for entry in follows.entries(str(path), start)] == anew


@pytest.mark.requirement("W7", "U6")
def test_another_file_under_the_same_name_is_refresh_readings(tmp_path: Path) -> None:
    path, follows = tmp_path / "s.jsonl", tail_reader.Following()
    path.write_text(json.dumps(a_prompt("first")) + "\n")
    assert len(list(follows.entries(str(path), 0))) == 1
    other = tmp_path / "other"
    other.write_text("".join(json.dumps(a_prompt(f"n{n}")) + "\n" for n in range(3)))
    other.replace(path)
    assert len(list(follows.entries(str(path), 0))) == 3
    path.write_text("")
    assert list(follows.entries(str(path), 0)) == []
