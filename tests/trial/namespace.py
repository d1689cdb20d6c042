"""Start a program in a network namespace that has only loopback, and serve it from outside.

A Claude Code under trial must not reach the network, not even by mistake. If the system cannot
guarantee that, the trial does not start.

`Patience` delays scripted answers until the hooks have ended. A real answer takes seconds, so the
hooks of the step before are always over by then; a scripted one takes a millisecond, and the text
of an asynchronous hook would come one to three steps late.
"""

import contextlib
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from holdfast.wire.errors import HoldfastError
from tests.trial import enter_namespace

_START_SECONDS = 20.0
_GRACE_SECONDS = 3.0


class NamespaceImpossible(HoldfastError):
    """This system allows no network namespace, so Claude Code is not started at all."""

    hint = "on Linux: allow user namespaces, or run as root"


@dataclass(frozen=True)
class ConfinedProcess:
    """A running program, and a listening socket that only this program can reach."""

    process: subprocess.Popen[bytes]
    listener: socket.socket

    def ended_within(self, seconds: float) -> bool:
        """True once the program has ended. It is not reaped, so that its id is not used again."""
        return wait_for_end(self.process.pid, seconds)


def unshare_command() -> list[str]:
    """The `unshare` command that works here: plain for root, with a user namespace for others."""
    program = shutil.which("unshare")
    if program is None:
        raise NamespaceImpossible("there is no `unshare` on this system")
    for flags in ("-n", "-rn") if os.geteuid() == 0 else ("-rn",):
        attempt = subprocess.run([program, flags, "true"], capture_output=True, check=False)
        if attempt.returncode == 0:
            return [program, flags]
    raise NamespaceImpossible(attempt.stderr.decode(errors="replace").strip() or "unshare failed")


@contextlib.contextmanager
def confine(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    stdout: IO[bytes],
    stderr: IO[bytes],
) -> Iterator[ConfinedProcess]:
    """Start `command` confined; at the end, what is left of its process group is ended too."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen(
            [*_doorway(theirs.fileno()), *command],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
        theirs.close()
        try:
            yield ConfinedProcess(process, _receive_listener(ours))
        finally:
            _end_group(process)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the group: SIGTERM first, then SIGKILL."""
    if not wait_for_end(process.pid, 0):
        os.killpg(process.pid, signal.SIGTERM)
        wait_for_end(process.pid, _GRACE_SECONDS)
    os.killpg(process.pid, signal.SIGKILL)  # not reaped yet, so the id is still this group's
    process.wait()


def _doorway(descriptor: int) -> list[str]:
    unshare = unshare_command()
    here = str(Path("/proc/self/ns/net").readlink())
    program = str(Path(enter_namespace.__file__).resolve())
    return [*unshare, sys.executable, "-I", "-S", program, str(descriptor), here]


def _receive_listener(channel: socket.socket) -> socket.socket:
    channel.settimeout(_START_SECONDS)
    _, descriptors, _, _ = socket.recv_fds(channel, 64, 1)
    if not descriptors:
        raise NamespaceImpossible(
            "the namespace was refused, or loopback could not be raised there"
        )
    return socket.socket(fileno=descriptors[0])


class Patience:
    """Called before an answer: waits a limited time for short-lived children of Claude Code."""

    def __init__(self, client_id: int, limit_seconds: float = 10.0) -> None:
        self._client_id = client_id
        self._limit_seconds = limit_seconds
        self._residents: frozenset[int] | None = None

    def __call__(self) -> None:
        running = children_of(self._client_id)
        if self._residents is None:  # e.g. MCP servers: they stay, so waiting for them is in vain
            self._residents = running
        until = time.monotonic() + self._limit_seconds
        for process_id in running - self._residents:
            wait_for_end(process_id, until - time.monotonic())


def wait_for_end(process_id: int, seconds: float) -> bool:
    """True once that process has ended, also if it had before. It is not reaped."""
    try:
        descriptor = os.pidfd_open(process_id)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], max(0.0, seconds))[0])
    finally:
        os.close(descriptor)


def children_of(parent_id: int) -> frozenset[int]:
    """The processes a process has started and not yet reaped."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it may end while we look
            # "7 (a name) S 1 ...": the name may hold anything, so count from its last bracket.
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[1]) == parent_id:
                found.add(int(stat.parent.name))
    return frozenset(found)
