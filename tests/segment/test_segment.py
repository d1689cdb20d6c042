"""Where a segment begins, what it is called, and whether it is done."""

from pathlib import Path

import pytest

from holdfast.record.model import Record
from holdfast.segment import compress
from holdfast.segment.compress import Segment
from tests.checkpoint.sessions import Session
from tests.segment.topics import COLOUR, MAIL, TABLE, a_session, cut, works_on


def _first(session: Session, folder: Path) -> tuple[Record, Segment]:
    return session.record(folder), cut(session, folder)[0]


@pytest.mark.requirement("R1")
def test_a_request_on_other_files_begins_a_segment(tmp_path: Path) -> None:
    found = cut(a_session(TABLE, MAIL, COLOUR), tmp_path)
    assert [(one.start_turn, one.end_turn) for one in found] == [(1, 18), (19, 36)]
    assert [one.files for one in found] == [["src/table/reader.py"], ["mail/digest.html"]]


@pytest.mark.requirement("R1")
@pytest.mark.parametrize("words", ["yes", "go on", "thanks, looks good so far", "B"])
def test_a_short_reply_goes_on_with_the_topic_before_it(tmp_path: Path, words: str) -> None:
    session = works_on(Session(), TABLE).user(words)
    session.edits("mail/digest.html").says("The mail is changed too.")
    assert cut(session, tmp_path) == []


@pytest.mark.requirement("R1")
def test_a_request_on_the_same_files_goes_on_and_one_that_read_them(tmp_path: Path) -> None:
    session = works_on(works_on(Session(), TABLE), TABLE)
    session.user("Why does the reader of tables not take a sheet without any heading at all?")
    session.calls("Read", file_path="src/table/reader.py").says("It does, as it seems.")
    session.user("Then tell me how sheets without a heading are told from empty ones.")
    assert cut(session.says("By their length."), tmp_path) == []


@pytest.mark.requirement("R1")
def test_a_segment_leads_to_its_bytes_and_counts_its_messages(tmp_path: Path) -> None:
    session = a_session(TABLE, MAIL)
    [first] = cut(session, tmp_path)
    assert first.message_count == 36
    data = session.written(tmp_path).read_bytes()
    inside = data[first.start_byte : first.end_byte]
    assert TABLE.encode() in inside
    assert MAIL.encode() not in inside


@pytest.mark.slow
@pytest.mark.requirement("R1", "R4")
def test_ids_of_two_sessions_never_meet(tmp_path: Path) -> None:
    session = a_session(TABLE, MAIL)
    names = {
        cut(session, tmp_path, name)[0].segment_id
        for name in ("s-1", "s-2", "12345678-a", "12345678-b", "../../x", "é" * 300, "")
    }
    assert len(names) == 7
    assert all("/" not in name and "_seg_" in name for name in names)


@pytest.mark.requirement("R1")
def test_a_segment_is_named_by_what_was_asked(tmp_path: Path) -> None:
    session = Session().user("go on").says("Shall the reader skip the mark of order?")
    session.user("yes").edits("src/table/reader.py").works(4)
    session = works_on(works_on(session, MAIL), COLOUR)
    record = session.record(tmp_path)
    names = [compress.topic(record, one) for one in cut(session, tmp_path)]
    assert names == ["go on", MAIL]


@pytest.mark.requirement("R1")
@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("Fix the mail. Then run everything.", "Fix the mail. Then run everything."),
        (f"{TABLE} Do not touch the mails.", TABLE),
        ("Carry out this plan:\n\n# Skip marks\n1. ...", "Carry out this plan: Skip marks"),
        ("$ curl -H 'A: b/c' \\\n  http://x/y\nThe reader hangs here.", "The reader hangs here."),
        ("$ curl -H 'A: b/c'", "$ curl -H 'A: b/c'"),
        ("表を読み直してください", "表を読み直してください"),
        ("word " * 60, f"{'word ' * 27}word …".replace("word word …", "word …")),
    ],
)
def test_a_name_is_whole_sentences_and_no_command(asked: str, name: str) -> None:
    assert compress.name_of(asked) == name


@pytest.mark.requirement("R1", "R2")
def test_what_was_answered_is_done_though_a_test_failed_before_it(tmp_path: Path) -> None:
    session = works_on(Session(), TABLE, ends=False)
    session.runs("pytest -q tests/test_sheet.py", "E  KeyError: 'bom'", fails=True)
    session.says("That is how the reader works; the test fails, as you said.")
    assert compress.is_done(*_first(works_on(session, MAIL, 12), tmp_path))


@pytest.mark.requirement("R1", "R2")
def test_the_task_list_decides_where_there_is_one(tmp_path: Path) -> None:
    session = works_on(Session(), TABLE, ends=False)
    session.calls("TodoWrite", todos=[{"content": "skip the mark", "status": "pending"}])
    works_on(session.says("The reader is nearly done."), MAIL, 12)
    assert not compress.is_done(*_first(session, tmp_path))
    session.calls("TodoWrite", todos=[{"content": "skip the mark", "status": "completed"}])
    assert compress.is_done(*_first(session, tmp_path))
