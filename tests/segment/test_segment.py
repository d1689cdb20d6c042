"""What a segment is called, and whether it is done: as the session's record tells it."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.record.model import Record
from holdfast.record.reader import read_record
from holdfast.segment import segment
from holdfast.segment.segment import Segment
from holdfast.segment.steps import EDITED, SegmentStep
from tests.checkpoint.sessions import Session
from tests.segment.topics import ASKED, COLOUR, MAIL, TABLE, a_session, cut, works_on
from tests.transcript import builders as b

RELEASE = "Bring the release about: tables, then mails, then colours."
LONG = (
    "Let the reader take a sheet from the archive, whatever its age, and write each heading to "
    "the index, so that the search over all of the older sheets finds them again by their title."
)


def _first(session: Session, folder: Path) -> tuple[Record, Segment]:
    found = cut(session, folder)
    return read_record(session.written(folder)), found.segments[0]


@pytest.mark.requirement("R1")
def test_a_segment_is_named_by_what_was_asked(tmp_path: Path) -> None:
    session = a_session(TABLE, MAIL, COLOUR)
    record = session.record(tmp_path)
    names = [segment.topic(record, one) for one in cut(session, tmp_path).segments]
    assert names == [TABLE, MAIL]


@pytest.mark.requirement("R1")
@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("Fix the mail. Then run everything.", "Fix the mail. Then run everything."),
        ("ok great. Now colour the panels darker.", "ok great. Now colour the panels darker."),
        (f"{TABLE} Do not touch the mails.", TABLE),
        ("First, there is a small bug. The sheet is read twice.",) * 2,
        (
            "Carry out this plan:\n# Release the reader\nIt is ready. Ship it.",
            "Carry out this plan: Release the reader",
        ),
        (LONG, LONG.partition(", so that")[0]),
        ("Carry out this plan:\n\n# Skip marks\n1. ...", "Carry out this plan: Skip marks"),
        ("⏺ Read(sheet.csv)\n  ⎿ 9 lines\nThe reader hangs on this.", "The reader hangs on this."),
        ("Lies die Tabelle neu ein\nund dann alles andere", "Lies die Tabelle neu ein"),
    ],
)
def test_a_name_ends_where_a_sentence_or_a_clause_does(asked: str, name: str) -> None:
    assert segment.name_of(asked) == name


@pytest.mark.requirement("R1")
def test_of_several_requests_the_one_with_the_most_steps_gives_the_name(tmp_path: Path) -> None:
    """The first words were answered in one step; the work was on the second."""
    session = Session().user("What do you think of byte order marks in general, by the way?")
    session.says("They are rarely of use.")
    works_on(session, TABLE)
    works_on(session, MAIL, 12)
    record, first = _first(session, tmp_path)
    assert segment.topic(record, first) == TABLE


@pytest.mark.requirement("R1")
def test_a_part_of_a_long_turn_is_named_by_the_turn_and_its_files(tmp_path: Path) -> None:
    session = Session().user(RELEASE)
    for asked in ASKED:
        one = works_on(Session(), asked, 9)
        session.lines += one.lines[1:]  # nobody asks in between
    session.lines = [_numbered(line, n) for n, line in enumerate(session.lines)]
    record = session.record(tmp_path)
    [first, second, *_] = cut(session, tmp_path).segments
    assert segment.topic(record, first) == RELEASE
    assert segment.topic(record, second) == f"{segment.topic(record, first)} (digest.html)"
    assert segment.part_of(record, second) == segment.topic(record, first)
    assert segment.is_done(record, first)  # its test passed, though the turn goes on


def _numbered(line: b.Line | bytes, number: int) -> b.Line | bytes:
    """Answers of sessions put together need ids of their own."""
    if isinstance(line, dict) and line["type"] == "assistant":
        return {**line, "message": {**line["message"], "id": f"msg_of_line_{number}"}}
    return line


@pytest.mark.requirement("R1", "R2")
def test_what_was_answered_is_done_once_the_user_speaks_again(tmp_path: Path) -> None:
    session = works_on(Session(), TABLE, ends=False).says("That is how the reader works.")
    assert segment.is_done(*_first(works_on(session, MAIL, 12), tmp_path))


@pytest.mark.requirement("R1", "R2")
def test_what_the_user_stopped_is_not_done(tmp_path: Path) -> None:
    session = works_on(Session(), TABLE, ends=False)
    session.user("[Request interrupted by user]")
    assert not segment.is_done(*_first(works_on(session, MAIL, 12), tmp_path))


@pytest.mark.requirement("R1", "R2")
def test_what_broke_in_it_and_still_fails_keeps_it_open(tmp_path: Path) -> None:
    session = works_on(Session(), TABLE, ends=False)
    session.runs("pytest -q tests/test_sheet.py", "E  KeyError: 'bom'", fails=True)
    session.says("One test is left, the reader itself is done.")
    works_on(session, MAIL, 12)
    assert not segment.is_done(*_first(session, tmp_path))
    session.runs("pytest -q tests/test_sheet.py", "3 passed").works(9)
    assert segment.is_done(*_first(session, tmp_path))


@pytest.mark.requirement("R1", "R2")
def test_a_task_left_open_in_it_keeps_it_open(tmp_path: Path) -> None:
    session = works_on(Session(), TABLE, ends=False)
    session.calls("TodoWrite", todos=[{"content": "skip the mark", "status": "pending"}])
    session.says("The reader is nearly done.")
    works_on(session, MAIL, 12)
    assert not segment.is_done(*_first(session, tmp_path))


@pytest.mark.requirement("R1", "R2")
@pytest.mark.parametrize(("topics", "mentioned"), [(3, 50), (4, 0)])
def test_words_that_name_many_topics_at_once_mention_none(topics: int, mentioned: int) -> None:
    """A report on the whole session would keep every topic from being compressed."""
    segments = [
        Segment(n, n, n, n + 1, files=[f"{n}.py"], words=[f"pier_{n}", f"buoy_{n}"])
        for n in range(1, topics + 1)
    ]
    recap = {word: 1 for one in segments for word in one.words}
    segment.mention(segments, SegmentStep(50, 9_000, words=recap))
    assert {one.last_mention for one in segments} == {mentioned}
    segment.mention(segments, SegmentStep(60, 9_900, words=recap, files={"1.py": EDITED}))
    assert segments[0].last_mention == 60
