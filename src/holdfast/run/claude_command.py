"""The `claude` program: where it is, its version, and the command line that starts it."""

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

from holdfast.run.errors import NoClient, ReservedOption
from holdfast.wire.log import inert

CONDUCTED = "HOLDFAST_CONDUCTED"
STOP_GUARD = "HOLDFAST_STOP_GUARD"
# Our tests run the newest version. The formats were first written down from the oldest. No version
# between them is known to differ, but none is tested.
SEEN = ((2, 1, 197), (2, 1, 325))
VERSION_SECONDS = 30.0
VERSION_BYTES = 4096
# Options that we set ourselves, and options that would open another session than the new one.
RESERVED = (
    "--output-format",
    "--input-format",
    "--session-id",
    "--resume",
    "-r",
    "--continue",
    "-c",
)
PERMITS = (
    "--permission-mode",
    "--allowedTools",
    "--allowed-tools",
    "--dangerously-skip-permissions",
    "--permission-prompt-tool",
    "--settings",
)
PERMISSIONS = "--allowedTools Bash,Edit,Write"  # what most tasks need
_VERSION = re.compile(r"\b(\d{1,4})\.(\d{1,4})\.(\d{1,6})\b")


@dataclass(frozen=True, slots=True)
class ClaudeProgram:
    path: str
    version: str
    warning: str = ""


def find(named: Path | None) -> ClaudeProgram:
    """Find the program and its version; NoClient if there is none that can be started."""
    path = shutil.which(named.absolute() if named and named.exists() else named or "claude")
    if path is None:
        raise NoClient(f"{named} is not a program" if named else "no `claude` was found on PATH")
    path = str(Path(path).absolute())  # links are kept: a launcher may look at its own name
    said = _read_version(path)
    found = _VERSION.search(said)
    if found is None:
        return ClaudeProgram(path, "", f"{path} names no version: {inert(said, 80)!r}; going on")
    version = found.group()
    return ClaudeProgram(path, version, _warning(version, tuple(map(int, found.groups()))))


def _read_version(path: str) -> str:
    """The output of `--version`. It runs in a process group that is ended afterwards, and no more
    is read than a version takes, whatever it starts or prints."""
    try:
        asked = subprocess.Popen(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise NoClient(f"{path} cannot be started: {error.strerror}") from error
    until = time.monotonic() + VERSION_SECONDS
    try:
        words, errors = _read_output(asked, until)
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


def _read_output(asked: subprocess.Popen[bytes], until: float) -> tuple[str, str]:
    """Its output and errors, until it ends, closes both, runs out of time or prints too much."""
    assert asked.stdout is not None
    assert asked.stderr is not None
    with asked.stdout as out, asked.stderr as errors:
        read = {out.fileno(): b"", errors.fileno(): b""}
        open_ = set(read)
        while open_ and all(len(data) < VERSION_BYTES for data in read.values()):
            ready = select.select(open_, [], [], 0.1)[0]
            if time.monotonic() > until or (not ready and asked.poll() is not None):
                break
            for source in ready:
                data = os.read(source, VERSION_BYTES)
                read[source] += data
                open_ -= set() if data else {source}
    said, failures = (data.decode("utf-8", "replace").strip() for data in read.values())
    return said, failures


def _warning(version: str, numbers: tuple[int, ...]) -> str:
    oldest, newest = SEEN
    if oldest <= numbers <= newest:
        return ""
    known = " to ".join(".".join(map(str, one)) for one in SEEN)
    return f"Claude Code {version} was not tested ({known} were); going on"


def build_command(
    path: str, session_id: str, model: str, permission_mode: str, extra: Sequence[str]
) -> list[str]:
    """The command line. The prompt is passed on stdin: there it may have any length, and no list
    of processes shows it."""
    words = [path, "-p", "--output-format", "stream-json", "--verbose", "--session-id", session_id]
    words += ["--model", model] if model else []
    words += ["--permission-mode", permission_mode] if permission_mode else []
    return [*words, *extra]


def gives_permissions(permission_mode: str, extra: Sequence[str]) -> bool:
    """Whether the command line says what Claude Code may do without asking."""
    return bool(permission_mode) or any(word.partition("=")[0] in PERMITS for word in extra)


def check_options(extra: Sequence[str]) -> None:
    """Refuse options with which we could not identify or follow a session, before it costs
    anything."""
    wrong = [word for word in extra if word.partition("=")[0] in RESERVED]
    if wrong:
        raise ReservedOption(f"{', '.join(wrong)}: `holdfast run` sets this option itself")


def build_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Our environment plus two variables: its hooks must start no other Claude, and they guard its
    stops unless the user set the variable otherwise."""
    return {STOP_GUARD: "on", **environ, CONDUCTED: "1"}


def is_nested(environ: Mapping[str, str]) -> bool:
    return bool(environ.get(CONDUCTED))
