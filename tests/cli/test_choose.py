"""Which session a command speaks of, and where a checkpoint of it may go."""

import gzip
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from holdfast.archive import save_transcripts, transcripts
from holdfast.checkpoint import checkpoint_file
from holdfast.cli.main import holdfast_command
from holdfast.client.memory_folder import slug
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError
from tests.archive.sessions import ROOM, a_session
from tests.builders import a_boundary, a_prompt, a_summary, a_transcript, an_answer
from tests.hot.hooks import fire


def _invoke(*arguments: str, **environ: str) -> Result:
    return CliRunner().invoke(holdfast_command, arguments, env=environ)


def _json(*arguments: str) -> dict[str, Any]:
    found = _invoke(*arguments, "--json")
    assert found.exit_code == 0, found.output
    answer: dict[str, Any] = json.loads(found.stdout)
    return answer


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A session of nowhere: no hook has ever heard of it."""
    return a_transcript(tmp_path / "copy.jsonl", a_prompt("Mend it."), an_answer(60_000))


def _session(tmp_path: Path, name: str, *events: str) -> Path:
    """A session with hooks in a project of its own, which lies beside the others."""
    project = tmp_path / name
    project.mkdir()
    path = a_transcript(tmp_path / f"{name}.jsonl", a_prompt(f"Mend {name}."), an_answer(60_000))
    for event in ("PostToolUse", *events):
        environ = {"CLAUDE_PROJECT_DIR": str(project)}
        fire(event, path, session=name, environ=environ, cwd=str(project))
    return project


@pytest.mark.requirement("U3")
@pytest.mark.parametrize("command", ["checkpoint --project .", "brief", "lost", "status"])
def test_no_command_leaves_a_window_of_the_recorded_session(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = _invoke(*command.split(), "--demo")
    assert found.exit_code == 0, found.output
    assert not Path(places.windows()).exists()
    assert list(Path(tempfile.gettempdir()).glob("holdfast-*/state.json")) == []


@pytest.mark.requirement("U3")
def test_the_recorded_session_is_saved_only_in_a_folder_that_is_named(own_home: Path) -> None:
    refused = _invoke("checkpoint", "--demo")
    assert refused.exit_code == 2 and "--demo needs --project DIR" in refused.stderr
    assert _invoke("compress", "--now", "--demo").exit_code == 2
    assert not list(own_home.rglob("*.md")) and not list(own_home.rglob("*.json"))


@pytest.mark.requirement("U3")
def test_with_two_sessions_in_a_project_it_is_said_which_one_was_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = _session(tmp_path, "alpha-11")
    monkeypatch.chdir(project)
    assert "sessions run here" not in _invoke("status").stderr
    path = a_transcript(tmp_path / "beta-222.jsonl", a_prompt("Paint it."), an_answer(60_000))
    environ = {"CLAUDE_PROJECT_DIR": str(project)}
    fire("PostToolUse", path, session="beta-222", environ=environ, cwd=str(project))
    words = (
        "note: 2 sessions run here; this is beta-222: `holdfast status ID` for another; "
        "`holdfast status --all` lists them\n"
    )
    assert words in _invoke("status").stderr
    assert "sessions run here" not in _invoke("status", "alpha").stderr
    saved = _invoke("checkpoint").stderr
    assert "2 sessions run here; this is beta-222: `holdfast checkpoint ID`" in saved
    assert "\nsession beta-222, verified by reading it back; " in saved


@pytest.mark.requirement("U3")
def test_the_session_of_this_folder_comes_first_then_the_newest_live_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = _session(tmp_path, "alpha")
    _session(tmp_path, "beta")
    _session(tmp_path, "gone", "SessionEnd")
    (here / "src").mkdir()
    monkeypatch.chdir(here / "src")
    assert _json("status")["session_id"] == "alpha"
    monkeypatch.chdir(tmp_path)
    assert _json("status")["session_id"] == "beta", "else the newest that has not ended"
    monkeypatch.chdir(tmp_path / "gone")
    assert _json("status")["session_id"] == "gone", "ended or not, it is this folder's"


@pytest.mark.requirement("C1", "U3")
def test_a_checkpoint_never_goes_into_another_project_unless_its_session_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = _session(tmp_path, "alpha")
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    found = _invoke("checkpoint")
    assert found.exit_code == 1
    assert f"no session of {empty} has been found" in str(found.exception)
    assert not (other / ".claude").exists()
    assert _json("checkpoint", "alp")["path"].startswith(f"{other}/")
    monkeypatch.chdir(other)
    assert _json("checkpoint")["path"].startswith(f"{other}/")


@pytest.mark.requirement("C1", "U3")
@pytest.mark.parametrize("is_archived", [True, False])
def test_a_checkpoint_is_saved_of_every_file_that_a_brief_reads(
    is_archived: bool, tmp_path: Path
) -> None:
    project, file = tmp_path / "kept", tmp_path / "s1.jsonl.gz"
    project.mkdir()
    prompt = {**a_prompt("Map the harbour."), "cwd": str(project)}
    path = a_session("s1", prompt, an_answer(60_000))
    if is_archived:
        save_transcripts.save_all(ROOM)
        file = Path(transcripts.copy_of(str(path)))
    else:
        file.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert "Map the harbour." in _json("brief", str(file))["brief"]
    saved = _json("checkpoint", str(file), *(["--project", str(project)] * is_archived))
    assert saved["path"].startswith(f"{project}/")
    document = checkpoint_file.parse(checkpoint_file.load(saved["path"])).document
    assert document.session_id == "s1"
    assert "Map the harbour." in document.sections["Why Changed"][0]
    assert _invoke("verify", saved["path"]).exit_code == 0
    assert "Map the harbour." in _invoke("resume", str(file)).stdout
    assert not Path(places.windows()).exists(), "a file leaves no window"


def _client_s(name: str, folder: Path, *lines: dict[str, Any]) -> Path:
    """A transcript where the client keeps them, of a session without hooks."""
    projects = Path.home() / ".claude" / "projects" / slug(str(folder.resolve()))
    projects.mkdir(parents=True, exist_ok=True)
    here = {"cwd": str(folder.resolve())}
    placed = (line | here if line.get("cwd") == "/p" else line for line in lines)
    return a_transcript(projects / f"{name}.jsonl", *placed)


@pytest.mark.requirement("B6")
def test_a_session_without_a_compaction_has_no_summary_and_another_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    other = tmp_path / "other"
    _client_s("bbbb2222", other, an_answer(160_000), a_boundary(), a_summary(), an_answer(9_000))
    _client_s("aaaa1111", tmp_path, a_prompt("Count boats."), an_answer(20_000))
    refused = _invoke("lost").exception
    assert isinstance(refused, HoldfastError)
    assert "has not been compacted, so there is no summary" in str(refused)
    assert "holdfast lost bbbb2222" in str(refused.hint)
    assert _invoke("lost", "bbbb").exit_code == 0


@pytest.mark.requirement("C1", "U3")
def test_a_checkpoint_is_saved_of_the_session_that_status_shows_without_hooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, other = tmp_path / "shop", tmp_path / "other"
    for name, folder in (("aaaa1111", here), ("bbbb2222", other)):
        (folder / "src").mkdir(parents=True)
        lines = [a_prompt(f"Sort {name}."), an_answer(90_000)]
        for line in lines:
            line |= {"cwd": str(folder), "sessionId": name}
        _client_s(name, folder, *lines)
    monkeypatch.chdir(here / "src")
    shown = _json("status")
    assert shown["session_id"] == "aaaa1111"
    assert 0.5 < shown["stop_guard"]["unsaved_ratio"] < 0.6
    assert "unsaved 54% of the limit: no checkpoint" in " ".join(_invoke("status").stdout.split())
    saved = _invoke("checkpoint", "--json")
    assert json.loads(saved.stdout)["path"].startswith(f"{here}/")
    assert "no hook has run in session" in saved.stderr
    assert "0% of the limit since the last checkpoint" in " ".join(_invoke("status").stdout.split())
    assert _json("checkpoint", "bbbb2222")["path"].startswith(f"{other}/")
    assert _json("checkpoint", "bbbb")["reused"]
    assert _invoke("segments", "--here").exit_code == 0
    assert "--session bbbb2222" in _invoke("pin", "Sort first.", "--session", "bb").stdout


@pytest.mark.requirement("U3")
def test_status_of_all_lists_the_newest_past_sessions_before_any_hook_has_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    for number in range(12):
        long = " Then row." * 200 if number == 5 else ""
        lines = [a_prompt(f"Count boat {number}.{long}"), an_answer(90_000)]
        lines += [a_boundary(), a_summary(), an_answer(9_000)] if number == 11 else []
        for line in lines:
            line["cwd"] = f"/srv/harbour{number}"
        path = _client_s(f"{number:08}-1111-2222", tmp_path / f"harbour{number}", *lines)
        os.utime(path, (1_700_000_000 + number,) * 2)
    found = _invoke("status", "--all")
    first, *others = found.stdout.splitlines()
    assert len(others) == 9, "bounded"
    assert first.split()[0] == "00000011"
    assert first.split()[3:] == ["1", "harbour11", "Count", "boat", "11."]
    assert others[0].split()[3:] == ["0", "harbour10", "Count", "boat", "10."]
    assert "compactions" in found.stderr
    monkeypatch.delenv("COLUMNS")
    in_a_pipe = _invoke("status", "--all").stdout
    assert "Then row." in in_a_pipe and max(map(len, in_a_pipe.splitlines())) < 200
    assert json.loads(_invoke("status", "--all", "--json").stdout) == []
    assert _invoke("status", "--all", "00000003").stdout.startswith("00000003 ")
    refused = _invoke("status", "nosuch").exception
    assert isinstance(refused, HoldfastError)
    assert "`holdfast status --all` lists" in str(refused.hint)


@pytest.mark.slow
@pytest.mark.requirement("U3")
@pytest.mark.parametrize("command", ["status", "lost", "brief", "replay", "checkpoint", "resume"])
def test_every_command_takes_a_session_by_id_start_of_it_or_file(
    command: str, tmp_path: Path, own_home: Path
) -> None:
    lines = (a_prompt("Mend it."), an_answer(150_000), a_boundary(150_000), a_summary("All done."))
    folder = own_home / ".claude" / "projects" / slug(str(tmp_path))
    folder.mkdir(parents=True)
    named = [line | {"sessionId": "5e551041-aa"} for line in lines]
    path = a_transcript(folder / "5e551041-aa.jsonl", *named)
    saved = _invoke("checkpoint", str(path), "--project", str(tmp_path))
    assert saved.exit_code == 0, saved.output
    for word in ("5e551041-aa", "5e55", str(path)):
        found = _invoke(command, word)
        assert found.exit_code == 0, (word, found.output)
        assert found.stdout


@pytest.mark.requirement("U3")
def test_a_session_that_is_named_twice_is_refused(file: Path) -> None:
    found = _invoke("lost", "5e55", "--transcript", str(file))
    assert found.exit_code == 2
    assert "named twice" in found.stderr


@pytest.mark.requirement("U3")
def test_resume_says_what_to_do_for_a_session_without_a_checkpoint(own_home: Path) -> None:
    folder = own_home / ".claude" / "projects" / "-p"
    folder.mkdir(parents=True)
    a_transcript(folder / "5e551041-aa.jsonl", a_prompt("Mend it."))
    found = _invoke("resume", "5e55")
    assert isinstance(found.exception, HoldfastError)
    assert "has no checkpoint" in str(found.exception)
    assert "holdfast checkpoint 5e55" in found.exception.hint


@pytest.mark.requirement("U3")
@pytest.mark.parametrize("command", ["status", "lost", "brief", "budget"])
def test_a_transcript_of_this_folder_comes_before_a_recorded_session_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    _session(tmp_path, "alpha")
    lines = (a_prompt("Mend it."), an_answer(60_000), a_boundary(), a_summary("Done."))
    _client_s(
        "eeee5555", tmp_path / "unheard", *(line | {"sessionId": "eeee5555"} for line in lines)
    )
    (tmp_path / "unheard").mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path / "unheard")
    printed = _invoke(command)
    assert "this folder has no session" not in printed.stderr
    assert _json("status")["session_id"] == "eeee5555"
    assert (
        command not in ("lost", "brief") or "no hook has run in session eeee5555" in printed.stderr
    )
