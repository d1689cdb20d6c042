"""Whether a transcript begins with its session, told alike for a file and its archived copy."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from holdfast.transcript.first_line import begins_midway
from tests.builders import a_prompt, a_transcript


@pytest.mark.parametrize("parent", [None, "a-line-of-another-file"])
def test_a_gzip_is_judged_as_the_file_it_was_made_of(tmp_path: Path, parent: str | None) -> None:
    plain = a_transcript(tmp_path / "s.jsonl", {**a_prompt("go on"), "parentUuid": parent})
    packed = tmp_path / "s.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert begins_midway(plain) == begins_midway(packed) == (parent is not None)


def test_a_file_that_is_missing_or_damaged_is_not_midway(tmp_path: Path) -> None:
    stump = tmp_path / "s.jsonl.gz"
    stump.write_bytes(gzip.compress(b"{}")[:12])
    assert not begins_midway(stump)
    assert not begins_midway(tmp_path / "none.jsonl")
