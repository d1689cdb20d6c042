"""The client: where it is, which version, and the words it is started with."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.conductor.errors import NoClient
from holdfast.wire.inert import inert

CONDUCTED = "HOLDFAST_CONDUCTED"
STOP_GUARD = "HOLDFAST_STOP_GUARD"
SEEN = ((2, 1, 197), (2, 1, 325))  # run by our tests; between them nothing is known to differ
VERSION_SECONDS = 60.0
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
    try:
        done = subprocess.run(
            [path, "--version"],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=VERSION_SECONDS,
            check=False,
        )
    except OSError as slip:
        raise NoClient(f"{path} cannot be started: {slip.strerror}") from slip
    except subprocess.TimeoutExpired:
        raise NoClient(f"{path} --version did not end") from None
    if done.returncode:
        words = inert(done.stderr.decode("utf-8", "replace").strip(), 200)
        raise NoClient(f"{path} --version ended with {done.returncode}: {words}")
    return done.stdout.decode("utf-8", "replace").strip()


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


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Ours, passed on: its hooks know that they must start nothing, and guard its stops (unless
    the user said otherwise in a variable)."""
    return {STOP_GUARD: "on", **environ, CONDUCTED: "1"}


def is_conducted(environ: Mapping[str, str]) -> bool:
    return bool(environ.get(CONDUCTED))
