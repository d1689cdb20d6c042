"""The `claude` program: where it is, its version, the command line of a session, and a session as a
child process that cannot outlive us: it lives while we hold its pipe."""

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

import msgspec

from holdfast.run import supervisor
from holdfast.run.report import SCHEMA_SINCE, SessionEnd, decode_end, quote
from holdfast.run.supervisor import CONDUCTED, NOTE_BYTES, end_session
from holdfast.transcript.blocks import Usage
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert

STOP_GUARD = "HOLDFAST_STOP_GUARD"
VERSION_SECONDS = 30.0
MAX_NOTE_BYTES = 1 << 20
# Options that we set ourselves, options that would open another session than the new one, and those
# that say what Claude Code may do.
RESERVED = ("--output-format", "--input-format", "--json-schema", "--session-id")
NOT_NEW = ("--resume", "-r", "--continue", "-c")
PERMITS = ("--permission-mode", "--permission-prompt-tool", "--allowedTools", "--allowed-tools")
ALLOW_ALL = ("--dangerously-skip-permissions", "--settings")
PERMISSIONS = "--allowedTools Bash,Edit,Write"  # what most tasks need
RESERVED_HINT = "leave it out: every session is a new one, with an id of its own"
_VERSION = re.compile(r"\b(\d{1,4})\.(\d{1,4})\.(\d{1,6})\b")


class NoClient(HoldfastError):
    exit_code = 5
    hint = "install Claude Code, or name the program: --client-binary FILE"


@dataclass(frozen=True, slots=True)
class ClaudeProgram:
    path: str
    warning: str = ""


def find(named: Path | None) -> ClaudeProgram:
    """Find the program; NoClient if there is none that can be started."""
    path = shutil.which(named.absolute() if named and named.exists() else named or "claude")
    if path is None:
        raise NoClient(f"{named} is not a program" if named else "no `claude` was found on PATH")
    path = str(Path(path).absolute())  # links are kept: a launcher may look at its own name
    words = _read_version(path)
    match = _VERSION.search(words)
    if match is None:
        return ClaudeProgram(path, f"{path} names no version: {inert(words, 80)!r}; going on")
    is_old = tuple(map(int, match.groups())) < SCHEMA_SINCE
    since = ".".join(map(str, SCHEMA_SINCE))
    old = f"Claude Code {match[0]} may ask for a report without end; use {since} or newer"
    return ClaudeProgram(path, old if is_old else "")


def _read_version(path: str) -> str:
    """The words of `--version`. What it starts is ended."""
    mark = f"version-{os.getpid()}"
    try:  # in our folder: elsewhere a kill could leave a file
        places.make_folder(places.home())
        out = TemporaryFile(dir=places.home())  # noqa: SIM115
    except OSError as error:
        raise NoClient(f"{path} was not asked for its version: {error.strerror}") from error
    with out:  # what it starts would hold a pipe open
        try:
            program = subprocess.run(
                [path, "--version"],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.DEVNULL,
                env={**os.environ, CONDUCTED: mark},
                timeout=VERSION_SECONDS,
                check=False,
            )
        except OSError as error:
            raise NoClient(f"{path} cannot be started: {error.strerror}") from error
        except subprocess.TimeoutExpired:
            raise NoClient(f"{path} --version did not end") from None
        finally:
            end_session(mark)
        if program.returncode:
            raise NoClient(f"{path} --version ended with {program.returncode}")
        return os.pread(out.fileno(), 4096, 0).decode("utf-8", "replace").strip()


def gives_permissions(extra: Sequence[str]) -> bool:
    return any(word.partition("=")[0] in (*PERMITS, *ALLOW_ALL) for word in extra)


def check_options(extra: Sequence[str]) -> None:
    """Refuse options with which we could not follow a session, before it costs anything."""
    wrong = [word for word in extra if word.partition("=")[0] in (*RESERVED, *NOT_NEW)]
    if wrong:
        words = f"{', '.join(wrong)}: `holdfast run` sets this option itself"
        raise HoldfastError(words, RESERVED_HINT, 2)


def is_nested(environ: Mapping[str, str]) -> bool:
    return bool(environ.get(CONDUCTED))


def note_path(folder: str, session_id: str) -> str:
    return f"{folder}/{places.plain(session_id)}.end"


def reserve_note(path: str) -> None:
    """Create the note with its full size before the start."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        if os.pwrite(fd, b" " * NOTE_BYTES, 0) != NOTE_BYTES:
            raise OSError(f"{path} was cut short")
        places.flush_to_disk(fd)
    finally:
        os.close(fd)


def read_note(path: str) -> SessionEnd:
    return decode_end(places.read_small(path, MAX_NOTE_BYTES))


def remove_notes(folder: str) -> None:
    """Remove all notes, once no session runs and the journal has them."""
    for path in Path(folder).glob("*.end"):
        with suppress(OSError):
            path.unlink()


class ClaudeProcess:
    """A running session with its supervisor. `lock` is the plan's, held until both have ended."""

    def __init__(
        self,
        session_id: str,
        command: Sequence[str],
        prompt: str,
        folder: Path,
        note: str,
        lock: int,
    ) -> None:
        self._session_id = session_id
        self.ending = SessionEnd()
        self.timed_out = False
        self._timer: threading.Timer | None = None
        life, held = os.pipe()
        self._held = open(held, "wb", buffering=0)  # noqa: SIM115, PTH123 (closing it is the signal)
        words = [sys.executable, "-P", "-m", supervisor.__name__, str(life), note, session_id]
        try:
            # A file, not a pipe: a client that never reads its prompt must not block us.
            with TemporaryFile() as prompt_file:
                prompt_file.write(prompt.encode("utf-8", "replace"))
                prompt_file.seek(0)
                self._process = subprocess.Popen(
                    [*words, *command],
                    cwd=folder,
                    # Its hooks start no other Claude, and guard its stops unless the user said not.
                    env={STOP_GUARD: "on", **os.environ, CONDUCTED: session_id},
                    stdin=prompt_file,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(life, lock),
                    start_new_session=True,  # Ctrl-C reaches only us, and we pass it on
                )
        except OSError:
            self._held.close()
            raise
        finally:
            os.close(life)

    def end_after(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._time_out)
        self._timer.daemon = True
        self._timer.start()

    def _time_out(self) -> None:
        self.timed_out = True
        self.end()

    def end(self) -> None:
        """Ask it to end. The reader of `lines` sees when it has."""
        self._held.close()

    def lines(self) -> Iterator[bytes]:
        """Lines until Claude and all it left behind have ended."""
        assert self._process.stdout is not None
        with self._process.stdout as out:
            for line in out:
                if line.startswith(supervisor.END):
                    self.ending = decode_end(line.removeprefix(supervisor.END).rstrip()[:-1])
                else:
                    yield line
        if self._process.wait():  # it was killed, so what Claude left behind still runs
            end_session(self._session_id)
        self.end()
        if self._timer is not None:
            self._timer.cancel()


class StreamMessage(msgspec.Struct):
    usage: Usage = Usage()


class StreamLine(msgspec.Struct):
    """What Claude Code prints. The format is not ours: lines that do not fit are ignored."""

    type: str = ""
    subtype: str = ""
    parent_tool_use_id: str | None = None
    message: StreamMessage | None = None
    error_status: int | None = None
    error: str = ""
    attempt: int = 0
    max_retries: int = 0

    def describe_retry(self) -> str:
        status = self.error_status
        what = f"the API answered {status}" if status else "the API does not answer"
        why = f" ({quote(self.error)})" if self.error not in ("", "unknown") else ""
        return f"{what}{why}; Claude Code tries again, {self.attempt} of {self.max_retries}"


@dataclass(slots=True)
class StreamReading:
    """What a session printed: tokens of its window at first, at most and now."""

    first_tokens: int = 0
    most_tokens: int = 0
    now_tokens: int = 0
    compactions: int = 0
    waits_for: str = ""  # why there is no answer, and how often it was tried; empty after an answer

    @property
    def grown_tokens(self) -> int:
        return max(0, self.most_tokens - self.first_tokens)

    def hear(self, data: bytes) -> bool:
        """Read one line; true if it reports how full the window is."""
        try:
            line = msgspec.json.decode(data, type=StreamLine)
        except (ValueError, RecursionError):
            return False
        if line.subtype == "compact_boundary":
            self.compactions += 1
        if line.subtype == "api_retry":
            self.waits_for = line.describe_retry()
        if line.type != "assistant" or line.parent_tool_use_id or line.message is None:
            return False  # a subagent has a window of its own
        usage = line.message.usage
        if usage.total_tokens:
            self.first_tokens = self.first_tokens or usage.input_side_tokens
            self.now_tokens, self.waits_for = usage.total_tokens, ""
            self.most_tokens = max(self.most_tokens, usage.total_tokens)
        return bool(usage.total_tokens)
