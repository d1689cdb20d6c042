"""The past is read once, kept as numbers, and made anew when it is lost."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from holdfast.plan import estimate
from holdfast.wire import places
from tests.builders import a_prompt, a_result, a_transcript, an_answer
from tests.plan.builders import an_edit

SECRET = "hunter2-is-my-passphrase"


def _session(projects: Path, name: str, cwd: str, count: int = 2) -> Path:
    lines: list[dict[str, Any]] = []
    for n in range(count):
        lines += [
            {**a_prompt(f"fix {SECRET}"), "cwd": cwd},
            an_edit(20_000 + 1000 * n, f"e{n}", "/p/shop/cart.py"),
            a_result(f"e{n}0"),
            an_answer(21_000 + 1000 * n, id=f"m{n}"),
        ]
    return a_transcript(projects / "-p" / f"{name}.jsonl", *lines)


def _file() -> Path:
    return Path(places.home()) / "plan" / "past.json"


@pytest.mark.requirement("P1")
def test_requests_of_this_machine_are_learnt_and_this_projects_marked(tmp_path: Path) -> None:
    _session(tmp_path, "a", "/p/shop")
    _session(tmp_path, "b", "/elsewhere", 3)
    found = estimate.learn(Path("/p/shop"), tmp_path)
    assert (len(found.tasks), sum(one.here for one in found.tasks)) == (5, 2)


@pytest.mark.requirement("X4")
def test_no_word_of_a_prompt_is_kept(tmp_path: Path) -> None:
    _session(tmp_path, "a", "/p")
    estimate.learn(Path("/p"), tmp_path)
    assert SECRET not in _file().read_text()
    assert stat.S_IMODE(_file().stat().st_mode) == 0o600


@pytest.mark.requirement("P1")
def test_what_did_not_change_is_not_read_again(tmp_path: Path) -> None:
    session = _session(tmp_path, "a", "/p")
    before = estimate.learn(Path("/p"), tmp_path)
    known = session.stat()
    session.write_bytes(b"#" * known.st_size)  # were it read, there would be nothing in it
    import os

    os.utime(session, ns=(known.st_atime_ns, known.st_mtime_ns))
    assert estimate.learn(Path("/p"), tmp_path) == before
    os.utime(session, ns=(1, 1))
    assert not estimate.learn(Path("/p"), tmp_path).tasks


@pytest.mark.parametrize("data", [b"{", b'{"version": 4, "transcripts": []}', b"[" * 50_000])
def test_a_broken_file_is_made_anew(tmp_path: Path, data: bytes) -> None:
    _session(tmp_path, "a", "/p")
    _file().parent.mkdir(parents=True)
    _file().write_bytes(data)
    assert len(estimate.learn(Path("/p"), tmp_path).tasks) == 2
    assert json.loads(_file().read_bytes())["version"] == estimate.VERSION
