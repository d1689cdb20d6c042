"""One session, ten compactions, summaries that keep nothing: what the user said still stands."""

from pathlib import Path

import pytest

from tests.trial.cycle import MODEL, compactions, hook_faults
from tests.trial.run import Trial, run_trial
from tests.trial.script import Acts, ScriptedAnswer, bash, usage_of

from .briefs import MOST_TOKENS, after_compactions, briefs, checkpoints, tokens
from .stage import LOUD, Stage, a_stage, hook_settings

pytestmark = [pytest.mark.real_client, pytest.mark.nightly]

CYCLES = 10
# Three windows that refill within three rounds end the turn ("Autocompact is thrashing").
USAGE = (30_000, 70_000, 110_000, 150_000, 169_000)
REQUEST = "Please teach the parser to read gauge files with two headings."
RULES = ("Always run `make check` before you commit.", "Never touch anything below data/raw.")
PROMPT = "\n".join((REQUEST, *RULES))


@pytest.fixture(scope="session")
def run(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Trial, Stage]:
    stage = a_stage(tmp_path_factory.mktemp("ten"))
    main = [
        ScriptedAnswer(f"Part {cycle}.{used}.", (bash(_command(cycle, used)),), usage_of(used))
        for cycle in range(1, CYCLES + 1)
        for used in USAGE
    ]
    ending = ScriptedAnswer("Nearly done.", (bash("echo last"),), usage_of(20_000))
    summary = [
        ScriptedAnswer(
            f"<summary>Work went on, {n}.</summary>", usage=usage_of(3_000, output_tokens=200)
        )
        for n in range(CYCLES)
    ]
    trial = run_trial(
        *(binary, stage.project, stage.home, Acts([*main, ending], summary=summary)),
        prompt=PROMPT,
        model=MODEL,
        settings=hook_settings(),
        env=LOUD,
        timeout=150,
        patient=True,
    )
    return trial, stage


def _command(cycle: int, used: int) -> str:
    return f"sleep 0.1; echo heading > gauge_{cycle}_{used}.py"


@pytest.mark.requirement("X1")
def test_ten_compactions_pass_without_a_fault(run: tuple[Trial, Stage]) -> None:
    trial, _ = run
    assert hook_faults(trial) == []
    assert (trial.exit_code, trial.timed_out) == (0, False)
    assert compactions(trial) == CYCLES
    assert len(trial.asked("main")) == CYCLES * len(USAGE) + 2


@pytest.mark.requirement("B2", "B4")
def test_after_each_the_next_request_has_one_brief_with_rules_and_request(
    run: tuple[Trial, Stage],
) -> None:
    after = after_compactions(run[0])
    assert len(after) == CYCLES
    for number, request in enumerate(after, start=1):
        [brief] = briefs(request)
        missing = [words for words in (REQUEST, *RULES) if words not in brief]
        assert (number, missing) == (number, [])
        assert tokens(brief) <= MOST_TOKENS


@pytest.mark.requirement("B2")
def test_each_brief_says_where_the_work_stood_just_then(run: tuple[Trial, Stage]) -> None:
    for cycle, request in enumerate(after_compactions(run[0]), start=1):
        assert _command(cycle, USAGE[-1]) in briefs(request)[0]


@pytest.mark.requirement("B2", "B6")
def test_briefs_do_not_pile_up(run: tuple[Trial, Stage]) -> None:
    """One at the compaction, at most one more for what the summary left out."""
    assert max(len(briefs(request)) for request in run[0].asked("main")) <= 2


@pytest.mark.requirement("C4", "C9")
def test_each_compaction_has_one_checkpoint_of_its_last_round_that_verifies(
    run: tuple[Trial, Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hook of the last round may have saved a moment before, as `guard`: the same state, or the
    one without that round's result, which the client writes later."""
    trial, stage = run
    monkeypatch.setenv("HOLDFAST_HOME", str(stage.holdfast_home))
    kept = checkpoints(stage.project)
    assert {one.session_id for one in kept} == {trial.session_id}
    for cycle in range(1, CYCLES + 1):
        step = _command(cycle, USAGE[-1])
        found = [one for one in kept if step in "\n".join(one.sections.get("In Progress", ()))]
        assert 1 <= len(found) <= 2
        for mine in found:
            assert mine.trigger in ("auto", "guard")
            words = "\n".join(mine.sections["Why Changed"])
            assert all(rule in words for rule in RULES)
