"""A full disk cuts bytecode short while Python writes it: hooks work, and repair it."""

import compileall
import json
import marshal
import os
import shutil
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest

import holdfast
from holdfast.client import sample_payloads
from holdfast.setup.wiring import Program, server_entry
from tests.builders import a_prompt, a_transcript, an_answer

pytestmark = pytest.mark.slow
AWAKE = ("SessionStart", "PreCompact", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd")


@pytest.fixture(scope="module")
def whole_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with all its bytecode."""
    package = tmp_path_factory.mktemp("installed") / "holdfast"
    skipped = shutil.ignore_patterns("static", "__pycache__")
    shutil.copytree(Path(holdfast.__file__).parent, package, ignore=skipped)
    compileall.compile_dir(package, quiet=2)
    return package


@pytest.fixture
def compiled(whole_package: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole_package, tmp_path / "lib" / "holdfast"))


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    words = "Never touch the harbour tables. Change the buoys."
    return a_transcript(tmp_path / "t.jsonl", a_prompt(words), an_answer(150_000))


def _fire(package: Path, event: str, transcript: Path, session: str) -> tuple[int, str, str]:
    """One hook of that copy, in a home that knows nothing of the others."""
    own = {"source": "compact"} if event == "SessionStart" else {}
    payload = sample_payloads.make_payload(
        event, session_id="s1", transcript=str(transcript), cwd=str(transcript.parent)
    )
    home = transcript.parent / session
    kept = {"PATH": os.environ["PATH"], "HOME": str(home), "HOLDFAST_HOME": str(home / "h")}
    command = Program(sys.executable, str(package)).words
    ran = subprocess.run(
        command,
        input=json.dumps(payload | own).encode(),
        capture_output=True,
        env=kept,
        check=False,
    )
    return ran.returncode, ran.stdout.decode(), ran.stderr.decode()


def _cut(path: Path, size: int) -> None:
    os.truncate(path, size)


def _bytecode(package: Path) -> list[Path]:
    return sorted(package.rglob("*.pyc"))


def _told(out: str) -> str:
    """What does not differ from one home or moment to the next."""
    return "\n".join(line for line in out.splitlines() if "harbour" in line)


@pytest.mark.requirement("X1")
@pytest.mark.parametrize("event", AWAKE)
def test_a_hook_prints_the_same_if_all_bytecode_was_cut(
    compiled: Path, transcript: Path, event: str
) -> None:
    whole = _fire(compiled, event, transcript, "whole")
    assert whole[0] == 0
    for path in _bytecode(compiled):
        _cut(path, max(20, path.stat().st_size // 3))
    code, out, err = _fire(compiled, event, transcript, "cut")
    assert (code, _told(out), err) == (whole[0], _told(whole[1]), whole[2])
    assert bool(out) == bool(whole[1])
    _fire(compiled, event, transcript, "again")
    written = Path(cache_from_source(str(compiled / "hook/entry.py"))).read_bytes()
    assert marshal.loads(written[16:]), "it was repaired"


@pytest.mark.requirement("X1")
def test_commands_and_the_server_of_tools_survive_cut_bytecode(compiled: Path) -> None:
    entry = server_entry(Program(sys.executable, str(compiled)))
    code = f"import sys; sys.path.insert(0, {str(compiled.parent)!r})\n"
    code += "from holdfast.cli.start import main; main()"
    command = [sys.executable, "-I", "-c", code, "settings"]
    for words in (command, [entry["command"], *entry["args"]]):
        for path in _bytecode(compiled):
            if path.name.partition(".")[0] not in ("__init__", "start", "bytecode"):
                _cut(path, path.stat().st_size // 2)
        ran = subprocess.run(words, input=b"", capture_output=True, check=False)
        assert ran.returncode == 0, ran.stderr.decode()
