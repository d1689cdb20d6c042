"""Long outputs: complete on disk, owner-only, removed in time; the preview that the model sees."""

import fcntl
import os
import signal
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from holdfast.archive import outputs
from holdfast.cli.main import holdfast_command
from holdfast.wire.errors import HoldfastError

ID = "out-0123abcd"
ABOUT = {"tool": "Bash", "session_id": "s1", "at_ms": 1}


def _kept(text: str) -> str:
    output_id = outputs.new_id()
    outputs.keep(output_id, text, ABOUT)
    return output_id


@pytest.mark.slow
@pytest.mark.requirement("R7")
@given(st.text(st.characters(codec="utf-8"), max_size=2_000))
def test_what_was_kept_comes_back_word_for_word(text: str) -> None:
    assert outputs.load(_kept(text)) == text


@pytest.mark.requirement("R7", "X4")
def test_only_the_owner_may_read_it() -> None:
    output_id = _kept("words")
    [path] = Path(outputs.folder()).glob("*.txt")
    assert path.name == f"{output_id}.txt"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.requirement("R7", "X7")
@pytest.mark.parametrize(
    "word", ["", "out-", "out-../../x", "../token", "out-0123abcd", "out-ZZZZZZZZ"]
)
def test_an_id_that_is_none_is_refused_in_words(word: str) -> None:
    with pytest.raises(HoldfastError) as error:
        outputs.load(word)
    assert error.value.hint


@pytest.mark.requirement("R7")
def test_old_ones_go_and_then_the_oldest_until_the_rest_fits() -> None:
    ids = [_kept("x" * 1_000) for _ in range(5)]
    for age, output_id in enumerate(ids):
        path = Path(outputs.folder(), f"{output_id}.txt")
        os.utime(path, (1_000_000 - age * 86_400,) * 2)
    assert outputs.prune(3.5, 3_500, 1_000_000.0) == 2
    assert {path.stem for path in Path(outputs.folder()).glob("*.txt")} == set(ids[:3])
    assert outputs.prune(3.5, 1_200, 1_000_000.0) == 2


@pytest.mark.requirement("R7", "X6")
def test_what_a_killed_hook_had_begun_is_swept_and_never_what_is_being_written() -> None:
    killed = os.fork()
    if not killed:
        os.link = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
        _kept("words")
        os._exit(0)
    os.waitpid(killed, 0)
    [left] = Path(outputs.folder()).iterdir()
    with Path(outputs.folder(), f".{os.getpid()}-1.draft").open("wb") as writing:
        fcntl.flock(writing, fcntl.LOCK_EX)
        output_id = _kept("more")
        outputs.prune(1, 1 << 20, time.time())
        names = {path.name for path in Path(outputs.folder()).iterdir()}
        assert names == {f"{output_id}.txt", Path(writing.name).name}
    assert left.name not in names


@pytest.mark.requirement("R7", "U3")
def test_the_command_prints_it_in_parts_and_by_words() -> None:
    output_id = _kept("\n".join(f"  line {number} \x1b[31mred" for number in range(1_000)))
    run = CliRunner().invoke(holdfast_command, ["expand", output_id, "--max-chars", "60"])
    assert run.stdout.splitlines()[:2] == ["  line 0 red", "  line 1 red"]
    assert f"holdfast search --expand {output_id} --offset" in run.stderr
    run = CliRunner().invoke(holdfast_command, ["expand", output_id, "--find", "line 777"])
    assert "778:   line 777 red" in run.stdout
    run = CliRunner().invoke(holdfast_command, ["expand", "out-00000000"])
    assert "there is no output" in str(run.exception)


@pytest.mark.requirement("R7")
@given(st.lists(st.text(max_size=300), min_size=1), st.integers(20, 200))
def test_a_preview_is_short_and_begins_and_ends_as_the_whole(parts: list[str], times: int) -> None:
    text = ("".join(parts) + "some words\n") * 20 * times
    shown = outputs.preview(text, ID)
    assert len(shown) <= outputs.HEAD_CHARS + outputs.TAIL_CHARS + 500
    assert shown.count(ID) == 3
    assert shown.startswith(text[: outputs.HEAD_CHARS // 2])
    assert shown.endswith(text[-outputs.TAIL_CHARS // 2 :])


@pytest.mark.requirement("R7")
@given(st.text(max_size=3_000), st.integers(1, 500))
def test_pieces_together_are_the_whole(text: str, most: int) -> None:
    said, offset = "", 0
    while True:
        found = outputs.excerpt_at(text, offset, most)
        said += found.text
        offset = found.next_offset
        if not offset:
            break
    assert said == text
