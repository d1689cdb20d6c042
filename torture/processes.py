"""Run one process of Holdfast, with or without a fault, and say how it ended."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

from torture import injection
from torture.injection import CHANGING, ERRORS, KILL, NEVER_FAIL, TALKING, Point
from torture.place import Place, limit_files

PATIENCE_SECONDS = 120
STRIDE = 5  # about as many calls of one kind are hit in one place
ALONE, KILLED, KILLED_AT_CALL, FAILED_CALL, LIMITED = (
    "no fault",
    "killed at a random moment",
    "killed at a system call",
    "system call fails",
    "file size limit",
)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended. `fault` is what really happened: a process may end before its kill."""

    code: int
    out: str
    err: str
    fault: str

    @property
    def was_killed(self) -> bool:
        return self.code in (-signal.SIGKILL, 128 + signal.SIGKILL)


@dataclass(slots=True)
class Runner:
    """Runs processes in a place. It learns the system calls of each kind of process at its first
    run, and then takes them in turn."""

    place: Place
    random: Random
    number: int = 0  # of the place: each begins its turns where another one ends
    known: dict[str, list[Point]] = field(default_factory=dict)
    hit: dict[str, set[tuple[Point, str]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    _left: dict[str, list[tuple[Point, str]]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _count: int = 0

    def run(
        self, kind: str, command: Sequence[str], sent: str = "", *, fault: str, cwd: Path
    ) -> Ended:
        """One process; `kind` names those that do the same."""
        if fault == KILLED:
            return self._killed(kind, command, sent, cwd)
        if fault in (KILLED_AT_CALL, FAILED_CALL) and injection.strace():
            return self._at_call(kind, command, sent, fault, cwd)
        if fault == LIMITED:
            limit = partial(limit_files, self.random.choice((0, 1, 100, 5_000, 60_000)))
            ended = self._start(command, sent, cwd, limit=limit)
            return Ended(*ended, LIMITED)
        return Ended(*self._start(command, sent, cwd), ALONE)

    def _killed(self, kind: str, command: Sequence[str], sent: str, cwd: Path) -> Ended:
        with self._lock:
            after = self.random.random() * self.seconds.get(kind, 0.1) * 1.3
        ended = Ended(*self._start(command, sent, cwd, kill_after=after), KILLED)
        if ended.was_killed:
            return ended
        with self._lock:
            self.seconds[kind] = max(0.02, after)
        return Ended(ended.code, ended.out, ended.err, ALONE)

    def _at_call(
        self, kind: str, command: Sequence[str], sent: str, fault: str, cwd: Path
    ) -> Ended:
        with self._lock:
            self._count += 1
            account = self.place.root / f"calls-{self._count}"
            chosen = self._next(kind, fault)
        try:
            if chosen is None:
                return self._counted(kind, command, sent, account, cwd)
            words = injection.injecting(account, *chosen)
            ended = self._start([*words, *command], sent, cwd)
            done = Ended(*ended, fault)
            if not done.was_killed and not injection.was_injected(account):
                return Ended(*ended, ALONE)
            self.hit.setdefault(kind, set()).add(chosen)
            return done
        finally:
            account.unlink(missing_ok=True)

    def _counted(
        self, kind: str, command: Sequence[str], sent: str, account: Path, cwd: Path
    ) -> Ended:
        words = injection.counting(account, (*CHANGING, *TALKING))
        ended = self._start([*words, *command], sent, cwd)
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

    def _start(
        self,
        command: Sequence[str],
        sent: str,
        cwd: Path,
        *,
        kill_after: float | None = None,
        limit: partial[None] | None = None,
    ) -> tuple[int, str, str]:
        pipe = subprocess.PIPE
        environ = {**self.place.environ, "CLAUDE_PROJECT_DIR": str(cwd)}
        with subprocess.Popen(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            cwd=cwd,
            env=environ,
            start_new_session=True,
            preexec_fn=limit,
        ) as process:
            killing = threading.Timer(kill_after or 0, _kill_group, [process.pid])
            if kill_after is not None:
                killing.start()
            try:
                out, err = process.communicate(sent.encode(), PATIENCE_SECONDS)
            finally:
                killing.cancel()
        return process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
