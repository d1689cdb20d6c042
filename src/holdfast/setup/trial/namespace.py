"""Start a program in a network namespace that has only loopback, and serve it from outside.

A client under trial must not reach the network, not even by mistake; if the system cannot promise
that, there is no trial.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from holdfast.setup.errors import HoldfastError
from holdfast.setup.trial import enter_namespace
from holdfast.setup.trial.pacing import wait_for_end

_START_SECONDS = 20.0
_GRACE_SECONDS = 3.0


class NamespaceImpossible(HoldfastError):
    """This system gives us no network namespace, so the real client is not started at all."""

    hint = "on Linux: allow user namespaces, or run as root"


@dataclass(frozen=True)
class Confined:
    """A running program, and a listening socket that only it can reach."""

    process: subprocess.Popen[bytes]
    listener: socket.socket

    def ended_within(self, seconds: float) -> bool:
        """True once the program is over; it is not reaped, so that its id stays ours."""
        return wait_for_end(self.process.pid, seconds)


def unshare_command() -> list[str]:
    """The form of `unshare` that works here: plain for root, with a user namespace for others."""
    program = shutil.which("unshare")
    if program is None:
        raise NamespaceImpossible("there is no `unshare` on this system")
    for flags in ("-n", "-rn") if os.geteuid() == 0 else ("-rn",):
        attempt = subprocess.run([program, flags, "true"], capture_output=True, check=False)
        if attempt.returncode == 0:
            return [program, flags]
    raise NamespaceImpossible(attempt.stderr.decode(errors="replace").strip() or "unshare failed")


@contextlib.contextmanager
def confined(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    stdout: IO[bytes],
    stderr: IO[bytes],
) -> Iterator[Confined]:
    """Start `command` confined; whatever of its process group is left at the end is ended too."""
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
            yield Confined(process, _receive_listener(ours))
        finally:
            _end_group(process)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Ask what is left of the group to end, then insist; its id is the one we started."""
    if not wait_for_end(process.pid, 0):
        os.killpg(process.pid, signal.SIGTERM)
        wait_for_end(process.pid, _GRACE_SECONDS)
    os.killpg(process.pid, signal.SIGKILL)  # not reaped yet, so the id cannot be another's
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
