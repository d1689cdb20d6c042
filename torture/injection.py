"""Kill a process at one of its system calls, or let that call fail, with strace.

What is on a disk changes only by the calls listed in `CHANGING`. A process that dies between two
of them leaves what it would have left at the start of the second one. So one death at the start of
each of them stands for a death at any instant.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CHANGING = (
    *("write", "pwrite64", "ftruncate", "fallocate", "fsync", "fdatasync", "flock"),
    *("rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat"),
    *("unlink", "unlinkat", "mkdir", "mkdirat", "rmdir", "fchmod", "utimensat", "openat"),
)
TALKING = ("sendto", "recvfrom", "connect")  # to PostgreSQL
KILL = "signal=SIGKILL"
ERRORS = ("error=ENOSPC", "error=EIO", "error=EACCES")
NEVER_FAIL = frozenset(("connect", "recvfrom", "sendto", "flock"))  # these are only killed at
ATTACH_SECONDS = 20
EXEC = "execve"
_CALL = re.compile(r"^(?:(\d+) +)?(\w+)\((.*)")


_PROGRAM = re.compile(rf"^(\d+) +{EXEC}\(", re.MULTILINE)
_KILLED = re.compile(r"^(\d+) +\+\+\+ killed by SIGKILL", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Point:
    """One call of a process: the n-th of its name."""

    call: str
    number: int


@cache
def strace() -> str:
    """The path of a strace that works here; empty if there is none."""
    found = shutil.which("strace") or ""
    probe = [found, "--seccomp-bpf", "-f", "-o", "/dev/null", "-e", "trace=openat", "true"]
    if not found or subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        return ""
    return found


def counting(account: Path, calls: Sequence[str], *, starts: bool = True) -> list[str]:
    """The words before a command that write its calls into a file; or, if it runs already, before
    its number."""
    return [*_words(account, starts), "-e", f"trace={','.join(calls)}"]


def injecting(account: Path, point: Point, fault: str, *, starts: bool = True) -> list[str]:
    """The words before a command that let one of its calls fail or be its last."""
    rule = f"{point.call}:{fault}:when={point.number}"
    quick = starts and fault != KILL  # strace 6.1 forgets the signal if it stops at few calls only
    trace = f"trace={point.call},{EXEC}"
    return [*_words(account, quick), "-e", trace, "-e", f"inject={rule}"]


def _words(account: Path, quick: bool) -> list[str]:
    few = ["--seccomp-bpf"] if quick else []
    return [strace(), *few, "-f", "-qq", "-o", str(account)]


def attach(tracing: Sequence[str], pid: int) -> subprocess.Popen[bytes]:
    """Trace a process that waits at its gate; return once it is traced."""
    tracer = subprocess.Popen([*tracing, "-p", str(pid)], stderr=subprocess.DEVNULL)
    until = time.monotonic() + ATTACH_SECONDS
    while _tracer_of(pid) == 0 and time.monotonic() < until:
        time.sleep(0.002)
    return tracer


def _tracer_of(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("TracerPid:")[2].split(maxsplit=1)[0])


def points(account: str) -> list[Point]:
    """The calls that change something: a file that is only read is opened without O_CREAT. Each
    process and thread counts its own calls, as strace does."""
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for line in account.splitlines():
        if not (call := _CALL.match(line)):
            continue
        seen[call[1], call[2]] += 1
        if call[2] != "openat" or "O_CREAT" in call[3]:
            found.append(Point(call[2], seen[call[1], call[2]]))
    return list(dict.fromkeys(found))


def killed_children(account: Path, *, starts: bool) -> set[int]:
    """The programs that were killed, without the one that was started or attached to: each thread
    and process counts its own calls, so the same number may come up in several."""
    text = account.read_text(encoding="utf-8", errors="replace")
    programs = list(dict.fromkeys(int(pid) for pid in _PROGRAM.findall(text)))
    killed = {int(pid) for pid in _KILLED.findall(text)}
    return killed & {*programs[1 if starts else 0 :]}


def was_injected(account: Path) -> bool:
    """Whether the call that was to fail or to be the last one was reached, in any process."""
    try:
        text = account.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return "(INJECTED)" in text or "+++ killed by SIGKILL +++" in text
