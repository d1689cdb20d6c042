"""Hooks without msgspec: the same reader on the standard library finds the same."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.client.sample_payloads import make_payload
from holdfast.setup.wiring import hook_table, status_line
from tests.builders import a_boundary, a_prompt, a_summary, a_transcript, an_answer
from tests.hot.hooks import fire

ROOT = Path(__file__).resolve().parents[2]
FALLBACK = ROOT / "plugin" / "fallback"
HOOK = ROOT / "src" / "holdfast" / "hook" / "__main__.py"
SESSION = ROOT / "demo" / "session.jsonl"
pytestmark = [pytest.mark.slow, pytest.mark.requirement("U11")]


def ran(code: str, *words: str, fallback: bool) -> bytes:
    """What this code prints, with msgspec or with the part of it that the plugin brings."""
    path = [str(FALLBACK)] if fallback else []
    env = {"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(path)}
    for name in ("HOME", "HOLDFAST_HOME"):
        env[name] = os.environ[name]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], env=env, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_a_record_of_a_whole_session_is_the_same() -> None:
    code = (
        "import sys, msgspec\n"
        "from pathlib import Path\n"
        "from holdfast.record.stream import read_turns\n"
        "turns = list(read_turns(Path(sys.argv[1])))\n"
        "sys.stdout.buffer.write(msgspec.json.encode(turns[-1].after))\n"
        "sys.stdout.buffer.write(str(hasattr(msgspec, 'msgpack')).encode())\n"
    )
    real, plain = (ran(code, str(SESSION), fallback=way) for way in (False, True))
    assert (real[-4:], plain[-5:]) == (b"True", b"False")
    assert json.loads(real[:-4]) == json.loads(plain[:-5])
    assert len(real) > 1_000


def test_a_hook_without_packages_gives_the_users_words_back(tmp_path: Path, own_home: Path) -> None:
    """`-I -S` and a place that has nothing but our own files: no site-packages are found."""
    place = tmp_path / "plugin"
    place.mkdir()
    (place / "lib").symlink_to(ROOT / "src")
    (place / "fallback").symlink_to(FALLBACK)
    bare = tmp_path / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    transcript = a_transcript(
        tmp_path / "s1.jsonl",
        a_prompt("Never use tabs in the Makefile of payments."),
        an_answer(150_000),
        a_boundary(),
        a_summary("We worked on a file."),
    )
    said = []
    for event, more in (("PreCompact", {}), ("SessionStart", {"source": "compact"})):
        sent = make_payload(event, session_id="s1", transcript=str(transcript), cwd=str(tmp_path))
        done = subprocess.run(
            [bare / "bin" / "python", "-I", "-S", place / "lib/holdfast/hook/__main__.py"],
            input=json.dumps(sent | more).encode(),
            capture_output=True,
            env={"PATH": os.defpath, "HOME": str(own_home), "HOLDFAST_RAISE": "1"},
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        said.append(done.stdout.decode())
    assert "Never use tabs in the Makefile of payments." in said[-1]
    assert list((tmp_path / ".claude").rglob("*.md")) or list(own_home.rglob("*.md"))


@pytest.mark.parametrize(
    ("file", "transcript"),
    [(".claude/settings.json", "s1.jsonl"), (".codex/hooks.json", "rollout-1.jsonl")],
)
def test_the_plugin_says_when_settings_of_the_same_agent_run_the_hooks_too(
    tmp_path: Path, own_home: Path, file: str, transcript: str
) -> None:
    settings = own_home / file
    settings.parent.mkdir()
    here = {"CLAUDE_PLUGIN_ROOT": str(tmp_path)}
    only_status_line = json.dumps({"statusLine": status_line()})
    hooks_too = json.dumps({"hooks": hook_table()})
    for written, told in (
        ("{}", False),
        ("{", False),
        (only_status_line, False),
        (hooks_too, True),
    ):
        settings.write_text(written)
        from_plugin = fire("SessionStart", tmp_path / transcript, environ=here)
        assert ("installed twice" in str(from_plugin)) is told
        assert "installed twice" not in str(fire("SessionStart", tmp_path / transcript))
    for other in ("s2.jsonl", "rollout-2.jsonl"):
        if other[:1] != transcript[:1]:
            assert fire("SessionStart", tmp_path / other, environ=here) == {}


@pytest.mark.nightly
@pytest.mark.parametrize("folder", ["transcript", "record", "brief", "checkpoint", "segment"])
def test_all_tests_of_the_readers_hold(folder: str) -> None:
    words = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-m", "not nightly"]
    run = subprocess.run(
        [*words, "-p", "no:schemathesis", f"tests/{folder}"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": str(FALLBACK)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3_000:]
