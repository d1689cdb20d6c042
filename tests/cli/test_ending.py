"""A signal that ends a command is heard by whoever waits for it, and by nobody after. One that
comes before anybody waits ends the command quietly."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.cli.start import until_signalled


@pytest.mark.requirement("U3", "X3")
def test_a_signal_is_heard_before_a_wait_and_during_one_and_stays_heard() -> None:
    def ours(*_: object) -> None: ...

    before = signal.signal(signal.SIGUSR1, ours)
    try:
        with until_signalled(signal.SIGUSR1) as told:
            assert not told.is_set()
            os.kill(os.getpid(), signal.SIGUSR1)
            assert told.wait(60) and told.is_set()
        assert signal.getsignal(signal.SIGUSR1) is ours
    finally:
        signal.signal(signal.SIGUSR1, before)


WHILE_A_MODEL_WORKS = """
import threading
from holdfast.memory import embedders
from holdfast.memory.onnx import minilm

model, is_working = minilm(), threading.Event()

def work():
    while True:
        model.embed(["high water"])
        is_working.set()

threading.Thread(target=work, name=embedders.THREAD, daemon=True).start()
is_working.wait()
from holdfast.cli.start import main
main()
"""


@pytest.mark.slow  # it loads the model
@pytest.mark.requirement("M2", "U3")
@pytest.mark.parametrize(("words", "code"), [("log", 0), ("search", 2)])
def test_a_command_ends_with_its_own_code_while_a_model_is_at_work(words: str, code: int) -> None:
    script = [sys.executable, "-c", WHILE_A_MODEL_WORKS, words]
    ended = subprocess.run(script, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, "terminate called" in ended.stderr) == (code, False)


@pytest.mark.slow
@pytest.mark.requirement("U3", "X3")
def test_ctrl_c_while_a_command_is_imported_prints_no_traceback(tmp_path: Path) -> None:
    """A `click` of our own sends the signal when it is imported. A shell may have started the tests
    in the background, where the signal is ignored."""
    code = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
        "time.sleep(60)\n"
    )
    (tmp_path / "click.py").write_text(code, encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "holdfast.cli", "version"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


@pytest.mark.slow  # each is a process
@pytest.mark.requirement("U3")
@pytest.mark.parametrize(
    "words", [("settings",), ("help", "api"), ("--help",), ("replay", "--demo"), ("log",)]
)
def test_a_reader_that_leaves_early_is_no_error(words: tuple[str, ...]) -> None:
    """As in `holdfast … | head -1`."""
    reading_end, writing_end = os.pipe()
    os.close(reading_end)
    line = [sys.executable, "-m", "holdfast.cli", *words]
    ended = subprocess.run(line, stdout=writing_end, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing_end)
    quiet = "" if words != ("log",) else ended.stderr  # it says there that the log is empty
    assert (ended.returncode, ended.stderr) == (0, quiet)
