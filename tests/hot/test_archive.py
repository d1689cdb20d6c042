"""The hook that archives: installed for who asks, waiting, and so: lean, and never in the way."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from holdfast.archive import outputs
from holdfast.wire import places
from tests.hot.hooks import COMMAND, run

LIMIT = 5_000
LONG = "\n".join(f"line {number} of many" for number in range(1_000))
SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


def _payload(tool: str, response: Any, **own: Any) -> bytes:
    sent = {
        "session_id": "s1",
        "transcript_path": "",
        "cwd": "/p",
        "hook_event_name": "PostToolUse",
        "tool_name": tool,
        "tool_input": {"command": "make"},
        "tool_response": response,
        "tool_use_id": "t1",
    }
    return json.dumps(sent | own).encode()


def _shell(text: str, **own: Any) -> dict[str, Any]:
    return {"stdout": text, "stderr": "", "interrupted": False, "isImage": False, **own}


def _fired(data: bytes, limit: int = LIMIT, environ: dict[str, str] | None = None) -> Any:
    found = run(data, "archive", str(limit), environ=environ)
    assert (found.returncode, found.stderr) == (0, b"")
    if not found.stdout:
        return None
    inner = json.loads(found.stdout)["hookSpecificOutput"]
    assert inner["hookEventName"] == "PostToolUse"
    return inner["updatedToolOutput"]


def _kept() -> list[Path]:
    return list(Path(outputs.folder()).glob("*.txt"))


@pytest.mark.requirement("R7")
def test_a_long_output_is_kept_whole_and_shown_in_part_in_its_own_shape() -> None:
    shown = _fired(_payload("Bash", _shell(LONG, noOutputExpected=False)))
    [path] = _kept()
    assert {**shown, "stdout": ""} == _shell("", noOutputExpected=False)
    assert path.stem in shown["stdout"]
    assert len(shown["stdout"]) < LIMIT
    assert outputs.load(path.stem) == LONG


@pytest.mark.requirement("R7")
@pytest.mark.parametrize(
    ("tool", "response", "shape"),
    [
        ("mcp__theirs__list", LONG, str),
        ("mcp__theirs__list", [{"type": "text", "text": LONG}], list),
        ("WebFetch", {"result": LONG, "code": 200, "url": "https://x"}, dict),
        ("Grep", {"mode": "content", "content": LONG, "numLines": 1_000}, dict),
    ],
)
def test_each_tool_has_its_own_shape(tool: str, response: Any, shape: type) -> None:
    shown = _fired(_payload(tool, response))
    assert isinstance(shown, shape)
    assert _kept()[0].stem in json.dumps(shown)


@pytest.mark.requirement("R7", "X7")
@pytest.mark.parametrize(
    ("tool", "response"),
    [
        ("Bash", _shell("short")),
        ("Bash", _shell("\\" * (LIMIT - 100))),  # longer only as JSON spells it
        ("Bash", _shell(LONG, persistedOutputPath="/p/file")),
        ("Read", {"type": "text", "file": {"content": LONG}}),
        ("mcp__theirs__see", [{"type": "text", "text": LONG}, {"type": "image", "data": "x"}]),
        ("mcp__holdfast__expand", LONG),
        ("Bash", {"stdout": [LONG]}),
        (None, LONG),
    ],
)
def test_what_is_short_or_must_stay_passes_unchanged(tool: Any, response: Any) -> None:
    assert _fired(_payload(tool, response)) is None
    assert _kept() == []


@pytest.mark.requirement("R7", "X1")
def test_where_nothing_can_be_kept_the_model_gets_all_of_it() -> None:
    Path(places.home()).mkdir()
    Path(outputs.folder()).write_text("a file")
    assert _fired(_payload("Bash", _shell(LONG))) is None


@pytest.mark.requirement("R7", "X4")
def test_secrets_are_neither_kept_nor_shown() -> None:
    shown = _fired(_payload("Bash", _shell(f"token {SECRET}\n{LONG}\nagain {SECRET}")))
    assert SECRET not in json.dumps(shown)
    assert SECRET not in outputs.load(_kept()[0].stem)
    assert "[redacted" in outputs.load(_kept()[0].stem)


@pytest.mark.requirement("R7", "X1")
@pytest.mark.parametrize(
    "data", [b"", b"\xff" * 9_000, b'"tool_response"' * 900, b'{"tool_response":' + b"[" * 90_000]
)
@pytest.mark.parametrize("arguments", [("archive",), ("archive", "many"), ("archive", "5000")])
def test_odd_input_breaks_nothing(data: bytes, arguments: tuple[str, ...]) -> None:
    found = run(data, *arguments, loud=False)
    assert (found.returncode, found.stdout) == (0, b"")


@pytest.mark.slow
@pytest.mark.requirement("R7", "X2")
def test_a_short_result_loads_nothing_more_than_the_hook_itself() -> None:
    def loaded(data: bytes) -> set[str]:
        command = [COMMAND[0], "-X", "importtime", *COMMAND[1:], "archive", str(LIMIT)]
        env = {name: os.environ[name] for name in ("PATH", "HOME", "HOLDFAST_HOME")}
        ran = subprocess.run(command, input=data, capture_output=True, check=True, env=env)
        return {line.rpartition("|")[2].strip() for line in ran.stderr.decode().split("\n")}

    assert "holdfast.archive.outputs" in loaded(_payload("Bash", _shell(LONG)))
    short = {name for name in loaded(_payload("Bash", _shell("short"))) if "holdfast." in name}
    assert {name.split(".")[1] for name in short} == {"hook", "wire"}
