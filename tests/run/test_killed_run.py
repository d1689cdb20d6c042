"""Whatever the conductor dies of, its Claudes go with it, and the next run goes on where it was."""

import os
import signal
import subprocess
import sys

import pytest

from tests.run.theatre import PATIENCE_SECONDS, Theatre
from tests.trial.namespace import children_of, wait_for_end

pytestmark = pytest.mark.slow
NIGHTLY = pytest.mark.nightly
STAYING = (
    "deaf",
    *(pytest.param(one, marks=NIGHTLY) for one in ("hang", "brood", "bare", "stray")),
)


def _gone(processes: list[int]) -> bool:
    return all(wait_for_end(one, PATIENCE_SECONDS) for one in processes)


@pytest.mark.requirement("P5", "X3", "X6")
@pytest.mark.parametrize("deed", STAYING)
def test_kill_9_leaves_no_process_and_repeats_no_finished_batch(
    theatre: Theatre, deed: str
) -> None:
    theatre.play(price=[deed])
    with theatre.start() as run:
        clients = theatre.here()
        supervisors = list(children_of(run.pid))
        run.kill()
        run.communicate(timeout=PATIENCE_SECONDS)
    found = theatre.answer()  # at once: it waits for what is left of the last
    assert found["state"] == "done"
    assert theatre.tasks == ["cart", "price", "price", "docs"]
    assert "A session before you began this same work" in theatre.log[2]["prompt"]
    assert "make price" in theatre.log[2]["prompt"].partition("<holdfast-brief ")[2]
    assert _gone([*clients, *supervisors])
    assert not list(theatre.folder.glob("*.end"))


@pytest.mark.requirement("P5", "X6")
def test_a_session_that_had_given_its_result_is_not_repeated(theatre: Theatre) -> None:
    theatre.play(price=["linger"])
    with theatre.start() as run:
        clients = theatre.here()
        run.kill()
        run.communicate(timeout=PATIENCE_SECONDS)
    found = theatre.run()
    assert "had ended well" in found.stderr
    assert theatre.tasks == ["cart", "price", "docs"]
    assert _gone(clients)
    assert len(theatre.records("checkpoint")) == 3


@pytest.mark.requirement("P5", "X6")
def test_a_result_is_noted_though_the_folder_can_no_longer_be_written(theatre: Theatre) -> None:
    theatre.play(price=["linger"])
    with theatre.start() as run:
        clients = theatre.here()
        supervisors = list(children_of(run.pid))
        note = theatre.folder / f"{theatre.records('started')[-1]['session']}.end"
        aside = note.rename(note.with_suffix(".aside"))  # whoever opens the note now finds none
        run.kill()
        run.communicate(timeout=PATIENCE_SECONDS)
    assert _gone([*clients, *supervisors])
    aside.rename(note)
    assert "had ended well" in theatre.run().stderr
    assert theatre.tasks == ["cart", "price", "docs"]


@pytest.mark.requirement("P5", "X3")
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGINT,
        pytest.param(signal.SIGTERM, marks=NIGHTLY),
        pytest.param(signal.SIGHUP, marks=NIGHTLY),
    ],
)
def test_a_signal_ends_the_clients_first_and_keeps_what_is_done(
    theatre: Theatre, number: signal.Signals
) -> None:
    theatre.play(price=["brood"])
    with theatre.start() as run:
        clients = theatre.here()
        run.send_signal(number)
        out, errors = run.communicate(timeout=PATIENCE_SECONDS)
    assert all(wait_for_end(one, 0) for one in clients), "they end before it does"
    assert run.returncode == 128 + number
    assert b"interrupted: 1 of 3 tasks done, 2 sessions of Claude in this run" in out
    assert b"run the same command" in errors
    assert [one["result"] for one in theatre.records("ended")] == ["done", "stopped"]
    theatre.run()
    assert theatre.tasks == ["cart", "price", "price", "docs"]
    told = theatre.log[2]["prompt"]
    assert "A session before you began this same work" in told
    assert "error" not in told.partition("Do this task")[0]  # it was us who ended it


@pytest.mark.requirement("P5", "X3")
@pytest.mark.parametrize("deed", ["deaf", pytest.param("brood", marks=NIGHTLY)])
def test_a_supervisor_that_is_killed_takes_its_client_along(theatre: Theatre, deed: str) -> None:
    theatre.play(cart=[deed])
    with theatre.start("--json") as run:
        clients = theatre.here()
        for one in children_of(run.pid):
            os.kill(one, signal.SIGKILL)
        run.communicate(timeout=PATIENCE_SECONDS)
    assert _gone(clients)
    assert run.returncode == 0
    assert "it is not known how it ended" in theatre.records("ended")[0]["error"]


@pytest.mark.requirement("P5", "X3", "X6")
def test_what_a_run_and_its_supervisor_left_when_both_were_killed_ends_with_the_next_run(
    theatre: Theatre,
) -> None:
    theatre.play(cart=["deaf"])
    with theatre.start() as run:
        clients = theatre.here()
        for process in (run.pid, *children_of(run.pid)):
            os.kill(process, signal.SIGKILL)
        run.communicate(timeout=PATIENCE_SECONDS)
    assert not any(wait_for_end(one, 0) for one in clients)
    assert theatre.answer()["state"] == "done"
    assert _gone(clients)
    assert theatre.tasks == ["cart", "cart", "price", "docs"]


@pytest.mark.requirement("P5")
def test_a_run_that_is_to_ignore_the_end_of_its_terminal_goes_on(theatre: Theatre) -> None:
    theatre.play(cart=["meet"])
    with theatre.start(shell='trap "" HUP; exec "$@"') as run:
        theatre.here()
        run.send_signal(signal.SIGHUP)
        theatre.let_go()
        run.communicate(timeout=PATIENCE_SECONDS)
    assert run.returncode == 0
    assert theatre.tasks == ["cart", "price", "docs"]


@pytest.mark.requirement("P5")
def test_one_plan_has_one_conductor(theatre: Theatre) -> None:
    theatre.play(cart=["meet"])
    with theatre.start() as run:
        theatre.here()
        second = theatre.run()
        theatre.let_go()
        run.communicate(timeout=PATIENCE_SECONDS)
    assert second.exception is not None
    assert "another process runs this plan already" in str(second.exception)
    assert theatre.tasks == ["cart", "price", "docs"]


@pytest.mark.requirement("P5", "X6")
def test_work_that_cannot_be_noted_is_not_begun(theatre: Theatre) -> None:
    """The limit on file sizes is a disk that fills up."""
    words = ["prlimit", "--fsize=600", sys.executable, "-m", "holdfast.cli", *theatre.words()]
    found = subprocess.run(words, capture_output=True, timeout=PATIENCE_SECONDS, check=False)
    assert found.returncode == 4, found.stderr
    assert b"free disk space" in found.stderr
    assert not theatre.log
    assert theatre.run().exit_code == 0
    assert theatre.tasks == ["cart", "price", "docs"]
