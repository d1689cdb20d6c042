"""A home that takes nothing: which folder, why, what to try, and the right exit code."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast.cli.main import holdfast_command
from holdfast.wire.errors import HoldfastError
from tests.segment.library_builders import a_segment, kept

SAVED = '{"segment_id": "s1_seg_1_0", "compressed_content": "better words"}'


def _refused(*words: str, given: str = "") -> HoldfastError:
    run = CliRunner().invoke(holdfast_command, words, input=given)
    assert isinstance(run.exception, HoldfastError), (run.exception, run.output)
    assert run.stdout == ""
    return run.exception


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No home can be made here, whoever we are: root may write anywhere else."""
    (tmp_path / "file").write_text("")
    home = tmp_path / "file/home"
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    return home


@pytest.mark.requirement("U3", "X6")
def test_words_for_a_segment_that_cannot_be_kept_are_refused(nowhere: Path) -> None:
    error = _refused("segments", "save", given=SAVED)
    assert (error.exit_code, f"{nowhere}/segments/lock cannot be written" in str(error)) == (
        4,
        True,
    )


@pytest.mark.requirement("U3", "X6")
def test_what_can_be_read_is_shown_though_nothing_can_be_noted(own_home: Path) -> None:
    kept(a_segment())
    lock = own_home / ".holdfast/segments/lock"
    lock.unlink()
    lock.mkdir()
    for words in (["segments", "show", "s1_seg_1_0"], ["expand", "s1_seg_1_0"]):
        run = CliRunner().invoke(holdfast_command, words)
        assert run.exit_code == 0, run.exception
        assert "byte order mark" in run.stdout
    assert _refused("segments", "clear", "s1_seg_1_0", "--yes").exit_code == 4


@pytest.mark.requirement("U3", "X6")
@pytest.mark.parametrize(
    "words",
    [
        ["memory", "add", "x", "--description", "d", "--body", "b"],
        ["memory", "retire", "x"],
        ["pin", "words"],
    ],
)
def test_memory_and_pins_say_so_too(words: list[str], nowhere: Path) -> None:
    error = _refused(*words)
    assert error.exit_code == 4
    assert f"{nowhere}/" in str(error)
    assert "cannot be written: Not a directory" in str(error)
    assert "set HOLDFAST_HOME" in error.hint


@pytest.mark.slow  # whole commands
@pytest.mark.requirement("U3", "X6")
@pytest.mark.parametrize("words", [("board", "list"), ("plan", "plan.md"), ("run", "plan.md")])
def test_where_the_current_folder_is_gone_it_is_said_so(tmp_path: Path, words: list[str]) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = shlex.join([sys.executable, "-m", "holdfast.cli", *words])
    inside = f"cd {gone} && rmdir {gone} && exec {command}"
    ran = subprocess.run(["sh", "-c", inside], capture_output=True, text=True, check=False)
    assert ran.returncode == 4, ran.stderr
    assert ran.stderr.startswith("holdfast: the current folder is gone\n  try: cd ")


@pytest.mark.requirement("U3", "X6")
@pytest.mark.usefixtures("nowhere")
def test_a_checkpoint_that_cannot_be_saved_says_why_once(tmp_path: Path) -> None:
    (tmp_path / ".claude").write_text("")
    error = _refused("checkpoint", "--demo", "--project", str(tmp_path))
    assert str(error).startswith("no checkpoint was saved: ")
    assert str(error).count("checkpoint was saved") == 1 and "holdfast log" not in str(error)
    assert "Not a directory" in str(error)
