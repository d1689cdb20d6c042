"""Verifying: every kind of damage is found, and named by its part."""

from pathlib import Path

import pytest

from holdfast.checkpoint import index
from holdfast.checkpoint.checkpoint_file import DamagedCheckpoint, parse
from holdfast.checkpoint.verify import VerifyReport, verify
from holdfast.checkpoint.write import keep
from tests.checkpoint.documents import a_document


def _parts(report: VerifyReport) -> list[str]:
    return [finding.part for finding in report.findings]


def _whole(data: bytes) -> bool:
    try:
        return parse(data).whole
    except DamagedCheckpoint:
        return False


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return Path(keep(a_document(tmp_path, "one")).path)


@pytest.mark.requirement("C6", "X6")
@pytest.mark.parametrize(
    "old, new, part",
    [
        (b"- one\n", b"- two\n", "content hash"),
        (b"- one\n", b"- one\n- two\n", "content hash"),
        (b"- one\n", b"one\n", "sections"),
        (b'trigger: "auto"\n', b"", "front matter"),
    ],
)
def test_an_edit_by_hand_is_found(kept: Path, old: bytes, new: bytes, part: str) -> None:
    kept.write_bytes(kept.read_bytes().replace(old, new))
    assert part in _parts(verify(str(kept), index.load()))


@pytest.mark.requirement("C6")
def test_every_flipped_byte_and_every_cut_is_found(kept: Path) -> None:
    data = kept.read_bytes()
    for at in range(len(data)):
        assert not _whole(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]), at
        assert not _whole(data[:at]), at
    assert _whole(data)


@pytest.mark.requirement("C6")
def test_the_index_entry_is_compared(kept: Path, tmp_path: Path) -> None:
    assert verify(str(kept), index.load()).notes == ()
    other = keep(a_document(tmp_path, "two"))
    kept.write_bytes(Path(other.path).read_bytes())
    assert _parts(verify(str(kept), index.load())) == ["index"]


@pytest.mark.requirement("C6")
def test_a_whole_file_without_an_entry_is_not_damaged(kept: Path) -> None:
    report = verify(str(kept), [])
    assert (report.ok, report.findings) == (True, ())
    assert report.notes == ("not in the index; `holdfast rebuild` adds it",)
    kept.write_bytes(kept.read_bytes().replace(b"- one\n", b"- two\n"))
    assert _parts(verify(str(kept), [])) == ["content hash"]


@pytest.mark.requirement("C6")
def test_what_is_no_file_is_said_in_words(kept: Path, tmp_path: Path) -> None:
    link = kept.with_name("2026-01-15-120009.md")
    link.symlink_to(kept)
    giant = kept.with_name("2026-01-15-120008.md")
    giant.touch()
    with giant.open("r+b") as file:
        file.truncate(1 << 40)
    for path, words in (
        (tmp_path / "gone.md", "it is not there"),
        (link, "a link, not a file"),
        (tmp_path, "not a regular file"),
        (giant, "1,099,511,627,776 bytes is more than a checkpoint has"),
    ):
        [finding] = verify(str(path)).findings
        assert finding == type(finding)("file", words)
