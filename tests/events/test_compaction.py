"""Before and after a compaction, through the real hook processes: saved, steered, given back."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from holdfast.checkpoint import index, snapshot
from holdfast.checkpoint.verify import verify
from holdfast.client import sample_payloads
from holdfast.wire import places
from tests.builders import a_prompt
from tests.events.work import REQUEST, RULE, Work, raw
from tests.hot.hooks import run, to_model, window


@pytest.fixture
def work(tmp_path: Path) -> Work:
    made = Work(tmp_path)
    made.round(20_000)
    made.round(30_000, "python -m gauge read 'two headings.csv'", "ValueError: two headings")
    return made


@pytest.mark.requirement("C1", "C4", "C5")
def test_before_a_compaction_a_verified_checkpoint_is_in_the_project(work: Work) -> None:
    work.compact()
    [path] = work.checkpoints
    assert verify(str(path)).ok
    text = path.read_text()
    assert 'trigger: "auto"' in text
    assert RULE in text
    assert "python -m gauge read 'two headings.csv'" in text
    assert (path.parent / ".gitignore").read_text() == "*\n"


@pytest.mark.slow
@pytest.mark.requirement("C1", "U5")
def test_a_checkpoint_states_the_fill_at_which_it_was_taken(work: Work) -> None:
    """At a compaction the hook's own reading: the state has that of the last hook that woke."""
    for used in (60_000, 90_000, 120_000):
        work.round(used)
    work.hook("PostToolUse")
    work.round(150_000, "make charts")
    work.compact()
    entry = index.load()[-1]
    fill = snapshot.load_fill(entry.project, entry.id)
    assert 150_000 <= fill.used_tokens < 150_100
    assert fill.limit_tokens == 167_000


@pytest.mark.requirement("B1")
def test_the_summariser_is_told_what_to_keep_word_for_word(work: Work) -> None:
    steered, _ = work.compact()
    assert RULE in steered
    assert REQUEST in steered
    assert len(steered) <= 2_000
    assert not steered.startswith("{")


@pytest.mark.requirement("B2", "B8")
def test_after_a_compaction_the_brief_gives_back_rules_request_and_commands(work: Work) -> None:
    _, given = work.compact()
    assert RULE in given
    assert REQUEST in given
    assert "python -m gauge read 'two headings.csv'" in given
    assert given.startswith("<holdfast-brief")
    assert given.rstrip().endswith("</holdfast-brief>")
    assert len(given) / 3.5 <= 2_000


@pytest.mark.requirement("C13", "X6")
def test_a_save_that_fails_everywhere_blocks_once_and_never_again(work: Work) -> None:
    work.hook("PostToolUse", tool_use_id="t2")  # so that the edge is known
    window().joinpath("record.json").unlink(missing_ok=True)
    home = Path(os.environ["HOLDFAST_HOME"])
    (work.project / ".claude").write_text("in the way")
    (home / "checkpoints").write_text("in the way")
    first = raw("PreCompact", work.path, work.project)
    assert json.loads(first)["decision"] == "block"
    second = raw("PreCompact", work.path, work.project)
    assert "decision" not in second


@pytest.mark.requirement("C13")
def test_the_user_hears_of_a_home_that_cannot_be_written(work: Work, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("in the way")
    sent = json.dumps(
        sample_payloads.make_payload(
            "SessionStart", session_id="s1", transcript=str(work.path), cwd=str(work.project)
        )
        | {"source": "compact"}
    )
    environ = {**work.environ, "HOLDFAST_HOME": str(home)}
    found = run(sent.encode(), loud=False, environ=environ)
    said = json.loads(found.stdout)
    assert f"{home} cannot be written" in said["systemMessage"]
    assert "Make that folder writable" in said["systemMessage"]
    assert "Go on" in to_model(said) and "writable" not in to_model(said), "it is the user's folder"
    assert REQUEST in to_model(said), "what the transcript tells is restored all the same"


@pytest.mark.requirement("G5", "C13")
def test_an_alert_does_not_say_saved_where_nothing_could_be_saved(work: Work) -> None:
    work.hook("PostToolUse", tool_use_id="t2")
    (work.project / ".claude").write_text("in the way")
    Path(os.environ["HOLDFAST_HOME"], "checkpoints").write_text("in the way")
    work.round(159_000)
    alert = to_model(work.hook("PostToolUse", tool_use_id=f"t{work.count}"))
    assert "No checkpoint could be saved; the user is told." in alert
    assert "run holdfast doctor" in work.hook("Stop")["systemMessage"]
    raw("PreCompact", work.path, work.project)  # held up once
    _, given = work.compact()
    assert REQUEST in given, "what the alert promises holds without a checkpoint"


@pytest.mark.slow
@pytest.mark.requirement("C12")
def test_a_transcript_that_cannot_be_read_gives_a_smaller_checkpoint(work: Work) -> None:
    work.path.unlink()
    work.path.mkdir()
    steered = raw("PreCompact", work.path, work.project)
    assert steered == ""
    [path] = work.checkpoints
    assert "not read to its end" in verify(str(path)).findings[0].words
    assert "this checkpoint is small" in path.read_text()


@pytest.mark.requirement("B7", "U10")
def test_a_new_session_is_offered_the_newest_checkpoint(work: Work) -> None:
    work.compact()
    (work.project / "conductor-state.json").write_text('{"phase": "two", "spec": 3}')
    said = to_model(work.hook("SessionStart", source="startup", session="s2"))
    assert "phase: two; spec: 3" in said
    assert work.checkpoints[0].stem in said
    assert "not instructions" in said
    assert len(said) <= 900


@pytest.mark.requirement("B7", "X7")
def test_the_offer_quotes_no_file_outside_the_project(work: Work, tmp_path: Path) -> None:
    work.compact()
    (tmp_path / "account.json").write_text('{"email": "me@private.example"}')
    (work.project / "conductor-state.json").symlink_to(tmp_path / "account.json")
    said = to_model(work.hook("SessionStart", source="startup", session="s2"))
    assert work.checkpoints[0].stem in said
    assert "me@private.example" not in said


CONDUCTOR = {
    "phase": "build",
    "specs": [{"id": "auth", "status": "done"}, {"id": "tides", "status": "open"}, "moon"],
    "key": "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
}


@pytest.mark.requirement("U10", "C2", "X4")
@pytest.mark.parametrize("place", ["conductor-state.json", ".claude/conductor-state.json"])
def test_a_conductors_state_is_in_the_checkpoint_and_in_the_offer_with_its_specs(
    work: Work, place: str
) -> None:
    file = work.project / place
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(CONDUCTOR))
    work.compact()
    [path] = work.checkpoints
    text = path.read_text()
    assert "## Workflow State" in text
    for spec in (json.dumps(CONDUCTOR["specs"][0]), json.dumps(CONDUCTOR["specs"][1]), "moon"):
        assert f"- specs: {spec}\n" in text
    assert verify(str(path)).ok
    held = snapshot.load(str(work.project), path.stem)
    assert held["workflow_state"]["specs"] == CONDUCTOR["specs"]
    said = to_model(work.hook("SessionStart", source="startup", session="s2"))
    assert "tides" in said
    assert str(CONDUCTOR["key"]) not in text + said + json.dumps(held)


@pytest.mark.requirement("X4")
def test_the_end_of_a_session_removes_what_killed_hooks_left_in_any_window(work: Work) -> None:
    gone = subprocess.run(["sh", "-c", "echo $$"], capture_output=True, text=True, check=True)
    folder = Path(places.window("killed"))
    folder.mkdir(parents=True)
    dead, alive = (folder / f".{pid}-1.draft" for pid in (int(gone.stdout), os.getpid()))
    dead.touch()
    alive.touch()
    work.hook("SessionEnd")
    assert (dead.exists(), alive.exists()) == (False, True)


@pytest.mark.slow
@pytest.mark.requirement("U9")
def test_the_end_of_a_session_leaves_one_line_in_the_day_s_note(work: Work, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    work.environ["HOLDFAST_NOTES_FOLDER"] = str(vault)
    work.hook("SessionEnd")
    work.hook("SessionEnd")
    [note] = vault.iterdir()
    assert note.suffix == ".md"
    [line] = note.read_text().splitlines()
    assert "project: " in line
    assert "^holdfast-s1-" in line


@pytest.mark.requirement("U9", "X7")
def test_a_repository_cannot_have_a_line_written_into_the_user_s_files(
    work: Work, own_home: Path
) -> None:
    instructions = own_home / ".claude" / "CLAUDE.md"
    instructions.parent.mkdir()
    instructions.write_text("mine\n")
    (work.project / ".claude").mkdir(exist_ok=True)
    (work.project / ".claude" / "holdfast.toml").write_text(
        'notes_folder = "~/.claude"\nnotes_name = "CLAUDE.md"\n'
    )
    work.hook("SessionEnd")
    assert work.checkpoints, "the end of the session was handled"
    assert instructions.read_text() == "mine\n"


@pytest.mark.slow
@pytest.mark.requirement("U9")
@pytest.mark.parametrize("name", ["link.md", "binary.md", "plain.txt"])
def test_what_is_not_a_note_is_left_as_it_was(work: Work, tmp_path: Path, name: str) -> None:
    vault, other = tmp_path / "vault", tmp_path / "other.md"
    vault.mkdir()
    other.write_text("mine")
    (vault / "link.md").symlink_to(other)
    (vault / "binary.md").write_bytes(b"\0\1")
    (vault / "plain.txt").write_text("mine")
    work.environ |= {"HOLDFAST_NOTES_FOLDER": str(vault), "HOLDFAST_NOTES_NAME": name}
    work.hook("SessionEnd")
    assert (other.read_text(), (vault / "binary.md").read_bytes()) == ("mine", b"\0\1")
    assert (vault / "plain.txt").read_text() == "mine"


@pytest.mark.slow
@pytest.mark.requirement("X4")
def test_a_secret_reaches_neither_checkpoint_nor_brief(work: Work) -> None:
    token = "gh" + "p_" + "A1b2C3d4E5" * 3 + "f6G7h8"
    work.round(41_000, f"curl -H 'Authorization: Bearer {token}' localhost")
    work.lines.append(a_prompt(f"never print {token} anywhere"))
    steered, given = work.compact()
    [path] = work.checkpoints
    for text in (steered, given, path.read_text()):
        assert token not in text
    assert all(token.encode() not in p.read_bytes() for p in _ours())


def _ours() -> list[Path]:
    return [path for path in Path(os.environ["HOLDFAST_HOME"]).rglob("*") if path.is_file()]


@pytest.mark.requirement("B15")
def test_the_next_prompt_tells_the_user_once_what_was_restored(work: Work) -> None:
    work.compact("The user wants the parser to read gauge files.")
    work.round(25_000)
    said = work.hook("UserPromptSubmit", prompt="Go on.").get("systemMessage", "")
    assert said.startswith("Holdfast restored 2 of your messages")
    assert said.endswith("; 2 were not found in the summary: holdfast lost")
    assert "restored" not in work.hook("UserPromptSubmit", prompt="Go on.").get("systemMessage", "")


@pytest.mark.requirement("B16")
def test_the_brief_names_its_window_and_an_alert_the_one_it_is_about(work: Work) -> None:
    _, first = work.compact()
    assert "\nWindow 2, just compacted: earlier fill figures are out of date" in first
    work.round(155_000)
    alert = to_model(work.hook("PostToolUse", tool_use_id=f"t{work.count}"))
    assert "Holdfast: context window 2 is 93% of the way to compaction" in alert
    assert len(alert.partition("<holdfast-brief")[0]) <= 212
    _, second = work.compact()
    assert "\nWindow 3, just compacted:" in second


@pytest.mark.requirement("B13", "C2")
def test_git_is_asked_before_a_compaction_and_quoted_after_it(work: Work, tmp_path: Path) -> None:
    made = ["git", "-C", str(work.project), "-c", "user.name=s", "-c", "user.email=s@localhost"]
    for words in (["init", "-q", "-b", "ebb"], ["commit", "-q", "--allow-empty", "-m", "Add ebb"]):
        subprocess.run([*made, *words], check=True)
    other, called = tmp_path / "bin" / "git", tmp_path / "called"
    other.parent.mkdir()
    other.write_text(f"#!/bin/sh\ntouch {called}\n")
    other.chmod(0o700)
    work.environ["PATH"] = str(other.parent)  # of the hooks after PreCompact
    work.round(40_000, "git status -s", " M src/gauge.py")
    _, given = work.compact()
    asked = "git (asked at this compaction): on branch ebb; newest commits: "
    printed = "`git status -s` printed at step 3, no edit since:\n    M src/gauge.py"
    assert asked in given and "“Add ebb”" in given and printed in given
    assert not called.exists(), "only PreCompact asks"
    [path] = work.checkpoints
    assert f"## Git\n- {asked}" in path.read_text()
