"""A process that has imported Holdfast and forks it: no process pays for a start of Python.

A hook takes 0.3 s of a core when Python starts for it and 0.03 s as a fork. A fork runs the same
entry with the same arguments, streams, folder and environment. Nothing of Holdfast has run in the
process that forks, so no cache is filled. This file is started as a script, with `python -I`.

One connection is one process: the request comes in with the three streams and a gate, the number
of the process goes out, then how it ended. The process begins once its gate is closed.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import resource
import selectors
import signal
import socket
import sys
from contextlib import suppress
from typing import Any

import holdfast

STREAMS = 3
MOST_BYTES = 1 << 16
# What runs when it is imported; and what is large, and only `serve` and vectors need.
NOT_IMPORTED = frozenset(("__main__", "versions", "env", "api", "embed"))


def main(path: str) -> None:
    """Fork until the first connection, which nothing is sent on, is closed."""
    _import_all()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    print("ready", flush=True)
    _Parent(listener).serve()


def _import_all() -> None:
    for found in pkgutil.walk_packages(holdfast.__path__, "holdfast."):
        if not NOT_IMPORTED & {*found.name.split(".")}:
            with suppress(ImportError):  # a library that is not installed
                importlib.import_module(found.name)
    with suppress(ImportError):
        importlib.import_module("psycopg")
    gc.collect()
    gc.freeze()


class _Parent:
    """One thread: a process with several must not be forked."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._waiting: dict[int, socket.socket] = {}
        self._selector = selectors.DefaultSelector()

    def serve(self) -> None:
        owner = self._listener.accept()[0]
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        for one in (self._listener, owner, reading):
            self._selector.register(one, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is owner:
                    return
                if key.fileobj is self._listener:
                    self._fork(self._listener.accept()[0])
                else:
                    os.read(reading, MOST_BYTES)
            self._reap()

    def _fork(self, connection: socket.socket) -> None:
        data, descriptors, _, _ = socket.recv_fds(connection, MOST_BYTES, STREAMS + 1)
        if pid := os.fork():
            for one in descriptors:
                os.close(one)
            self._waiting[pid] = connection
            with suppress(OSError):
                connection.sendall(b"%d\n" % pid)
            return
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        run(json.loads(data), descriptors)

    def _reap(self) -> None:
        while self._waiting:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            with self._waiting.pop(pid) as connection, suppress(OSError):
                connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def run(asked: dict[str, Any], descriptors: list[int]) -> None:
    """In the new process: become what was asked for."""
    gate = descriptors[STREAMS]
    os.read(gate, 1)
    for number, one in enumerate(descriptors[:STREAMS]):
        os.dup2(one, number)
    os.closerange(STREAMS, max(gate, *descriptors, 64) + 1)
    _open_streams()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until it is what was asked for
    os.setsid()
    os.chdir(asked["cwd"])
    os.environ.update(asked["environ"])
    if asked["most_bytes"] is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (asked["most_bytes"],) * 2)
    sys.argv = [asked["entry"], *asked["arguments"]]
    _enter(asked["entry"], asked["arguments"])


def _open_streams() -> None:
    """Those of the process that forks remember what kind of file they were."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _enter(entry: str, arguments: list[str]) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if entry == "hook":
        from holdfast.hook.entry import main as hook

        hook(arguments)
    elif entry == "mcp":
        from holdfast.mcp.server import serve

        serve(os.getppid())
    else:
        from holdfast.cli.start import main as command

        command()
    sys.exit()


if __name__ == "__main__":
    main(sys.argv[1])
