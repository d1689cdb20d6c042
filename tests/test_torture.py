"""`make torture`, in small; and that its checks notice a broken promise."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import sqlalchemy as sa
from torture import injection, listener, package, promises
from torture.board import Board, BrokenPromise
from torture.commands import HOOK, Command, Forks, cli
from torture.injection import Point
from torture.listener import EventListener
from torture.place import Place, fingerprint, full_disk
from torture.plans import Plans
from torture.processes import ALONE, KILLED, Ended, Runner, Start
from torture.server import Answered, Server

from holdfast.checkpoint.write import keep
from holdfast.hub import ids, row_times
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import events
from holdfast.run import journal as run_journal
from holdfast.run.journal import Journal, Started, TaskShare
from tests.checkpoint.documents import a_document

pytestmark = pytest.mark.nightly
ROOT = Path(__file__).parents[1]
COMMAND = [sys.executable, "-m", "torture", "--rounds", "4", "--places", "1"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    found = Place(tmp_path, f"sqlite:///{tmp_path / 'holdfast.db'}")
    for folder in (found.holdfast, *found.projects, found.transcripts):
        folder.mkdir(parents=True)
    monkeypatch.setenv("HOLDFAST_HOME", str(found.holdfast))
    return found


@pytest.mark.timeout(400)
@pytest.mark.requirement("X1", "X3", "X4", "X6")
def test_no_promise_breaks_in_a_few_rounds_on_both_engines() -> None:
    ran = subprocess.run(
        [*COMMAND, "--seed", "7"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "seed 7" in ran.stdout
    [found] = re.findall(r"\| random faults, in all \| (\d+) \| (\d+) \|", ran.stdout)
    assert all(int(faults) > 0 for faults in found)


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        (Ended(2, "", "", ALONE), "ended with 2"),
        (Ended(0, "no json", "", ALONE), "not JSON"),
        (Ended(0, "", "ghp_0123456789012345678901", ALONE), "a secret"),
    ],
)
def test_a_hook_that_breaks_a_session_is_noticed(ended: Ended, words: str) -> None:
    with pytest.raises(BrokenPromise, match=words):
        promises.hook("PostToolUse", ended, ["ghp_0123456789012345678901"])


def test_a_message_that_is_gone_is_noticed_unless_its_clock_was_days_behind(place: Place) -> None:
    board, store = Board(place, Random(1)), Store.open(place.database)
    now_ms, day_ms = row_times.now_ms(), 86_400_000
    board.sent(board.word("s1"), ids.in_order(now_ms - 3 * day_ms))
    board.check(store)
    board.sent(board.word("s1"), ids.in_order(now_ms - day_ms))
    with pytest.raises(BrokenPromise, match="parcel00002 is there 0 times"):
        board.check(store)
    store.close()


def test_a_checkpoint_that_is_gone_or_damaged_is_noticed(place: Place) -> None:
    kept = keep(a_document(place.projects[0], "the state"))
    assert promises.checkpoints(place, {kept.path}) == 1
    Path(kept.path).write_text("something else")
    with pytest.raises(BrokenPromise, match="does not verify"):
        promises.checkpoints(place, set())
    Path(kept.path).unlink()
    with pytest.raises(BrokenPromise, match="reported and gone"):
        promises.checkpoints(place, {kept.path})


def test_a_file_written_outside_our_folders_is_noticed(place: Place) -> None:
    before = fingerprint(place)
    (place.holdfast / "ours").write_text("")
    promises.nothing_outside(place, before)
    (place.home / ".bashrc").write_text("")
    with pytest.raises(BrokenPromise, match="bashrc"):
        promises.nothing_outside(place, before)


def test_work_that_was_given_to_two_agents_is_noticed(place: Place) -> None:
    board = Board(place, Random(1))
    with pytest.raises(BrokenPromise, match="given to two"):
        board.judge_race("w", set(), {"a": Answered(201, {}), "b": Answered(201, {})})


def test_the_disk_of_the_machine_is_never_filled(place: Place) -> None:
    place.owned.mkdir(exist_ok=True)
    with pytest.raises(RuntimeError, match="disk of the machine"), full_disk(place, 1 << 60):
        pass


def test_a_process_that_is_left_is_noticed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promises, "END_SECONDS", 0.0)
    code = "import sys; print('here', flush=True); sys.stdin.read()"
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=pipe, stdout=pipe, env={**os.environ, **place.environ}
    ) as left:
        assert left.stdout is not None and left.stdout.readline() == b"here\n"
        with pytest.raises(BrokenPromise, match="processes are left"):
            promises.no_process_left(place)
        left.kill()


@pytest.mark.requirement("X6")
def test_a_process_dies_at_the_call_that_was_chosen_and_not_before(place: Place) -> None:
    if not injection.strace():
        pytest.skip("NO STRACE: faults at single system calls are not tested")
    target = place.root / "written"
    code = f"import os; fd = os.open({str(target)!r}, os.O_WRONLY | os.O_CREAT); "
    code += "[os.write(fd, b'x') for _ in range(3)]"
    command = [sys.executable, "-I", "-S", "-c", code]
    account = place.root / "calls"
    subprocess.run([*injection.counting(account, ("write",)), *command], check=True)
    assert injection.points(account.read_text()) == [Point("write", n) for n in (1, 2, 3)]
    target.unlink()
    words = injection.injecting(account, Point("write", 3), injection.KILL)
    ended = subprocess.run([*words, *command], check=False)
    assert Ended(ended.returncode, "", "", KILLED).was_killed
    assert target.read_text() == "xx"


@pytest.fixture
def runner(place: Place) -> Iterator[Runner]:
    (place.root / "tmp").mkdir()
    forks = Forks(place.root, place.environ)
    yield Runner(place, Random(1), forks=forks)
    forks.end()


@pytest.fixture
def plans(runner: Runner) -> Plans:
    (runner.place.projects[0] / "src").mkdir()
    return Plans(runner.place, runner, Random(1))


def _record(plans: Plans, session: str) -> None:
    """A journal that reports the first task as done."""
    journal = Journal(plans.plan.folder)
    Path(plans.plan.folder).mkdir(parents=True, exist_ok=True)
    journal.add(Started(session, "b", tasks=(TaskShare(plans.plan.tasks[0]),)))
    journal.add(run_journal.Ended(session, "done", exit=0))


def _note(plans: Plans, *lines: str) -> None:
    with (plans.place.work / "log").open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


@pytest.mark.requirement("P5", "X6")
def test_a_plan_is_run_to_its_end_and_the_next_one_begins(plans: Plans) -> None:
    plans.finish()
    assert (plans.finished, plans.tasks) == (1, len(plans.really_done()))


def test_a_task_that_is_recorded_as_done_and_was_not_is_noticed(plans: Plans) -> None:
    _record(plans, "s1")
    with pytest.raises(BrokenPromise, match="recorded as done, and not done"):
        plans.check(set(), [], sees_ends=True)
    _note(plans, f"begun s1 {plans.plan.tasks[0]}", f"done s1 {plans.plan.tasks[0]}")
    plans.check(set(), [], sees_ends=True)


def test_a_task_that_is_done_twice_or_by_nobody_known_is_noticed(plans: Plans) -> None:
    task = plans.plan.tasks[0]
    _record(plans, "s1")
    _note(plans, f"begun s1 {task}", f"done s1 {task}", "ended s1 -")
    plans.check(set(), [], sees_ends=True)
    with pytest.raises(BrokenPromise, match="begun again"):
        plans.check({task}, [], sees_ends=True)
    _note(plans, f"begun s2 {plans.plan.tasks[1]}")
    with pytest.raises(BrokenPromise, match="not in the journal"):
        plans.check(set(), [], sees_ends=True)


@pytest.mark.requirement("X6")
def test_a_forked_command_ends_and_prints_as_its_command_line_does(runner: Runner) -> None:
    for command in (cli("version"), cli("verify", "nowhere.md"), Command(HOOK)):
        start = Start(command, "{}", runner.place.projects[0], is_forked=True)
        forked = runner.start(start)
        assert forked == runner.start(replace(start, is_forked=False)), command


def _heard(place: Place, *numbers: int) -> EventListener:
    return EventListener(Server(place), seen=list(numbers))


def test_an_event_that_arrives_twice_or_never_is_noticed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "ARRIVE_SECONDS", 0.0)
    store = Store.open(place.database)
    row = {"id": 7, "kind": "message.posted", "at_ms": 1, "body": {}}
    store.write(lambda c: c.execute(sa.insert(events), row))
    _heard(place, 6, 7).check(store)
    with pytest.raises(BrokenPromise, match="1 of 3 events arrived twice"):
        _heard(place, 6, 7, 7).check(store)
    with pytest.raises(BrokenPromise, match="1 of 1 events never arrived"):
        _heard(place, 6).check(store)
    store.close()


@pytest.mark.requirement("X1")
def test_hooks_whose_package_is_replaced_meanwhile_end_with_0(place: Place) -> None:
    (place.root / "tmp").mkdir()
    runner, folder = Runner(place, Random(1)), place.projects[0]
    with package.replaced(place.root / "lib", Random(1)) as path:
        command = Command(HOOK, package=path)
        ended = [runner.run("hook", command, "{}", fault=ALONE, cwd=folder) for _ in range(6)]
    assert [one.code for one in ended] == [0] * 6
    assert [one.out for one in ended] == [""] * 6
