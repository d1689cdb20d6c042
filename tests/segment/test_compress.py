"""Compression without a model: what is kept, what is dropped, and how long it may be."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.record.reader import read_record
from holdfast.segment import compress, formats, library
from holdfast.segment.formats import Compressed
from tests.checkpoint.sessions import Session
from tests.segment.library_builders import NOW_MS
from tests.segment.topics import MAIL, TABLE, cut, works_on

NOISE = "noise of a tool " * 400


def _compressed(session: Session, folder: Path) -> Compressed:
    """The first segment of a session, as a roll would make it."""
    [first, *_] = cut(session, folder)
    path = str(session.written(folder))
    source = compress.read_source(first, read_record(path), path)
    given = {"session_id": "s-1", "project": "/work/project", "transcript": path}
    return compress.compress(source, now_ms=NOW_MS, **given)


def _session() -> Session:
    session = Session().user(TABLE).says("Shall I use eval?").user("Never use eval in the reader.")
    session.says("Decision: decode as utf-8-sig, because the mark then needs no code.")
    for _ in range(4):
        session.calls("Read", NOISE, file_path="/work/project/src/table/reader.py")
    session.runs("pytest -q tests/test_reader.py", "E  KeyError: 'bom'\n" + NOISE, fails=True)
    session.edits("/work/project/src/table/reader.py", "old", "def read_heading(): ...")
    session.runs("pytest -q tests/test_reader.py", "3 passed")
    session.says("The reader now skips the mark, and the test for it passes.")
    return works_on(session, MAIL, 12)


@pytest.mark.requirement("R3")
def test_what_matters_is_kept_in_a_fifth_of_the_tokens(tmp_path: Path) -> None:
    one = _compressed(_session(), tmp_path)
    for words in (
        TABLE,
        "Never use eval in the reader.",
        "Decision: decode as utf-8-sig",
        "The reader now skips the mark",
        "src/table/reader.py*",
        "pytest -q tests/test_reader.py",
        "KeyError: 'bom'",
    ):
        assert words in one.compressed_content, words
    assert one.key_files == ["src/table/reader.py"]
    assert "utf-8-sig" in one.key_decisions[0]
    assert "digest" not in one.compressed_content and "noise of" not in one.compressed_content
    assert one.compressed_tokens == formats.tokens(one.compressed_content)
    assert one.compressed_tokens <= 0.2 * one.original_tokens and one.compression_ratio >= 5
    meta = one.metadata
    assert (meta.contains_code, meta.contains_errors, meta.task_completed) == (True, True, True)
    assert meta.substance == 1.0
    assert (one.start_turn, one.end_turn) == (1, 10)


@pytest.mark.requirement("R3")
def test_the_outcome_is_whole_and_the_rest_of_the_room_is_used(tmp_path: Path) -> None:
    rows = [f"- point {number} of the report on the reader" for number in range(60)]
    session = Session().user(TABLE)
    for number in range(30):
        session.says(f"Heading {number} has a mark of its own, which the old reader passed over.")
        session.edits("/work/project/src/table/reader.py", "old", f"skip_mark({number})  # {NOISE}")
    session.says("\n".join(["The reader skips every mark.", *rows]))
    text = _compressed(works_on(session, MAIL, 12), tmp_path).compressed_content
    assert rows[-1] in text
    assert "Heading 7 has a mark of its own" in text and "skip_mark(29)" in text


@pytest.mark.requirement("R3")
def test_a_failure_is_quoted_and_so_is_that_it_passed_since(tmp_path: Path) -> None:
    session = Session().user(TABLE)
    for _ in range(4):
        session.calls("Read", NOISE, file_path="/work/project/src/table/reader.py")
    session.runs("pytest -q tests/test_reader.py", "E  KeyError: 'bom'", fails=True)
    session.says("The reader is written; its test still fails.")
    works_on(session, MAIL, 12)
    failed = "\nFailed: `pytest -q tests/test_reader.py`: E KeyError: 'bom'"
    assert f"{failed}\n" in _compressed(session, tmp_path).compressed_content
    session.runs("pytest -q tests/test_reader.py", "3 passed").works(9)
    assert f"{failed} (passed at step 33)\n" in _compressed(session, tmp_path).compressed_content


@pytest.mark.requirement("R3", "X4")
def test_secrets_are_taken_out_of_every_field(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    session = Session().user(f"Use {token} for the upload of the tables, and decide how to.")
    session.says(f"I decided to go with {token} because it works.")
    session.runs(f"upload --token {token}", "ok").runs(f"check --token {token}", "ok")
    session.calls("Read", file_path=f"/work/project/{token}.py").works(5)
    works_on(session, MAIL, 12)
    for number in range(4):
        session.calls("Read", file_path=f"/work/project/{token}/{number}.py")
    one = _compressed(session, tmp_path)
    assert token.encode() not in formats.encode(one)


@pytest.mark.requirement("R3")
@given(tokens=st.integers(0, 10**7))
def test_the_budget_is_a_fifth_with_a_floor_and_a_ceiling(tokens: int) -> None:
    most = compress.budget(tokens)
    assert library.FLOOR_TOKENS <= most <= compress.MOST_TOKENS
    assert most <= max(library.FLOOR_TOKENS, tokens / 5)
