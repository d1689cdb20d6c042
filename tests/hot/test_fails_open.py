"""Any input at all: exit 0, valid output or none, and the log says why."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.client.sample_payloads import EVENTS, make_payload
from holdfast.setup.rehearsal import read_output
from holdfast.wire import scan, spool
from tests.builders import a_transcript, an_answer
from tests.hot.hooks import fire, run, window


def _survives(data: bytes, *arguments: str, **environ: str) -> str:
    found = run(data, *arguments, loud=False, environ=environ)
    assert found.returncode == 0
    return found.stdout.decode()


@pytest.mark.requirement("X1")
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0\0",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"{",
        b'"x"',
        b"{}",
        b"[" * 100_000,
        b'{"hook_event_name": 7}',
        b'{"hook_event_name": "PostToolUse", "session_id": ["x"], "transcript_path": {}}',
        b'{"hook_event_name": "PostToolUse", "session_id": "../../../etc", "transcript_path": "/"}',
        b'{"hook_event_name": "NoSuchEvent", "session_id": "s"}',
        b'{"hook_event_name": "Stop", "session_id": "' + b"s" * 100_000 + b'"}',
    ],
)
def test_no_payload_breaks_a_session(data: bytes) -> None:
    assert _survives(data) == ""


@pytest.mark.slow
@pytest.mark.requirement("X1")
@pytest.mark.parametrize("event", ["PostToolUse", "UserPromptSubmit", "PreCompact"])
@pytest.mark.parametrize("what", ["missing", "folder", "empty", "binary", "newline", "giant line"])
def test_no_transcript_breaks_a_session(tmp_path: Path, event: str, what: str) -> None:
    path = tmp_path / "t.jsonl"
    if what == "folder":
        path.mkdir()
    elif what == "newline":
        path = tmp_path / "a\nb"
    elif what != "missing":
        contents = {"empty": b"", "binary": bytes(range(256)) * 99, "giant line": b"x" * 9_000_000}
        path.write_bytes(contents[what])
        os.utime(path, (0, 0))
    fire(event, path)


@pytest.mark.requirement("X1")
def test_a_payload_of_five_megabytes_is_read_whole(tmp_path: Path) -> None:
    path = a_transcript(tmp_path / "t.jsonl", an_answer(50_000, calls=("t1",)))
    file = {"filePath": "/p/a", "content": "y" * 5_000_000, "numLines": 1}
    said = fire("PostToolUse", path, tool_use_id="t1", tool_response={"type": "text", "file": file})
    assert said, "five megabytes more do not fit any window"


@pytest.mark.slow
@pytest.mark.requirement("X1", "X7")
@pytest.mark.parametrize("key", ["tool_input", "tool_response"])
def test_of_a_giant_payload_only_its_frame_is_parsed(tmp_path: Path, key: str) -> None:
    """Twenty million tiny lists took half a minute."""
    path = a_transcript(tmp_path / "t.jsonl", an_answer(50_000, calls=("t1",)))
    sent = make_payload("PostToolUse", session_id="s1", transcript=str(path), cwd="/p")
    del sent["tool_use_id"], sent[key]
    frame = json.dumps(sent)[:-1]
    lists = b"[" + b"[]," * 3_000_000 + b"[]]"
    data = frame.encode() + f',"{key}":'.encode() + lists + b',"tool_use_id":"t1"}'
    parsed = scan.parse_object(scan.limit_payload(data))
    assert parsed["session_id"] == "s1"
    assert key not in parsed
    assert _survives(data) == ""
    assert len(spool.lines(str(window()))) == 1


@pytest.mark.slow
@pytest.mark.requirement("X1")
@pytest.mark.parametrize("event", ["PostToolUse", "Stop", "PreCompact", "SessionEnd"])
def test_a_full_disk_is_survived(event: str) -> None:
    """/dev/full says what a full disk says; a limit of no bytes per file says it for ours."""
    code = (
        "import resource, os, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    import subprocess
    import sys

    from tests.hot.hooks import COMMAND

    sent = make_payload(event, session_id="s1", transcript="", cwd="/p")
    found = subprocess.run(
        [sys.executable, "-c", code, *COMMAND],
        input=json.dumps(sent).encode(),
        capture_output=True,
        timeout=60,
        check=False,
        env={name: os.environ[name] for name in ("PATH", "HOME", "HOLDFAST_HOME")},
    )
    assert found.returncode == 0
    assert found.stdout == b""


@pytest.mark.slow
@pytest.mark.requirement("X3")
def test_disabled_every_hook_is_a_no_op(own_home: Path) -> None:
    for event in EVENTS:
        assert fire(event, environ={"HOLDFAST_DISABLE": "1"}) == {}
    assert not (own_home / ".holdfast").exists()


JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
NAMES = "session_id transcript_path agent_id tool_response tool_use_id source tool_name model"
NAMES += " trigger prompt error cwd context_window"
FIELDS = st.dictionaries(st.sampled_from(NAMES.split()), JSONISH, max_size=6)


@pytest.mark.requirement("X1", "X7")
@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(event=st.sampled_from(EVENTS), fields=FIELDS)
def test_wrong_types_in_every_field_give_silence_or_valid_output(
    event: str, fields: dict[str, object]
) -> None:
    out = _survives(json.dumps({"hook_event_name": event, **fields}).encode())
    assert read_output(event, out.strip())[2] == ""
