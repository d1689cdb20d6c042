"""What a hostile tester found, so that it stays mended. Each through a real hook process."""

import errno
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast.cli.main import holdfast_command
from holdfast.window import audit
from holdfast.wire import log, places
from tests.builders import a_transcript, an_answer
from tests.hot.hooks import fire, run, to_model

pytestmark = pytest.mark.slow  # processes by the dozen: not for the inner loop


def _ok(*arguments: str) -> str:
    found = CliRunner().invoke(holdfast_command, arguments)
    assert found.exit_code == 0, found.output
    return found.stdout


@pytest.mark.requirement("G2")
def test_a_transcript_gone_for_a_moment_is_not_a_freed_window(tmp_path: Path) -> None:
    path = a_transcript(tmp_path / "t.jsonl", an_answer(143_000))
    assert to_model(fire("PostToolUse", path))
    path.unlink()
    fire("PostToolUse", path)
    a_transcript(path, an_answer(143_500))
    assert fire("PostToolUse", path) == {}
    assert [event["level"] for event in audit.events()] == ["advisory"]


@pytest.mark.requirement("X1")
@pytest.mark.parametrize("name", ["guard.log", "audit.jsonl", "windows/s1/main/spool"])
@pytest.mark.parametrize("kind", ["folder", "pipe", "dangling"])
def test_a_file_of_ours_that_cannot_be_written_silences_nothing(
    tmp_path: Path, own_home: Path, name: str, kind: str
) -> None:
    place = own_home / ".holdfast" / name
    place.parent.mkdir(parents=True)
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to("/nowhere/at/all")
    path = a_transcript(tmp_path / "t.jsonl", an_answer(143_000))
    sent = json.dumps(
        {"hook_event_name": "PostToolUse", "session_id": "s1", "transcript_path": str(path)}
    )
    found = run(sent.encode(), loud=False)
    assert found.returncode == 0
    assert b"Holdfast: context window 1 is 86% of the way to compaction" in found.stdout


@pytest.mark.requirement("X1", "X7")
@pytest.mark.parametrize("name", ["t.jsonl", "s1/subagents/agent-a1.jsonl"])
def test_a_pipe_in_place_of_a_transcript_holds_up_no_event(tmp_path: Path, name: str) -> None:
    path = tmp_path / "s1.jsonl" if "/" in name else tmp_path / name
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    if "/" in name:
        a_transcript(path, an_answer(143_000))
    os.mkfifo(tmp_path / name)
    sent = {"session_id": "s1", "transcript_path": str(path), "cwd": str(tmp_path)}
    for event in (
        *("SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "PostCompact"),
        *("Stop", "SubagentStop", "SessionEnd"),
    ):
        of_agent = {"agent_id": "a1", "agent_type": "x"} if event == "SubagentStop" else {}
        payload = json.dumps({"hook_event_name": event, "trigger": "auto", **sent, **of_agent})
        assert run(payload.encode(), loud=False).returncode == 0, event


@pytest.mark.requirement("X1", "X7")
def test_a_folder_of_ours_that_is_open_to_others_is_closed_and_reported(
    tmp_path: Path, own_home: Path
) -> None:
    home = own_home / ".holdfast"
    home.mkdir()
    home.chmod(0o777)
    path = a_transcript(tmp_path / "t.jsonl", an_answer(1_000))
    fire("PostToolUse", path)
    assert home.stat().st_mode & 0o777 == 0o700
    assert f"{home} was open to others (mode 777)" in (home / "guard.log").read_text()
    before = (home / "guard.log").read_text()
    fire("PostToolUse", path)
    assert (home / "guard.log").read_text() == before


@pytest.mark.requirement("X1", "X7")
def test_a_folder_of_ours_on_a_read_only_disk_is_read_as_it_is(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = own_home / ".holdfast"
    home.mkdir(mode=0o755)

    def refuse(path: str, mode: int) -> None:
        raise OSError(errno.EROFS, "Read-only file system", path)

    monkeypatch.setattr(os, "chmod", refuse)
    places.protect_home()


@pytest.mark.requirement("X1", "X7")
def test_a_shared_folder_is_refused_and_not_changed(tmp_path: Path, own_home: Path) -> None:
    home = own_home / ".holdfast"
    home.mkdir()
    home.chmod(0o1777)
    path = a_transcript(tmp_path / "t.jsonl", an_answer(1_000))
    sent = {"hook_event_name": "PostToolUse", "session_id": "s1", "transcript_path": str(path)}
    found = run(json.dumps(sent).encode(), loud=False)
    assert (found.returncode, found.stdout) == (0, b"")
    assert b"is open to others" in found.stderr
    assert home.stat().st_mode & 0o7777 == 0o1777
    assert not (home / "windows").exists()


@pytest.mark.requirement("X1", "X7")
@pytest.mark.parametrize("name", ["windows", "windows/s1", "windows/s1/main"])
def test_nothing_is_written_through_a_link_in_place_of_a_folder_of_windows(
    tmp_path: Path, own_home: Path, name: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    for folder in ("s1/main", "main", "letters/of/old"):
        (elsewhere / folder).mkdir(parents=True)
    for path in sorted(elsewhere.rglob("*"))[::-1]:
        os.utime(path, (1, 1))
    before = sorted(elsewhere.rglob("*"))
    place = own_home / ".holdfast" / name
    place.parent.mkdir(parents=True)
    place.symlink_to(elsewhere)
    path = a_transcript(tmp_path / "t.jsonl", an_answer(143_000))
    sent = {"session_id": "s1", "transcript_path": str(path), "cwd": str(tmp_path)}
    for event in ("SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "SessionEnd"):
        payload = json.dumps({"hook_event_name": event, "trigger": "auto", **sent})
        assert run(payload.encode(), loud=False).returncode == 0
    assert sorted(elsewhere.rglob("*")) == before
    assert f"{place} is a link" in (own_home / ".holdfast" / "guard.log").read_text()


@pytest.mark.requirement("X1", "X7")
@pytest.mark.parametrize(
    "trick", ["pipe", "device", "huge", "preset = []", "zone_red = 1" + "0" * 400]
)
def test_a_project_s_settings_file_cannot_hang_or_silence_us(tmp_path: Path, trick: str) -> None:
    place = tmp_path / ".claude" / "holdfast.toml"
    place.parent.mkdir()
    if trick == "pipe":
        os.mkfifo(place)
    elif trick == "device":
        place.symlink_to("/dev/zero")
    else:
        place.write_text("#" * 100_000 if trick == "huge" else trick)
    path = a_transcript(tmp_path / "t.jsonl", an_answer(143_000))
    said = fire("PostToolUse", path, environ={"CLAUDE_PROJECT_DIR": str(tmp_path)})
    assert to_model(said)


@pytest.mark.requirement("X1")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("seen.json", '{"version": 1, "seen": [["k", 1e999, "m"]]}'),
        ("windows/s1/main/spool", "v1 " + "9" * 5_000 + " Stop 0 - - - 0 -\n"),
        ("windows/s1/main/state.json", '{"version": 1, "density": NaN, "zone": 99, "alert": 99}'),
    ],
)
def test_files_of_ours_that_were_spoiled_start_anew(
    tmp_path: Path, own_home: Path, name: str, content: str
) -> None:

    place = own_home / ".holdfast" / name
    place.parent.mkdir(parents=True)
    place.write_text(content)
    path = a_transcript(tmp_path / "t.jsonl", an_answer(163_000))
    fire("PostToolUse", path)
    assert json.loads(_ok("status", "--json"))["alert"] == "critical"


@pytest.mark.requirement("X7")
def test_no_escape_reaches_a_terminal_or_forges_a_line(tmp_path: Path) -> None:
    evil = "\x1b[2J\n[/b]\x07"
    path = a_transcript(
        tmp_path / "t.jsonl", an_answer(143_000, model=f"claude-sonnet-4-6{evil}", sessionId=evil)
    )
    path.write_text(path.read_text().replace('"cwd":"/p"', '"cwd":"/p/[id]/\\u001b[31m"'))
    fire("PostToolUse", path, session=f"s{evil}", cwd=f"/home/u/[id]{evil}", agent_type=evil)
    fire("SessionStart", path, session=f"s{evil}", source="startup")
    shown = _ok("status") + _ok("watch") + _ok("log")
    shown += _ok("replay", str(path))
    shown += _ok("status", "--transcript", str(path))
    assert "\x1b[2J" not in shown
    assert "\x1b[31m" not in shown
    assert "\x07" not in shown
    assert "[id]" in shown, "what looks like markup is shown as it is"
    assert all(line.startswith("2") for line in Path(log.path()).read_text().splitlines())


@pytest.mark.requirement("G8")
def test_two_that_rotate_the_log_at_once_lose_nothing() -> None:
    from concurrent.futures import ThreadPoolExecutor

    log.add("INFO", "first", "x" * 900)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: log.add("INFO", "w", f"{n} " + "x" * 900), range(1_300)))
    kept = Path(log.path() + ".1").read_text().splitlines()
    assert "first" in kept[0]
    assert len(kept) > 1_000


@pytest.mark.requirement("W5", "X7")
def test_ids_that_differ_never_share_a_window() -> None:
    long = "a" * 300
    ids = ["/", "x2f", "%2f", ".", "..", "", long, long + "b", "ä", "a" * 80, "a" * 81]
    names = [places.plain(one) for one in ids]
    assert len(set(names)) == len(ids)
    assert all("/" not in name and not name.startswith(".") for name in names)
    assert all(len(name) < 200 for name in names)
