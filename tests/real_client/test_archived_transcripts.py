"""A session of the real client outlives its transcript: archived at its end, found without it."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast.archive import transcripts
from holdfast.cli.main import holdfast_command
from tests.trial.cycle import MODEL, hook_faults
from tests.trial.run import run_trial
from tests.trial.script import Acts, ScriptedAnswer, bash, usage_of
from tests.waiting import until

from .stage import LOUD, Stage, hook_settings

pytestmark = [pytest.mark.real_client, pytest.mark.nightly]
PROMPT = "Please map the harbour, and never touch the tide tables."


@pytest.mark.requirement("R9")
def test_what_the_client_deleted_is_given_back_by_us_alone(
    binary: Path, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def perform(*args: str) -> tuple[str, int]:
        script = Acts(
            [
                ScriptedAnswer("Looking.", (bash("echo sounding"),), usage_of(20_000)),
                ScriptedAnswer("Mapped.", usage=usage_of(21_000)),
            ]
        )
        trial = run_trial(
            *(binary, stage.project, stage.home, script),
            prompt=PROMPT,
            model=MODEL,
            settings=hook_settings(),
            env={**LOUD, "HOLDFAST_ARCHIVE_TRANSCRIPTS": "on"},
            args=args,
            patient=True,
        )
        assert hook_faults(trial) == []
        return trial.session_id, trial.exit_code

    session, code = perform()
    assert code == 0
    monkeypatch.setenv("HOME", str(stage.home))
    monkeypatch.setenv("HOLDFAST_HOME", str(stage.holdfast_home))
    [own] = (stage.home / ".claude" / "projects").glob("*/*.jsonl")
    until(lambda: transcripts.copy_of(str(own)))
    own.unlink()
    monkeypatch.chdir(stage.project)
    listed = CliRunner().invoke(holdfast_command, ["resume"])
    assert session[:8] in listed.stdout and "cannot open them" in listed.stderr
    brief = CliRunner().invoke(holdfast_command, ["resume", session, "--load"])
    assert "never touch the tide tables" in brief.stdout
    found = CliRunner().invoke(holdfast_command, ["search", "harbour", "--json"])
    assert "map the harbour" in found.stdout
    assert perform("--resume", session)[1] != 0, "as we say, the client cannot open it"
