"""`holdfast run` through its public door, with a small client that is a real process."""

import json
from pathlib import Path

import pytest

from holdfast.checkpoint.verify import verify
from holdfast.run.claude_process import NoClient
from holdfast.run.runner import RunStopped
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError
from tests.run.theatre import ALONE, TWO, Theatre

IN_ORDER = ["cart", "price", "docs"]


@pytest.mark.slow
@pytest.mark.requirement("P5", "U3")
def test_batches_run_in_order_each_from_the_brief_of_the_one_before(theatre: Theatre) -> None:
    found = theatre.answer()
    assert (found["state"], found["left"]) == ("done", [])
    assert theatre.tasks == IN_ORDER
    first, second, third = (one["prompt"] for one in theatre.log)
    assert "holdfast-brief" not in first
    assert "make cart" in second.partition("<holdfast-brief ")[2]
    assert "make price" in third.partition("<holdfast-brief ")[2]
    assert third.count("<holdfast-brief ") == third.count("</holdfast-brief>") == 1


@pytest.mark.slow
@pytest.mark.requirement("P5", "C4", "C5")
def test_a_verified_checkpoint_with_the_plan_in_it_stands_after_each(theatre: Theatre) -> None:
    theatre.plan.write_text(TWO)
    found = theatre.answer()
    paths = [one["checkpoint"] for one in found["sessions"]]
    documents = [verify(path).document for path in paths]
    assert all(verify(path).ok for path in paths)
    assert [one and one.trigger for one in documents] == ["batch"] * 2
    assert documents[0] and list(documents[0].sections["Plan"]) == ["done: cart", "left: price"]
    ids = [one["session_id"] for one in found["sessions"]]
    assert all(places.is_closed(places.window(one)) for one in ids), "its client has no hooks"


@pytest.mark.slow
@pytest.mark.requirement("P5")
def test_said_again_nothing_is_done_again(theatre: Theatre) -> None:
    theatre.plan.write_text(TWO)
    theatre.run()
    found = theatre.answer()
    assert (found["state"], found["done_before"]) == ("nothing", 2)
    assert theatre.tasks == IN_ORDER[:2]
    assert "nothing left to do: 2 tasks done" in theatre.run().stdout


PRICE_FIRST = TWO.replace("Price", "Docs").replace("Cart", "Price")


@pytest.mark.slow
@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    ("deed", "words"),
    [
        ("exit", "exit 3: the disk is on fire"),
        (
            "report:price=failed=no compiler here",
            "it reports as not done: price (price: no compiler here)",
        ),
    ],
)
def test_a_batch_that_fails_is_tried_once_more_with_the_error(
    theatre: Theatre, deed: str, words: str
) -> None:
    theatre.plan.write_text(PRICE_FIRST)
    theatre.play(price=[deed])
    assert theatre.answer()["state"] == "done"
    assert theatre.tasks == ["price", "price", "docs"]
    again = theatre.log[1]["prompt"]
    assert words in again
    assert "A session before you began this same work" in again
    assert "make price" in again.partition("<holdfast-brief ")[2]


WRITES = "- [ ] Cart\n  - files: cart.md\n  - size: 80k\n- [ ] Price\n  - size: 80k\n"


@pytest.mark.requirement("P5")
def test_a_file_that_is_not_there_is_a_warning_and_repeats_nothing(theatre: Theatre) -> None:
    theatre.plan.write_text(WRITES)
    theatre.play(cart=["idle"])
    run = theatre.run()
    assert theatre.tasks == ["cart", "price"]
    assert "note: not there, though reported as done: cart.md; it goes on" in run.stderr
    assert "done: 2 of 2 tasks done, 2 sessions of Claude in this run" in run.stdout
    assert "not there, though reported as done: cart.md" in run.stdout
    told = "Not there, though tasks that name them were reported as done: cart.md."
    assert told in theatre.log[1]["prompt"] and told not in theatre.log[0]["prompt"]


@pytest.mark.requirement("P5")
def test_a_session_that_ends_well_without_a_report_is_not_repeated(theatre: Theatre) -> None:
    theatre.plan.write_text(TWO)
    theatre.play(cart=["say:I could not find the cart."])
    run = theatre.run()
    assert theatre.tasks == ["cart", "price"]
    note = "gave no report, so its tasks count as done; its last words: I could not find the cart."
    assert note in run.stderr
    assert "> It reported: I could not find the cart." in theatre.log[1]["prompt"]


THREE = "- [ ] One\n  - files: a\n- [ ] Two\n  - files: b\n- [ ] Three\n  - files: c\n"


@pytest.mark.slow
@pytest.mark.requirement("P5")
def test_what_a_session_did_stays_done_though_it_names_another_task_as_not_done(
    theatre: Theatre,
) -> None:
    theatre.plan.write_text(THREE)
    theatre.play(one=["report:two=failed=no compiler"], two=["report:two=failed=none yet"])
    stopped = theatre.answer()
    assert (stopped["state"], stopped["left"]) == ("failed", ["two"])
    assert theatre.tasks == ["one", "two"]
    again = theatre.log[1]["prompt"]
    assert "## Task 2: Two" in again and "One  [" not in again
    assert again.count("<holdfast-brief ") == 1, "the first session's, once"
    assert bool(stopped["sessions"][0]["checkpoint"]), "what it did is saved"
    assert theatre.answer()["state"] == "done"
    assert theatre.tasks == ["one", "two", "two"]


@pytest.mark.slow
@pytest.mark.requirement("P5")
def test_a_task_that_waits_for_a_person_stops_the_run_until_the_plan_says_it_is_settled(
    theatre: Theatre,
) -> None:
    theatre.plan.write_text(THREE)
    theatre.play(one=["report:two=waiting=Lena: approve it;three=left-out="])
    stopped = theatre.run()
    assert isinstance(stopped.exception, RunStopped)
    assert stopped.exception.state == "waiting"
    assert "batch 1 waits: Lena: approve it" in str(stopped.exception)
    assert theatre.tasks == ["one"], "no second session is tried"
    theatre.plan.write_text(THREE.replace("- [ ] Two", "- [x] Two\n  Lena: yes, in blue."))
    assert theatre.answer()["state"] == "done"
    assert theatre.tasks == ["one", "three"], "what stands behind it was not done either"
    assert "> Lena: yes, in blue." in theatre.log[1]["prompt"]


@pytest.mark.slow
@pytest.mark.requirement("P5")
def test_a_batch_that_fails_twice_stops_the_run_and_the_next_goes_on_there(
    theatre: Theatre,
) -> None:
    theatre.plan.write_text(TWO)
    theatre.play(price=["exit", "error"])
    stopped = theatre.run()
    assert isinstance(stopped.exception, RunStopped)
    assert (stopped.exception.state, stopped.exception.exit_code) == ("failed", 1)
    assert "batch 2 failed, also when tried again: exit 1" in str(stopped.exception)
    assert "failed: 1 of 2 tasks done, 3 sessions of Claude in this run" in stopped.stdout
    assert theatre.answer()["left"] == []
    assert theatre.tasks == ["cart", "price", "price", "price"]


@pytest.mark.requirement("P5", "X7")
@pytest.mark.parametrize(
    "words", [("--json-schema", "{}"), ("--session-id=x",), ("--resume",), ("-c",)]
)
def test_words_that_contradict_ours_are_refused_before_anything_starts(
    theatre: Theatre, words: tuple[str, ...]
) -> None:
    found = theatre.run("--", *words)
    assert isinstance(found.exception, HoldfastError)
    assert found.exception.exit_code == 2
    assert not theatre.log


@pytest.mark.slow
@pytest.mark.requirement("P5", "X4")
def test_no_secret_of_an_error_is_noted_or_said(theatre: Theatre) -> None:
    theatre.play(cart=["exit", "exit"])
    found = theatre.run()
    written = theatre.journal.read_text()
    assert "on fire" in written
    assert "ghp_a1B2" not in written + found.output + theatre.log[1]["prompt"]


@pytest.mark.slow
@pytest.mark.requirement("P5")
def test_a_session_that_takes_too_long_is_ended_and_tried_again(theatre: Theatre) -> None:
    theatre.play(cart=["deaf"])
    found = theatre.answer("--timeout", "0.05")
    assert [one["result"] for one in found["sessions"]][:2] == ["failed", "done"]
    assert "longer than --timeout" in found["sessions"][0]["error"]


@pytest.mark.slow
@pytest.mark.requirement("P5", "G7", "X3")
def test_the_client_gets_our_words_and_environment_and_works_in_the_project(
    theatre: Theatre, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_OWN", "mine")
    theatre.plan.write_text(ALONE)
    theatre.run("--model", "opus", "--", "--permission-mode", "acceptEdits", "--add-dir", "x")
    seen = theatre.log[0]
    assert seen["environ"] == {
        "HOLDFAST_CONDUCTED": seen["session"],
        "HOLDFAST_STOP_GUARD": "on",
        "FAKE_OWN": "mine",
    }
    assert seen["cwd"] == str(theatre.project)
    words = " ".join(seen["words"])
    assert words.startswith("-p --output-format stream-json --verbose --session-id ")
    assert "--json-schema" in words
    assert words.endswith("--model opus --permission-mode acceptEdits --add-dir x")
    assert "mine" not in theatre.journal.read_text()


@pytest.mark.requirement("X3", "P5")
def test_a_claude_we_started_may_not_start_another(
    theatre: Theatre, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_CONDUCTED", "1")
    found = theatre.run()
    assert isinstance(found.exception, HoldfastError)
    assert "started by `holdfast run`" in str(found.exception)
    assert not theatre.log


@pytest.mark.requirement("P5")
def test_a_dry_run_shows_everything_and_touches_nothing(theatre: Theatre) -> None:
    found = theatre.run("--dry-run", "--", "--add-dir", "x")
    assert "batch 2 of 3: about 80,000 tokens" in found.stdout
    assert "--session-id SESSION --json-schema SCHEMA --add-dir x" in found.stdout
    assert found.stdout.count("--session-id") == found.stdout.count('## What "done" means') == 1
    assert "> ## Task 1: Cart" in found.stdout
    assert all(f"  - {name}\n" in found.stdout for name in ("Cart", "Price", "Docs"))
    listed = json.loads(theatre.run("--dry-run", "--json").stdout)
    assert [one["tasks"] for one in listed] == [["cart"], ["price"], ["docs"]]
    assert not theatre.log
    assert not theatre.folder.exists()


@pytest.mark.slow  # the whole command, and its clients
@pytest.mark.requirement("P5")
def test_tasks_that_may_run_beside_each_other_do_so_up_to_the_limit(theatre: Theatre) -> None:
    theatre.plan.write_text(
        "- [ ] [P] One\n  - files: a\n- [ ] [P] Two\n  - files: b\n- [ ] [P] Three\n  - files: c\n"
    )
    theatre.play(one=["meet"], two=["meet"], three=["meet"])
    with theatre.start("--json", "--max-parallel", "2") as run:
        assert theatre.here() != theatre.here()  # two are here before any may go
        assert len(theatre.log) == 2
        assert all("Other sessions work on other tasks" in one["prompt"] for one in theatre.log)
        theatre.let_go()
        theatre.here()
        theatre.let_go()
        theatre.let_go()
        _, errors = run.communicate(timeout=60)
    assert run.returncode == 0, errors
    assert sorted(theatre.tasks) == ["one", "three", "two"]


@pytest.mark.requirement("P5")
def test_a_client_that_is_not_there_is_named_and_nothing_starts(theatre: Theatre) -> None:
    theatre.client.chmod(0o600)
    found = theatre.run()
    assert isinstance(found.exception, NoClient)
    assert found.exception.exit_code == 5
    assert not theatre.folder.exists()


@pytest.mark.slow
@pytest.mark.requirement("P5", "X4")
def test_no_secret_of_a_plan_is_noted_or_shown(theatre: Theatre) -> None:
    secret = "ghp_" + "a1b2c3d4e5" * 3 + "a1b2c3"
    theatre.plan.write_text(f"- [ ] Use {secret}\n")
    shown = theatre.run("--dry-run").output + theatre.run().output
    assert secret in theatre.log[0]["prompt"]
    assert "a1b2" not in shown + theatre.journal.read_text()


@pytest.mark.slow
@pytest.mark.requirement("P5", "X4")
def test_what_a_run_leaves_is_the_owners_alone(theatre: Theatre) -> None:
    theatre.plan.write_text(ALONE)
    theatre.run()
    left = [theatre.folder, *theatre.folder.iterdir()]
    assert {one.name for one in left[1:]} == {"conductor", "journal.jsonl", "lock"}
    assert all(Path(one).stat().st_mode & 0o077 == 0 for one in left)
