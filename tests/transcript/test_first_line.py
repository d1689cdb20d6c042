"""Whether a transcript begins with its session, told alike for a file and its archived copy."""

import gzip
from pathlib import Path

import pytest

from holdfast.transcript.reader import begins_midway
from tests.builders import a_prompt, a_transcript


@pytest.mark.parametrize("parent", [None, "a-line-of-another-file"])
def test_a_gzip_is_judged_as_the_file_it_was_made_of(tmp_path: Path, parent: str | None) -> None:
    plain = a_transcript(tmp_path / "s.jsonl", {**a_prompt("go on"), "parentUuid": parent})
    packed = tmp_path / "s.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert begins_midway(plain) == begins_midway(packed) == (parent is not None)


MIDWAY = {**a_prompt("go on"), "parentUuid": "a-line-of-another-file"}


def test_a_line_of_a_subagent_does_not_tell_of_the_session(tmp_path: Path) -> None:
    aside = {**a_prompt("Look around."), "parentUuid": None, "isSidechain": True}
    assert begins_midway(a_transcript(tmp_path / "s.jsonl", aside, MIDWAY))
    assert not begins_midway(a_transcript(tmp_path / "agent.jsonl", aside))
    aside["parentUuid"] = "x"
    assert begins_midway(a_transcript(tmp_path / "agent.jsonl", aside))


def test_a_file_that_begins_within_a_line_begins_midway(tmp_path: Path) -> None:
    path = a_transcript(tmp_path / "s.jsonl", a_prompt("Cut in two."), MIDWAY)
    path.write_bytes(path.read_bytes()[40:])
    assert begins_midway(path)
