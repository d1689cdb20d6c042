"""The shelf: a file a segment, in two tiers, whole or not at all, whatever is done to them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.files.small_files import NewerFile
from holdfast.segment import formats, library
from holdfast.segment.formats import Pending, Queue
from holdfast.segment.library import NoSegment, NotASave
from tests.segment.library_builders import DAY_MS, NOW_MS, a_segment, kept

SEED_FIELDS = {
    "segment_id", "topic", "session_id", "start_turn", "end_turn", "original_tokens",
    "compressed_tokens", "compression_ratio", "compressed_at", "last_accessed", "access_count",
    "relevance_score", "compressed_content", "key_decisions", "key_files", "metadata",
}  # fmt: skip


def _warm_file(home: Path, segment_id: str = "s1_seg_1_0") -> Path:
    return home / ".holdfast" / "segments" / "warm" / f"{segment_id}.json"


@pytest.mark.requirement("R4")
def test_a_kept_segment_has_every_field_of_the_format_and_is_found_again(own_home: Path) -> None:
    kept(a_segment())
    told = json.loads(_warm_file(own_home).read_text())
    assert told.keys() >= SEED_FIELDS
    assert told["metadata"].keys() >= {"contains_code", "contains_errors", "task_completed"}
    assert told["version"] == formats.VERSION
    found = library.find("s1_seg_1_0")
    assert found is not None
    assert found.compressed_content == "Asked: read tables with a byte order mark."
    assert _warm_file(own_home).stat().st_mode & 0o077 == 0


@pytest.mark.requirement("R2")
def test_a_pruned_archive_keeps_its_summary_and_what_it_is_known_by() -> None:
    kept(a_segment(metadata={"own_content": "ours", "transcript": "/t.jsonl"}))
    with library.hold_segments():
        library.demote(library.warm()[0], NOW_MS)
        library.prune(library.cold()[0], NOW_MS + 31 * DAY_MS)
    [one] = library.cold()
    assert one.compressed_content == "Asked: read tables with a byte order mark."
    assert (one.topic, one.session_id, one.start_turn) == (a_segment().topic, "s1", 1)
    assert one.key_decisions == one.key_files == []
    assert one.metadata.own_content == ""
    assert one.metadata.pruned_at.startswith("2026-02-01")
    assert one.metadata.transcript == "/t.jsonl"


@pytest.mark.requirement("R4")
@given(
    count=st.integers(-5, 10_000), days=st.integers(-400, 40_000), held=st.floats(0, 1, width=16)
)
def test_relevance_is_between_nought_and_one_and_fades(count: int, days: int, held: float) -> None:
    one = a_segment(access_count=count, metadata={"substance": held})
    now = formats.score(one, NOW_MS + days * DAY_MS)
    assert 0.0 <= now <= 1.0
    assert formats.score(one, NOW_MS + (days + 30) * DAY_MS) <= now
    one.access_count = max(count, 0) + 1
    assert formats.score(one, NOW_MS + days * DAY_MS) >= now


@pytest.mark.requirement("R3")
def test_a_models_words_are_shown_and_ours_stay_behind_them() -> None:
    kept(a_segment())
    token = "ghp_" + "a1B2" * 9
    one = library.save(
        "s1_seg_1_0", f"Tables with a mark.\x1b[2J {token}", ["drop it"], ["src/new.py"], NOW_MS
    )
    assert library.find("s1_seg_1_0") == one
    assert "Tables with a mark." in one.compressed_content
    assert "\x1b" not in one.compressed_content
    assert token not in one.compressed_content
    assert one.metadata.own_content == "Asked: read tables with a byte order mark."
    assert one.key_decisions == ["drop it"]
    assert one.key_files == ["src/new.py"]
    assert one.metadata.written_by == "model"
    kept(a_segment(compressed_content="made again"))
    [again] = library.warm()
    assert again.compressed_content == one.compressed_content
    assert again.metadata.own_content == "made again"


@pytest.mark.requirement("R3")
@pytest.mark.parametrize("text", ["", "  \x00 ", "word " * 2_000])
def test_words_that_cannot_stand_for_a_segment_are_refused_and_nothing_changes(text: str) -> None:
    kept(a_segment())
    with pytest.raises(NotASave):
        library.save("s1_seg_1_0", text, [], [], NOW_MS)
    found = library.find("s1_seg_1_0")
    assert found is not None
    assert found.metadata.written_by == "holdfast"


@pytest.mark.requirement("R4", "X7")
@pytest.mark.parametrize("name", ["", "../../etc/passwd", "a/b", ".", "x\0y", "n" * 300, "nobody"])
def test_an_id_that_names_no_segment_finds_none(name: str) -> None:
    kept(a_segment())
    assert library.find(name) is None
    library.note_access(name, NOW_MS)
    with pytest.raises(NoSegment):
        library.save(name, "words", [], [], NOW_MS)


@pytest.mark.requirement("R4", "X6")
@pytest.mark.parametrize(
    "broken", [b"{", b"[]", b"\xff\xfe", b'{"segment_id": 7}', b"[" * 5_000, b"x" * 1_100_000]
)
def test_a_file_that_does_not_parse_is_set_aside_and_said(own_home: Path, broken: bytes) -> None:
    kept(a_segment(), a_segment("s1_seg_20_1"))
    _warm_file(own_home).write_bytes(broken)
    assert [one.segment_id for one in library.warm()] == ["s1_seg_20_1"]
    [aside] = _warm_file(own_home).parent.glob("*.damaged")
    assert aside.read_bytes() == broken
    assert "set aside" in (own_home / ".holdfast" / "guard.log").read_text()


@pytest.mark.requirement("R4", "X6")
def test_what_a_newer_holdfast_wrote_is_left_alone(own_home: Path) -> None:
    kept(a_segment())
    newer = _warm_file(own_home).read_bytes().replace(b'"version": 1', b'"version": 9')
    _warm_file(own_home).write_bytes(newer)
    assert library.warm() == []
    with pytest.raises(NoSegment):
        library.save("s1_seg_1_0", "words", [], [], NOW_MS)
    assert _warm_file(own_home).read_bytes() == newer
    library.save_queue("s1", Queue(version=9))
    assert library.list_pending("s1") == []
    with pytest.raises(NewerFile):
        library.load_queue("s1")


@pytest.mark.requirement("R4")
def test_the_queue_has_the_fields_of_the_format_and_is_bounded(own_home: Path) -> None:
    pending = [Pending(f"s1_seg_{n}_{n}", "topic", n, n + 3) for n in range(300)]
    library.save_queue("s1", Queue(pending=pending, last_check_turn=60))
    path = own_home / ".holdfast" / "segments" / "queue" / "s1_pending.json"
    told = json.loads(path.read_text())
    assert told["last_check_turn"] == 60
    assert told["compressed"] == []
    assert told["pending"][0].keys() >= {
        "segment_id", "topic", "start_turn", "end_turn", "message_count", "turns_since_mention",
        "queued_at_turn", "timestamp",
    }  # fmt: skip
    assert len(told["pending"]) == library.MOST_PENDING
    assert library.list_pending("s1")[-1].segment_id == "s1_seg_299_299"


@pytest.mark.requirement("R4")
def test_segments_of_another_tool_are_read_where_they_lie_and_never_written(
    own_home: Path, tmp_path: Path
) -> None:
    theirs = {
        "segment_id": "seg_42_0", "topic": "Sign in", "session_id": "abc", "start_turn": 15,
        "end_turn": 35, "original_tokens": 2400, "compressed_tokens": 380,
        "compression_ratio": 6.3, "compressed_at": "2026-02-16T15:32:00",
        "last_accessed": "2026-02-16T15:32:00", "access_count": 0, "relevance_score": 0.85,
        "compressed_content": "Sign in with tokens.", "key_decisions": ["one hour"],
        "key_files": ["src/auth.ts"],
        "metadata": {"contains_code": True, "contains_errors": False, "task_completed": True},
    }  # fmt: skip
    warm = tmp_path / "data/knowledge-db/compressed_context/seg_42_0.json"
    cold = own_home / ".claude/data/sessions/abc/archived_context/seg_7_1.json"
    queued = own_home / ".claude/data/context_queue/abc_pending.json"
    for path, value in (
        (warm, theirs),
        (cold, {**theirs, "segment_id": "seg_7_1"}),
        (queued, {"pending": [{"segment_id": "seg_9_2"}], "compressed": [], "last_check_turn": 3}),
    ):
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(value))
    before = {path: path.read_bytes() for path in (warm, cold, queued)}
    assert [one.topic for one in library.warm(str(tmp_path))] == ["Sign in"]
    assert [one.segment_id for one in library.cold()] == ["seg_7_1"]
    assert library.find("seg_7_1") is not None
    [waiting] = library.list_pending("abc")
    assert (waiting.segment_id, waiting.written_by) == ("seg_9_2", formats.FOREIGN)
    library.note_access("seg_7_1", NOW_MS)
    (warm.parent / "odd.json").write_text("{")
    assert len(library.warm(str(tmp_path))) == 1
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.slow
@pytest.mark.requirement("R4", "A4")
def test_readers_in_many_processes_lose_no_count(own_home: Path) -> None:
    kept(a_segment())
    code = (
        "from holdfast.segment import library\n"
        f"for _ in range(10): library.note_access('s1_seg_1_0', {NOW_MS})"
    )
    runs = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(3)]
    assert [run.wait(60) for run in runs] == [0, 0, 0]
    found = library.find("s1_seg_1_0")
    assert found is not None
    assert found.access_count == 30
