"""The client: where it is, which version, and the words it is started with."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from holdfast.run.errors import NoClient, NotOurs
from holdfast.wire.log import inert

CONDUCTED = "HOLDFAST_CONDUCTED"
STOP_GUARD = "HOLDFAST_STOP_GUARD"
# Our tests run the newest of them. The oldest is what the formats were first written down from; of
# those between, nothing is known to differ, and none is run.
SEEN = ((2, 1, 197), (2, 1, 325))
VERSION_SECONDS = 30.0
VERSION_BYTES = 4096
# What we say ourselves, and what would take a session other than the fresh one of that name.
OURS = ("--output-format", "--input-format", "--session-id", "--resume", "-r", "--continue", "-c")
_VERSION = re.compile(r"\b(\d{1,4})\.(\d{1,4})\.(\d{1,6})\b")


@dataclass(frozen=True, slots=True)
class Client:
    path: str
    version: str
    warning: str = ""


def find(named: Path | None) -> Client:
    """The client as it names itself; NoClient where there is none that can be started."""
    path = shutil.which(named.absolute() if named and named.exists() else named or "claude")
    if path is None:
        raise NoClient(f"{named} is not a program" if named else "no `claude` was found on PATH")
    path = str(Path(path).absolute())  # not resolved: a launcher may look at its own name
    said = _said(path)
    found = _VERSION.search(said)
    if found is None:
        return Client(path, "", f"{path} names no version: {inert(said, 80)!r}; going on")
    version = found.group()
    return Client(path, version, _warning(version, tuple(map(int, found.groups()))))


def _said(path: str) -> str:
    """In a group of its own, which ends with the question: whatever it starts and prints, nobody
    waits for it, and no more is read than a version takes."""
    try:
        asked = subprocess.Popen(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as slip:
        raise NoClient(f"{path} cannot be started: {slip.strerror}") from slip
    until = time.monotonic() + VERSION_SECONDS
    try:
        words, errors = _heard(asked, until)
        code = asked.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise NoClient(f"{path} --version did not end") from None
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(asked.pid, signal.SIGKILL)
        asked.wait()
    if code:
        raise NoClient(f"{path} --version ended with {code}: {inert(errors, 200)}")
    return words


def _heard(asked: subprocess.Popen[bytes], until: float) -> tuple[str, str]:
    """What it prints, and its errors, until its time is over, or it ends, closes both, or prints
    far too much."""
    assert asked.stdout is not None
    assert asked.stderr is not None
    with asked.stdout as out, asked.stderr as errors:
        heard = {out.fileno(): b"", errors.fileno(): b""}
        open_ = set(heard)
        while open_ and all(len(data) < VERSION_BYTES for data in heard.values()):
            ready = select.select(open_, [], [], 0.1)[0]
            if time.monotonic() > until or (not ready and asked.poll() is not None):
                break
            for source in ready:
                data = os.read(source, VERSION_BYTES)
                heard[source] += data
                open_ -= set() if data else {source}
    said, slips = (data.decode("utf-8", "replace").strip() for data in heard.values())
    return said, slips


def _warning(version: str, numbers: tuple[int, ...]) -> str:
    oldest, newest = SEEN
    if oldest <= numbers <= newest:
        return ""
    known = " to ".join(".".join(map(str, one)) for one in SEEN)
    return f"Claude Code {version} is unknown to us ({known} are); going on"


def command(
    path: str, session_id: str, model: str, permission_mode: str, extra: Sequence[str]
) -> list[str]:
    """The prompt comes on stdin: there it has any length, and no list of processes shows it."""
    words = [path, "-p", "--output-format", "stream-json", "--verbose", "--session-id", session_id]
    words += ["--model", model] if model else []
    words += ["--permission-mode", permission_mode] if permission_mode else []
    return [*words, *extra]


def check(extra: Sequence[str]) -> None:
    """Refused before anything is paid for: with these no session could be told from another, or be
    heard at all."""
    wrong = [word for word in extra if word.partition("=")[0] in OURS]
    if wrong:
        raise NotOurs(f"{', '.join(wrong)}: `holdfast run` says that to the client itself")


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Ours, passed on: its hooks know that they must start nothing, and guard its stops (unless
    the user said otherwise in a variable)."""
    return {STOP_GUARD: "on", **environ, CONDUCTED: "1"}


def is_conducted(environ: Mapping[str, str]) -> bool:
    return bool(environ.get(CONDUCTED))
