"""Run one process of Holdfast, with or without a fault, and say how it ended."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryFile

from torture import injection
from torture.clock import faketime
from torture.commands import Command, Forks
from torture.injection import CHANGING, ERRORS, KILL, NEVER_FAIL, TALKING, Point
from torture.place import Place, limit_files

PATIENCE_SECONDS = 120
TRACER_SECONDS = 40
PRINTED_BYTES = 1 << 18
STRIDE = 5  # about as many calls of one kind are hit in one place
COMMAND_LINES = 0.08  # how often a process is started from its command line, not forked
IN_TIME, LATE = 1.06, 0.87  # how the time in which kills come is adjusted
ALONE, KILLED, INTERRUPTED, KILLED_AT_CALL, FAILED_CALL, LIMITED, CLOCK = (
    "no fault",
    "killed at a random moment",
    "ended by SIGINT or SIGTERM",
    "killed at a system call",
    "system call fails",
    "file size limit",
    "clock jumps",
)
SIZES = (0, 1, 100, 5_000, 60_000)
JUMPS = ("-3d", "-5h", "-90s", "+90s", "+5h", "+3d")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended. `fault` is what really happened: a process may end before its kill."""

    code: int
    out: str
    err: str
    fault: str
    killed_children: bool = False  # programs that it had started were killed, too

    @property
    def was_killed(self) -> bool:
        return self.code in (-signal.SIGKILL, 128 + signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class Start:
    """How one process is started, and what happens to it."""

    command: Command
    sent: str
    cwd: Path
    is_forked: bool
    kill_after: float | None = None
    signal: int = signal.SIGKILL  # what it is killed with
    most_bytes: int | None = None
    tracing: Sequence[str] = ()  # strace and its arguments
    environ: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Runner:
    """Runs processes in a place. It learns the system calls of each kind of process at its first
    run, and then takes them in turn."""

    place: Place
    random: Random
    number: int = 0  # of the place: each begins its turns where another one ends
    forks: Forks | None = None
    known: dict[str, list[Point]] = field(default_factory=dict)
    hit: dict[str, set[tuple[Point, str]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    command_lines: int = 0
    _left: dict[str, list[tuple[Point, str]]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _count: int = 0

    def run(self, kind: str, command: Command, sent: str = "", *, fault: str, cwd: Path) -> Ended:
        """One process; `kind` names those that do the same."""
        start = Start(command, sent, cwd, not command.package and self._is_forked())
        if fault == KILLED:
            return self._killed(kind, start)
        if fault == INTERRUPTED:
            return self._interrupted(kind, start)
        if fault in (KILLED_AT_CALL, FAILED_CALL) and injection.strace():
            return self._at_call(kind, start, fault)
        # Which end of its session cuts off a subagent that started at a wrong time is nobody's
        # to say: rows of an hour ago and rebuilt ones may differ.
        if fault == CLOCK and faketime() and kind != "SubagentStart":
            return self._at_another_time(start)
        if fault == LIMITED:
            limited = replace(start, most_bytes=self.random.choice(SIZES))
            return Ended(*self.start(limited), LIMITED)
        return Ended(*self.start(start), ALONE)

    def _is_forked(self) -> bool:
        with self._lock:
            is_forked = self.forks is not None and self.random.random() >= COMMAND_LINES
            self.command_lines += not is_forked
            return is_forked

    def _killed(self, kind: str, start: Start) -> Ended:
        """Kills are spread evenly over a time that is adjusted until seven in ten come in time: a
        busy machine makes every average useless."""
        kind = kind if start.is_forked else f"{kind}, from its command line"
        with self._lock:
            after = self.random.random() * self.seconds.setdefault(kind, 0.1)
        ended = Ended(*self.start(replace(start, kill_after=after)), KILLED)
        with self._lock:
            self.seconds[kind] *= IN_TIME if ended.was_killed else LATE
        return ended if ended.was_killed else replace(ended, fault=ALONE)

    def _interrupted(self, kind: str, start: Start) -> Ended:
        """It is asked to end, and may take its time. The time is that of its kills."""
        kind = kind if start.is_forked else f"{kind}, from its command line"
        with self._lock:
            after = self.random.random() * self.seconds.setdefault(kind, 0.1)
            asked = self.random.choice((signal.SIGINT, signal.SIGTERM))
        ended = Ended(*self.start(replace(start, kill_after=after, signal=asked)), INTERRUPTED)
        return replace(ended, fault=ALONE) if ended.code == 0 else ended

    def _at_another_time(self, start: Start) -> Ended:
        """Its clock differs from that of the processes before and after it."""
        with self._lock:
            jump = self.random.choice(JUMPS)
        # No jump of a real clock moves the monotonic one, and timed waits would never end.
        fixed = {"FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        environ = {"LD_PRELOAD": faketime(), "FAKETIME": jump, **fixed}
        return Ended(*self.start(replace(start, is_forked=False, environ=environ)), CLOCK)

    def _at_call(self, kind: str, start: Start, fault: str) -> Ended:
        kind = kind if start.is_forked else f"{kind}, from its command line"
        with self._lock:
            self._count += 1
            account = self.place.root / f"calls-{self._count}"
            chosen = self._next(kind, fault)
        try:
            if chosen is None:
                return self._counted(kind, start, account)
            words = injection.injecting(account, *chosen, starts=not start.is_forked)
            ended = Ended(*self.start(replace(start, tracing=words)), fault)
            if not ended.was_killed and not injection.was_injected(account):
                return replace(ended, fault=ALONE)
            self.hit.setdefault(kind, set()).add(chosen)
            children = injection.killed_children(account, starts=not start.is_forked)
            return replace(ended, killed_children=bool(children))
        finally:
            account.unlink(missing_ok=True)

    def _counted(self, kind: str, start: Start, account: Path) -> Ended:
        words = injection.counting(account, (*CHANGING, *TALKING), starts=not start.is_forked)
        ended = self.start(replace(start, tracing=words))
        found = injection.points(account.read_text(encoding="utf-8", errors="replace"))
        with self._lock:
            self.known[kind] = list(dict.fromkeys([*self.known.get(kind, []), *found]))
        return Ended(*ended, ALONE)

    def _next(self, kind: str, fault: str) -> tuple[Point, str] | None:
        """The next point in turn. Before each turn the calls of this kind are listed once more:
        what a process has to do may have grown."""
        name = f"{kind}, {fault}"
        if not self._left.get(name):
            if name in self._left or kind not in self.known:
                self._left.pop(name, None)
                return None
            self._left[name] = self._turn(kind, fault)
        return self._left[name].pop() if self._left[name] else None

    def _turn(self, kind: str, fault: str) -> list[tuple[Point, str]]:
        """All calls of a kind, mixed the same way in each place, from another start in each."""
        known = self.known[kind]
        able = [one for one in known if fault == KILLED_AT_CALL or one.call not in NEVER_FAIL]
        Random(kind).shuffle(able)
        start = self.number * STRIDE % max(1, len(able))
        able = able[start:] + able[:start]
        return [(one, KILL if fault == KILLED_AT_CALL else self._error()) for one in able[::-1]]

    def _error(self) -> str:
        return self.random.choice(ERRORS)

    def start(self, start: Start) -> tuple[int, str, str]:
        """Its exit code and what it printed."""
        with TemporaryFile() as given, _Output() as out, _Output() as err:
            given.write(start.sent.encode())
            given.seek(0)
            streams = (given.fileno(), out.writing, err.writing)
            code = (
                self._forked(start, streams) if start.is_forked else self._spawned(start, streams)
            )
            return code, out.text(), err.text()

    def _environ(self, start: Start) -> dict[str, str]:
        own = {**start.command.environ, **start.environ, "CLAUDE_PROJECT_DIR": str(start.cwd)}
        return {**self.place.environ, **own}

    def _spawned(self, start: Start, streams: Sequence[int]) -> int:
        words = start.command.words if start.tracing else start.command.line
        limit = None if start.most_bytes is None else partial(limit_files, start.most_bytes)
        process = subprocess.Popen(
            [*start.tracing, *words],
            stdin=streams[0],
            stdout=streams[1],
            stderr=streams[2],
            cwd=start.cwd,
            env=self._environ(start),
            start_new_session=True,
            preexec_fn=limit,
        )
        return _wait(process.pid, start, lambda: process.wait(2 * PATIENCE_SECONDS))

    def _forked(self, start: Start, streams: Sequence[int]) -> int:
        assert self.forks is not None
        process = self.forks.start(
            start.command,
            streams,
            cwd=start.cwd,
            environ=self._environ(start),
            most_bytes=start.most_bytes,
        )
        tracer = injection.attach(start.tracing, process.pid) if start.tracing else None
        process.begin()
        code = _wait(process.pid, start, process.wait)
        if tracer is not None:
            _end_tracer(tracer)
        return code


def _end_tracer(tracer: subprocess.Popen[bytes]) -> None:
    """It ends with the last process that it traces; if one stays, the checks will say so."""
    try:
        tracer.wait(TRACER_SECONDS)
    except subprocess.TimeoutExpired:
        tracer.terminate()  # those that it traces go on
        tracer.wait(PATIENCE_SECONDS)


class _Output:
    """A pipe with room for all that a process prints, so that nobody has to read meanwhile, and a
    process that is left behind keeps no reader waiting."""

    def __enter__(self) -> _Output:
        self._reading, self.writing = os.pipe()
        fcntl.fcntl(self.writing, fcntl.F_SETPIPE_SZ, PRINTED_BYTES)
        os.set_blocking(self._reading, False)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._reading)
        os.close(self.writing)

    def text(self) -> str:
        with suppress(BlockingIOError):
            return os.read(self._reading, PRINTED_BYTES).decode("utf-8", "replace")
        return ""


def _wait(pid: int, start: Start, wait: Callable[[], int]) -> int:
    """Its exit code. It is killed with all that it started: after that time, or if it hangs."""
    timers = [threading.Timer(PATIENCE_SECONDS, _signal_group, [pid, signal.SIGKILL])]
    if start.kill_after is not None:
        timers.append(threading.Timer(start.kill_after, _signal_group, [pid, start.signal]))
    for one in timers:
        one.start()
    try:
        return wait()
    finally:
        for one in timers:
            one.cancel()


def _signal_group(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, number)
