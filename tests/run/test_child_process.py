"""Who is a stray: what a killed supervisor left, never one that another thread is just starting."""

from __future__ import annotations

import subprocess
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, cast

import pytest

from holdfast.run import supervisor
from holdfast.run.claude_process import ClaudeProcess
from holdfast.run.journal_state import RunHistory
from holdfast.run.run_context import RunContext, RunOptions

linux = pytest.mark.skipif(not supervisor.LINUX, reason="strays are known by /proc")


@pytest.fixture
def context(tmp_path: Path) -> RunContext:
    options = RunOptions(tmp_path, "claude")
    nobody: Any = None  # neither is started here, nor noted, nor told
    return RunContext(options, str(tmp_path), nobody, RunHistory(), -1, nobody, lambda: 0)


def _started() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "60"], start_new_session=True)


@linux
@pytest.mark.requirement("P5", "X6")
def test_one_that_is_being_started_is_no_stray_however_others_end(context: RunContext) -> None:
    with ThreadPoolExecutor(1) as other:
        looks = list[Future[list[int]]]()

        def make() -> ClaudeProcess:
            made = _started()
            looks.append(other.submit(context.strays))
            wait(looks, timeout=0.2)  # as long as it likes: it has to wait for us
            return cast(ClaudeProcess, made)  # all that is asked of it is its id

        starting = cast("subprocess.Popen[bytes]", context.start(make))
        [look] = looks
        stray = _started()
        try:
            assert starting.pid not in look.result()
            assert stray.pid in context.strays()
        finally:
            for one in (starting, stray):
                one.kill()
                one.wait()
