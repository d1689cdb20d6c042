"""The real client starts our server, calls its tools, and takes it with it when it goes."""

import os
import re
import signal
from pathlib import Path

import pytest

from holdfast.setup.wiring import SERVER_ENTRY
from tests.mcp.clients import ended
from tests.trial.cycle import MODEL
from tests.trial.namespace import confine
from tests.trial.run import notes_folder, trial_environment
from tests.trial.script import Acts, ReceivedRequest, ScriptedAnswer, Step, bash, usage_of
from tests.trial.scripted_api import ScriptedApi

from .installed import Waiting, ask_through, call, install, results
from .stage import LOUD, Stage

pytestmark = pytest.mark.real_client

USAGE = (30_000, 70_000, 110_000, 150_000, 169_000)
FACT = "The keeper of the lighthouse goes by the name of quahog-77."


def _round(used: int) -> ScriptedAnswer:
    return ScriptedAnswer(f"At {used}.", (bash(f"sleep 0.15; echo {used}"),), usage_of(used))


def _noted(number: int) -> ScriptedAnswer:
    """A remark, as long as a brief takes them: many push older ones out."""
    words = f"Gauge {number} drifts by {number} mm against its neighbour, which is more than the "
    words += f"makers of type {number} allow, so its readings of the last {number + 2} days are "
    words += f"marked as doubtful and will be compared with those of harbour {number} later on."
    return ScriptedAnswer(words, (bash(f"sleep 0.05; echo {number}"),), usage_of(26_000 + number))


@pytest.mark.requirement("U6", "M2", "M6")
def test_a_fact_from_before_two_compactions_is_recalled(binary: Path, stage: Stage) -> None:
    install(stage)
    said = ScriptedAnswer(FACT, (bash("sleep 0.15; echo noted"),), usage_of(25_000))
    after = ScriptedAnswer("?", (call("recall", query="keeper lighthouse name"),), usage_of(15_000))
    full = ScriptedAnswer("How full?", (call("status", task_tokens=90_000),), usage_of(16_000))
    main = [said, *map(_noted, range(20)), *map(_round, USAGE), *map(_round, USAGE), after, full]
    told = usage_of(3_000, output_tokens=200)
    lost = [ScriptedAnswer("<summary>Work went on.</summary>", usage=told) for _ in range(2)]
    trial = ask_through(binary, stage, Acts(main, summary=lost))
    assert trial.exit_code == 0, trial.stderr
    assert len(trial.asked("summary")) == 2
    status, recalled = trial.asked("main")[-1], trial.asked("main")[-2]
    assert "quahog-77" in results(recalled)[-1]
    assert '\\"fits\\":true' in results(status)[-1]
    assert "hook" not in trial.stderr


@pytest.mark.nightly
@pytest.mark.requirement("R7", "U6")
def test_an_archived_output_is_expanded(binary: Path, stage: Stage) -> None:
    install(stage, archive_chars=8_000)
    long = "seq -f 'row %g of the tide' 1 900"

    def then(request: ReceivedRequest) -> Step:
        seen = results(request)
        found = re.search(r"saved as (out-[0-9a-f]{8})", seen[-1]) if seen else None
        if found:
            return ScriptedAnswer(
                "!", (call("expand", id=found[1], find="row 777"),), usage_of(30_000)
            )
        over = any("777: row 777" in result for result in seen)
        return (
            ScriptedAnswer("Done.")
            if over
            else ScriptedAnswer("?", (bash(long),), usage_of(25_000))
        )

    trial = ask_through(binary, stage, then)
    assert trial.exit_code == 0, trial.stderr
    shown = next(one for one in results(trial.asked("main")[-1]) if "saved as out-" in one)
    assert "row 1 of the tide" in shown
    assert "row 900 of the tide" in shown
    assert "row 777 of" not in shown
    assert "777: row 777 of the tide" in results(trial.asked("main")[-1])[-1]


@pytest.mark.nightly
@pytest.mark.requirement("U6", "X3")
def test_a_killed_client_leaves_no_server_behind(binary: Path, stage: Stage) -> None:
    install(stage)
    servers: list[int] = []

    def then(request: ReceivedRequest) -> Step:
        servers.extend(_servers_of(client.process.pid))
        client.process.send_signal(signal.SIGKILL)
        return ScriptedAnswer("Nobody hears this.")

    command = [str(binary.resolve()), "-p", "Please begin.", "--model", MODEL]
    command += ["--allowedTools", "Bash", "--output-format", "stream-json", "--verbose"]
    with (
        (notes_folder(stage.home) / "out").open("wb") as out,
        confine(
            command,
            folder=stage.project,
            environment=trial_environment(stage.home, LOUD),
            stdout=out,
            stderr=out,
        ) as client,
        ScriptedApi(Waiting(then), listener=client.listener),
    ):
        assert client.ended_within(90)
        assert len(servers) == 1
        assert ended(servers[0])


def _servers_of(client: int) -> list[int]:
    """The servers of ours that this client started."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                words = (folder / "cmdline").read_bytes()
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if SERVER_ENTRY.encode() in words and parent == client:
                found.append(int(folder.name))
    assert os.getpid() not in found
    return found
