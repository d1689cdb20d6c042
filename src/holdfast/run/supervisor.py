"""The process between the runner and one Claude: if the runner dies, it ends the Claude.

It is started as a file with `python -I -S`, one per session. It holds the reading end of a pipe of
the runner (the lifeline): the system closes the other end however the runner dies. It passes on
Claude's lines and the end of its errors.

How Claude ended goes into a file that is already open and has its full size, so that this works on
a full disk, without a reader, and if the file was removed. On Linux everything that Claude leaves
behind becomes our child and is ended too; elsewhere, only what is left of its process group.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import re
import select
import signal
import sys
import termios
import time
from collections.abc import Callable

GRACE_SECONDS = 5.0  # after the request to end: Claude's own hooks save meanwhile
LINGER_SECONDS = 5.0  # for what Claude left behind: asynchronous hooks end by themselves
INSIST_SECONDS = 2.0
NOTE_BYTES = 4096
ERROR_BYTES = 4096
MOST_LINE = 16 << 20
NOT_DONE = "NOT DONE"
# How a reason begins after which no other session is tried.
WAITING, STOPPED = "waiting for", "stopped because"
# How something is called not done, in any layout. "Not done twice" says how often, and "by the
# earlier session" when.
_MENTION = re.compile(
    r"(?:(?:(?<!\w)|(?<=\b_)|(?<=\b__))not[ \t*_-]{1,3}|n['\u2019]t[ \t]+)done(?!_?[^\W_])",
    re.IGNORECASE,
)
_ANOTHER_SENSE = re.compile(
    r"\s+(?:twice|more than once|\w+ times"
    r"|(?:by|in) (?:the|an) (?:earlier|previous|last) session)\b",
    re.IGNORECASE,
)
# `NOT DONE: none` names nothing, where no words stand before it; nor does `no task is not done`.
# `NOT DONE: none of the tests` and `none, except two` name something.
_BEGINS = re.compile(
    r"(?:\n[\W_]*|[,;.(!?/][^\w|]*)(?:\w{1,3}[.)][^\w|]*)?(?:tasks?\W+)?\Z", re.IGNORECASE
)
_NONE_BEHIND = re.compile(
    r"[ \t*_`]*[:|(][ \t*_`]*(?:[-\u2013\u2014]+|0(?:(?: of |/)\d+)?)[ \t*_`|.)]*$"
    r"|[\W_]{0,20}(?:tasks?\W+)?(?:none|nothing|nil|n/a|no(?: \w+)? tasks?)"
    r"(?: (?:left|remaining|open))?(?:[\W_]*$|\s+[^\w\s]|[],;!)|]|\.\s)"
    r"(?![^\n]{0,200}\b(?:except|but)\b)",
    re.IGNORECASE | re.MULTILINE,
)
_NONE_BEFORE = re.compile(
    r"(?<![\w-])(?:nothing|none|0|no(?: \w+)? tasks?)"
    r"(?: (?:of|the|these|tasks?|that|which|is|are|was|were|left|remains?|open))*\s*\Z",
    re.IGNORECASE,
)
MOST_BEFORE = 60  # characters that are looked at before a mention
LINUX = os.uname().sysname == "Linux"
_PDEATHSIG, _SUBREAPER = 1, 36


def main(arguments: list[str]) -> int:
    """Arguments: descriptors (the lifeline, the plan's lock, the note), then the command."""
    lifeline, lock, note = map(int, arguments[:3])
    for descriptor in (lifeline, lock, note):
        os.set_inheritable(descriptor, False)  # Claude must not inherit them
        signal.signal(
            signal.SIGCHLD, signal.SIG_DFL
        )  # if it were ignored, we would not see the end
    system = adopt()
    return _Watch(lifeline, note, *_started(arguments[3:], system)).until_over()


def adopt(on: bool = True) -> ctypes.CDLL | None:
    """Become the parent of processes below us that lose theirs; with `on` false, no longer."""
    if not LINUX:
        return None
    system = ctypes.CDLL(None)
    system.prctl(_SUBREAPER, int(on), 0, 0, 0)
    return system


def _started(command: list[str], system: ctypes.CDLL | None) -> tuple[int, int, int]:
    """Start Claude in a process group of its own, with pipes to us. It dies if we are killed."""
    out, its_out = os.pipe()
    errors, its_errors = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid:
        os.close(its_out)
        os.close(its_errors)
        return pid, out, errors
    try:
        os.setpgid(0, 0)
        if system is not None:
            system.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != parent:  # our parent was killed before this took effect
                os._exit(127)
        os.dup2(its_out, 1)
        os.dup2(its_errors, 2)
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
    os._exit(127)


class Lines:
    """Puts pieces together to complete lines. A line that is far too long becomes empty."""

    def __init__(self, most: int = MOST_LINE) -> None:
        self._most, self._parts, self._size = most, list[bytes](), 0

    def feed(self, data: bytes) -> list[bytes]:
        *ends, rest = data.split(b"\n")
        found = [self._whole(end) for end in ends]
        self._add(rest)
        return found

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        self._parts = [*self._parts, piece] if self._size <= self._most else []

    def _whole(self, end: bytes) -> bytes:
        self._add(end)
        line = b"".join(self._parts)
        self._parts, self._size = [], 0
        return line


class _Watch:
    def __init__(self, lifeline: int, note: int, pid: int, out: int, errors: int) -> None:
        self._lifeline, self._note, self._pid = lifeline, note, pid
        self._errors = errors
        self._open = {out, errors}
        self._lines, self._result, self._last_errors = Lines(), dict[str, object](), b""
        self._asked_to_end = False
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
        self._reap()  # it may have ended before we listened for that
        while self._code is None:
            self._wait(max(0.0, self._kill_at - time.monotonic()))
            if time.monotonic() >= self._kill_at:
                _signal(-self._pid, signal.SIGKILL)
                _signal(self._pid, signal.SIGKILL)  # it may have left its group
                self._kill_at = time.monotonic() + INSIST_SECONDS
            self._reap()
        self._drain()
        with contextlib.suppress(OSError):  # nothing keeps us from ending what is left
            self._write_note()
        linger = INSIST_SECONDS if self._asked_to_end else LINGER_SECONDS
        end_all(self._left, linger, self._pause)
        with contextlib.suppress(OSError):
            os.write(2, self._last_errors)
        return self._code if 0 <= self._code < 128 else 1

    def _hear(self, number: int, frame: object) -> None:
        if number != signal.SIGCHLD:
            self._ask_to_end()

    def _wait(self, seconds: float) -> None:
        watched = [self._woken, *self._open, *([] if self._asked_to_end else [self._lifeline])]
        ready = select.select(watched, [], [], min(seconds, 3600.0))[0]
        if self._woken in ready:
            os.read(self._woken, 4096)
        for source in self._open.intersection(ready):
            self._take(source)
        if self._lifeline in ready and not os.read(self._lifeline, 64):
            self._ask_to_end()

    def _ask_to_end(self) -> None:
        """Ask Claude to end, unless it has given its result and so ends by itself."""
        if self._asked_to_end:
            return
        self._asked_to_end = True
        self._kill_at = time.monotonic() + GRACE_SECONDS
        if not self._result and self._code is None:
            os.kill(self._pid, signal.SIGTERM)  # ours to reap, so the id is still its own

    def _take(self, source: int, most: int = 1 << 16) -> int:
        """Read what is there; returns how much it was."""
        data = os.read(source, most)
        if not data:
            self._open.discard(source)
        elif source == self._errors:
            self._last_errors = (self._last_errors + data)[-ERROR_BYTES:]
        else:
            self._look_for_result(data)
            self._pass_on(data)
        return len(data)

    def _pass_on(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(1, rest) :]
        except OSError:  # nobody listens any more; the note is what counts
            pass

    def _look_for_result(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            if b'"result"' in line:
                self._result = _result_in(line) or self._result

    def _drain(self) -> None:
        """Read what Claude wrote before its end, and no more: other processes may hold its stdout
        open and write without end."""
        for source in tuple(self._open):
            left = _waiting_bytes(source)
            while left > 0 and source in self._open:
                left -= self._take(source, min(left, 1 << 16))
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
        os.pwrite(self._note, data.ljust(NOTE_BYTES), 0)
        os.fsync(self._note)

    def _pause(self) -> None:
        select.select([self._woken], [], [], 0.05)
        with contextlib.suppress(BlockingIOError):
            os.read(self._woken, 4096)
        self._reap()

    def _left(self) -> list[int]:
        """Return what is left on other systems: the group, while it has processes."""
        if LINUX:
            return [pid for pid, _ in children()]
        return [-self._pid] if _signal(-self._pid, 0) else []


def end_all(left: Callable[[], list[int]], linger: float, pause: Callable[[], None]) -> None:
    """End what is left: first wait, then SIGTERM, then SIGKILL."""
    for number, seconds in ((0, linger), (signal.SIGTERM, INSIST_SECONDS), (signal.SIGKILL, 9)):
        until = time.monotonic() + seconds
        found = left()
        while found and time.monotonic() < until:
            for pid in found if number else ():
                _signal(pid, number)
            pause()
            found = left()


def _waiting_bytes(source: int) -> int:
    """How many bytes are in a pipe now."""
    return int.from_bytes(fcntl.ioctl(source, termios.FIONREAD, b"\0" * 4), sys.byteorder)


def _result_in(line: bytes) -> dict[str, object]:
    """How Claude reports its end; of its text only how often it calls something not done."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(event, dict) or event.get("type") != "result":
        return {}
    return {
        "result": str(event.get("subtype", ""))[:80],
        "is_error": bool(event.get("is_error")),
        "not_done": len(find_claims(str(event.get("result", "")))),
    }


def find_claims(words: str) -> list[tuple[int, int]]:
    """Where something is called not done: the start and the end of each mention."""
    return [one.span() for one in _MENTION.finditer(words) if not _names_nothing(words, one)]


def _names_nothing(words: str, mention: re.Match[str]) -> bool:
    """Whether it clearly calls no task not done. In doubt it does not."""
    start, end = mention.span()
    before = words[max(0, start - MOST_BEFORE) : start]
    before = before if start > MOST_BEFORE else f"\n{before}"
    if _ANOTHER_SENSE.match(words, end) or _NONE_BEFORE.search(before):
        return True
    return bool(_NONE_BEHIND.match(words, end) and _BEGINS.search(before))


def children() -> list[tuple[int, int]]:
    """Processes whose parent we are or have become, each with its session."""
    me, found = os.getpid(), []
    for name in os.listdir("/proc"):  # noqa: PTH208 (no pathlib: this is started per session)
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:  # it ended while we looked
                continue
            if int(fields[1]) == me and fields[0] != b"Z":
                found.append((int(name), int(fields[3])))
    return found


def _signal(pid: int, number: int) -> bool:
    """Send a signal; false if there is no such process. A negative id means a group."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
