"""Stands between the conductor and one Claude: when the conductor is gone, so is the Claude.

Started as a plain file with `python -I -S`, one per session. It holds the reading end of a pipe of
the conductor's (the lifeline): the system closes the other end whatever the conductor dies of. It
passes the client's lines on, and notes how the client ended, in a file that has its size already:
so the end can be noted on a full disk, and when nobody listens any more.

On Linux everything the client leaves behind becomes a child of ours and is ended too; elsewhere,
what is left of the client's process group.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
import time

GRACE_SECONDS = 5.0  # for a client asked to end: its own hooks save meanwhile
LINGER_SECONDS = 5.0  # for what a client left behind: asynchronous hooks end by themselves
INSIST_SECONDS = 2.0
NOTE_BYTES = 4096
MOST_LINE = 16 << 20
NOT_DONE = "NOT DONE"
MARKS = " \t#>-*_`•"  # a model may well make a list of it, or set it in bold
NOTHING = ("", "none", "nothing", "n/a")
LINUX = os.uname().sysname == "Linux"
_PDEATHSIG, _SUBREAPER = 1, 36


def main(arguments: list[str]) -> int:
    """Arguments: the lifeline, descriptors the client must not have, the note, the command."""
    lifeline, kept, note = int(arguments[0]), arguments[1], arguments[2]
    for descriptor in (lifeline, *map(int, filter(None, kept.split(",")))):
        os.set_inheritable(descriptor, False)
    system = _system()
    if system is not None:
        system.prctl(_SUBREAPER, 1, 0, 0, 0)
    return _Watch(lifeline, note, *_started(arguments[3:], system)).until_over()


def _system() -> ctypes.CDLL | None:
    return ctypes.CDLL(None) if LINUX else None


def _started(command: list[str], system: ctypes.CDLL | None) -> tuple[int, int]:
    """The client in a group of its own, its stdout ours to read; it dies if we are killed."""
    out, its_out = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid:
        os.close(its_out)
        return pid, out
    try:
        os.setpgid(0, 0)
        if system is not None:
            system.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != parent:  # killed before we could say so
                os._exit(127)
        os.dup2(its_out, 1)
        os.execvp(command[0], command)
    except OSError as slip:
        os.write(2, f"{command[0]}: {slip.strerror}\n".encode())
    os._exit(127)


class _Watch:
    def __init__(self, lifeline: int, note: str, pid: int, out: int) -> None:
        self._lifeline, self._note, self._pid, self._out = lifeline, note, pid, out
        self._line, self._result = b"", dict[str, object]()
        self._out_open, self._asked_to_end = True, False
        self._code: int | None = None
        self._kill_at = float("inf")
        self._woken, wake = os.pipe()
        for descriptor in (self._woken, wake):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._hear)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)

    def until_over(self) -> int:
        while self._code is None:
            self._wait(max(0.0, self._kill_at - time.monotonic()))
            if time.monotonic() >= self._kill_at:
                _signal(-self._pid, signal.SIGKILL)
                self._kill_at = time.monotonic() + INSIST_SECONDS
            self._reap()
        self._drain()
        self._write_note()
        self._end_the_rest()
        return self._code if 0 <= self._code < 128 else 1

    def _hear(self, number: int, frame: object) -> None:
        if number != signal.SIGCHLD:
            self._ask_to_end()

    def _wait(self, seconds: float) -> None:
        watched = [self._woken, *([self._out] if self._out_open else [])]
        watched += [] if self._asked_to_end else [self._lifeline]
        ready = select.select(watched, [], [], min(seconds, 3600.0))[0]
        if self._woken in ready:
            os.read(self._woken, 4096)
        if self._out in ready:
            self._pass_on()
        if self._lifeline in ready and not os.read(self._lifeline, 64):
            self._ask_to_end()

    def _ask_to_end(self) -> None:
        """One that has given its result ends by itself; any other is asked to."""
        if self._asked_to_end:
            return
        self._asked_to_end = True
        self._kill_at = time.monotonic() + GRACE_SECONDS
        if not self._result and self._code is None:
            os.kill(self._pid, signal.SIGTERM)  # ours to reap, so the id is still its own

    def _pass_on(self) -> None:
        data = os.read(self._out, 1 << 16)
        self._out_open = bool(data)
        self._look_for_result(data)
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(1, rest) :]
        except OSError:  # nobody listens any more; the note is what counts
            pass

    def _look_for_result(self, data: bytes) -> None:
        *lines, rest = (self._line + data).split(b"\n")
        self._line = rest if len(rest) <= MOST_LINE else b""
        for line in lines:
            if b'"result"' in line:
                self._result = _result_in(line) or self._result

    def _drain(self) -> None:
        """What the client wrote before its end; others may hold its stdout open, silently."""
        while self._out_open and select.select([self._out], [], [], 0)[0]:
            self._pass_on()
        self._look_for_result(b"\n")

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            if pid == self._pid:
                self._code = os.waitstatus_to_exitcode(status)

    def _write_note(self) -> None:
        data = json.dumps({"exit": self._code, **self._result}).encode()
        fd = os.open(self._note, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        os.pwrite(fd, data[:NOTE_BYTES].ljust(NOTE_BYTES), 0)
        os.fsync(fd)
        os.close(fd)

    def _end_the_rest(self) -> None:
        """Whatever the client left behind gets its time, then is asked, then made to end."""
        linger = INSIST_SECONDS if self._asked_to_end else LINGER_SECONDS
        for number, seconds in ((0, linger), (signal.SIGTERM, INSIST_SECONDS), (signal.SIGKILL, 9)):
            until = time.monotonic() + seconds
            left = self._left()
            while left and time.monotonic() < until:
                for pid in left if number else ():
                    _signal(pid, number)
                select.select([self._woken], [], [], 0.05)
                _emptied(self._woken)
                self._reap()
                left = self._left()

    def _left(self) -> list[int]:
        """Where nobody tells whose children they were: the group, as long as it has anyone."""
        if LINUX:
            return _children()
        return [-self._pid] if _signal(-self._pid, 0) else []


def _result_in(line: bytes) -> dict[str, object]:
    """How the client says it ended; of its words only how much it names as not done."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(event, dict) or event.get("type") != "result":
        return {}
    return {
        "result": str(event.get("subtype", ""))[:80],
        "is_error": bool(event.get("is_error")),
        "not_done": len(not_done(str(event.get("result", "")))),
    }


def not_done(words: str) -> list[str]:
    """What is named so, at the start of a line, by its id, its title or any other words."""
    found = []
    for line in words.splitlines():
        mark, _, rest = line.lstrip(MARKS).partition(NOT_DONE)
        if not mark and rest != line.lstrip(MARKS) and not rest[:1].isalnum():
            name = rest.strip(f"{MARKS}:").partition(":")[0].strip(MARKS)
            found += [name[:120]] if name.rstrip(".").lower() not in NOTHING else []
    return found


def _children() -> list[int]:
    """Processes whose parent we are, or have become."""
    me, found = os.getpid(), []
    for name in os.listdir("/proc"):  # noqa: PTH208 (no pathlib: this is started per session)
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:  # it ended while we looked
                continue
            if int(fields[1]) == me and fields[0] != b"Z":
                found.append(int(name))
    return found


def _signal(pid: int, number: int) -> bool:
    """False where there is nobody (any more); a negative id is a whole group's."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _emptied(fd: int) -> None:
    with contextlib.suppress(BlockingIOError):
        os.read(fd, 4096)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
