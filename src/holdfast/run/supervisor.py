"""The process between the runner and one Claude: if the runner dies, it ends the Claude.

It holds the reading end of a pipe of the runner (the lifeline), which the system closes however the
runner dies. It passes on Claude's lines, notes how Claude ended, and ends what Claude left behind:
processes with the session's id in their environment, and on Linux whatever lost its parent.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psutil

from holdfast.run.report import encode_end, read_end

CONDUCTED = "HOLDFAST_CONDUCTED"
GRACE_SECONDS = 5.0  # after the request to end: Claude's own hooks save meanwhile
LINGER_SECONDS = 5.0  # for what Claude left behind: asynchronous hooks end by themselves
INSIST_SECONDS = 2.0
OUTPUT_SECONDS = 2.0  # for what Claude wrote before its end; others may hold its output open
NOTE_BYTES = 1 << 14  # reserved for a note
ERROR_BYTES = 4096
MAX_LINE = 1 << 20  # the lines that the runner needs are shorter
END = b'{"holdfast_end": '
LINUX = sys.platform == "linux"
_SUBREAPER = 36


class Supervisor:
    def __init__(self, session_id: str, command: list[str]) -> None:
        self._session_id = session_id
        self._result: dict[str, Any] = {}
        self._errors = b""
        self._asked_to_end = self._silent = False
        self._writing = threading.Lock()
        self._claude = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def watch(self, lifeline: int, note: int | None) -> None:
        """Return when Claude and all it started have ended. `note` is the note's descriptor."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: self.end())
        readers = [_start(self._pass_on), _start(self._read_errors)]
        _start(lambda: self._end_with_runner(lifeline))
        code = self._claude.wait()
        for reader in readers:
            reader.join(OUTPUT_SECONDS)
        end = encode_end(read_end(self._result, code, self._errors.decode("utf-8", "replace")))
        if note is not None:
            with suppress(OSError):  # nothing keeps us from ending what is left
                _write_note(note, end)
        end_processes(self._find_left, INSIST_SECONDS if self._asked_to_end else LINGER_SECONDS)
        with self._writing:
            self._silent = True
            _write(b"\n%b%b}\n" % (END, end))

    def end(self) -> None:
        """Ask Claude to end, unless it has given its result and so ends by itself."""
        if self._asked_to_end:
            return
        self._asked_to_end = True
        if not self._result:
            self._claude.terminate()
        timer = threading.Timer(GRACE_SECONDS, self._claude.kill)
        timer.daemon = True
        timer.start()

    def _end_with_runner(self, lifeline: int) -> None:
        os.read(lifeline, 1)  # returns when the other end is closed
        self.end()

    def _pass_on(self) -> None:
        assert self._claude.stdout is not None
        for line in self._claude.stdout:
            if b'"result"' in line:
                self._result = _result_in(line) or self._result
            with self._writing:
                if self._silent:
                    return
                if len(line) <= MAX_LINE:
                    _write(line)

    def _read_errors(self) -> None:
        assert self._claude.stderr is not None
        while data := os.read(self._claude.stderr.fileno(), 1 << 16):
            self._errors = (self._errors + data)[-ERROR_BYTES:]

    def _find_left(self) -> set[psutil.Process]:
        return find_processes(self._session_id) | {*psutil.Process().children(recursive=True)}


def _start(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def _result_in(line: bytes) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return event if isinstance(event, dict) and event.get("type") == "result" else {}


def _open_note(path: str) -> int | None:
    """Before Claude begins: its end can be noted even if the folder turns read-only meanwhile."""
    try:
        return os.open(path, os.O_WRONLY | os.O_NOFOLLOW)
    except OSError:
        return None


def _write_note(note: int, end: bytes) -> None:
    """The note has its full size already, so this works on a full disk."""
    os.pwrite(note, end.ljust(NOTE_BYTES), 0)
    os.fsync(note)


def _write(data: bytes) -> None:
    rest = memoryview(data)
    with suppress(OSError):  # nobody listens any more; the note is what counts
        while rest:
            rest = rest[os.write(1, rest) :]


def find_processes(session_id: str) -> set[psutil.Process]:
    return {process for process in psutil.process_iter() if _is_of(process, session_id)} - {
        psutil.Process()
    }


def _is_of(process: psutil.Process, session_id: str) -> bool:
    try:
        return bool(process.environ().get(CONDUCTED) == session_id)
    except (psutil.Error, OSError):  # another user's, or ended meanwhile
        return False


def end_processes(find: Callable[[], set[psutil.Process]], linger_seconds: float = 0) -> None:
    """End processes: first wait, then SIGTERM, then SIGKILL, for what they start meanwhile too."""
    psutil.wait_procs(find(), linger_seconds)
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGKILL):
        processes = find()
        for process in processes:
            with suppress(psutil.Error):
                process.send_signal(number)
        psutil.wait_procs(processes, INSIST_SECONDS)


def end_session(session_id: str) -> None:
    end_processes(lambda: find_processes(session_id))


def main(arguments: list[str]) -> None:
    """Arguments: the lifeline's descriptor, the note's path, the session's id, the command."""
    lifeline, note, session_id, *command = arguments
    opened = _open_note(note)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if it were ignored, we would not see the end
    if LINUX:
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    Supervisor(session_id, command).watch(int(lifeline), opened)


if __name__ == "__main__":
    main(sys.argv[1:])
