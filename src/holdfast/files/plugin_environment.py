"""The plugin's environment: built once, in the background, from the user's own package index.

The plugin's launcher runs this file as it is, with the standard library alone, before anything is
installed. An environment is named by the packages it holds, so an update that needs others builds
its own beside it; one that no process uses any more is removed.

`plugin_environment.py start|tell|build|missing ROOT DATA HOME`
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

BUILD_SECONDS = 1_200
QUOTED = 200  # characters of a line that names the cause of a failure
LOCK, WHEELS = "requirements.lock", "wheels"
IN_USE, LINK = "in-use", "environment"  # the first one for `lock.hold_environment`, too

BEGINS = (
    "Holdfast works in this session. In the background it fetches {count} packages from your "
    "package index into {data}, once: its commands, search and the dashboard need them."
)
ENDED = (
    "Holdfast's environment is complete: its commands, search and the dashboard work now, the "
    "model's tools from the next session on."
)
FAILED = (
    "Holdfast could not build its environment: {words}. It still restores your words after a "
    "compaction; its commands, search and the dashboard are missing. A new session tries again at "
    "once; details are in {log}."
)
AGAIN = (
    "Holdfast's environment is still missing{why}. It builds it again now, in the background; "
    "details are in {log}."
)
NOT_BUILT = "the plugin's environment is not complete yet; a new Claude Code session builds it"


def main(arguments: list[str]) -> None:
    word, (root, data, home) = arguments[0], map(Path, arguments[1:])
    if word == "build":
        return build(root, data, _named(root))
    if word == "missing":
        known = state(data)
        has_failed = known.get("state") == "failed"
        sys.exit(_failure(data, known) if has_failed else f"holdfast: {NOT_BUILT}")
    message = start(root, data, home) if word == "start" else ""
    message = message or tell(root, data)
    if message:
        sys.stdout.write(json.dumps({"systemMessage": message}))


def name_of(root: Path) -> str:
    """The name of the environment for the plugin's packages."""
    known = hashlib.sha256((root / LOCK).read_bytes())
    for wheel in sorted((root / WHEELS).glob("*.whl")):
        known.update(wheel.read_bytes())
    return f"env-{known.hexdigest()[:16]}"


def state(data: Path) -> dict[str, Any]:
    """What is known of the newest build: `name`, `state`, `words`, `at`; empty before the first."""
    try:
        known = json.loads((data / "environment.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def start(root: Path, data: Path, home: Path) -> str:
    """Start a build if one is due; returns what to tell the user."""
    data.mkdir(parents=True, exist_ok=True)
    # Commands are given no place by the client: this tells them where the environment lies.
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    _replace(home / "plugin", f"{data}\n")
    name = _named(root)
    log, lock = (data / "environment.log").open("ab"), (data / "environment.lock").open("w")
    with log, lock:
        if not locked(lock):
            return ""  # another session builds it
        if (data / name / "ready").is_file():
            remove_unused(data, but=name)
            return ""
        known = state(data)
        _save(data, name, "building")
        subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, "build", str(root), str(data), str(home)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            pass_fds=[lock.fileno()],  # it holds the lock until it ends
        )
    if known.get("name") == name:
        why = f" ({known['words']})" if known["words"] else ""
        return AGAIN.format(why=why, log=data / "environment.log")
    count = sum(line[:1].isalnum() for line in (root / LOCK).read_text().splitlines())
    return BEGINS.format(count=count, data=data)


def tell(root: Path, data: Path) -> str:
    """How the build ended, once."""
    name, known = _named(root), state(data)
    if known.get("name") != name or known["state"] == "building":
        return ""
    told = data / ("told-failure" if known["state"] == "failed" else f"{name}/told")
    if told.exists():
        return ""
    told.touch()
    if known["state"] == "failed":
        return _failure(data, known)
    return ENDED


def _failure(data: Path, known: dict[str, Any]) -> str:
    return FAILED.format(words=known["words"], log=data / "environment.log")


def build(root: Path, data: Path, name: str) -> None:
    """Build the environment. The caller has locked the folder for us."""
    folder = data / name
    try:
        _install(root, folder)
    except (OSError, subprocess.SubprocessError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        _save(data, name, "failed", _in_words(error))
        return
    for mark in (IN_USE, "ready"):
        (folder / mark).touch()
    link = data / f"{LINK}.new"
    link.unlink(missing_ok=True)
    link.symlink_to(folder)
    link.replace(data / LINK)
    (data / "told-failure").unlink(missing_ok=True)
    _save(data, name, "ready")
    remove_unused(data, but=name)


def _install(root: Path, folder: Path) -> None:
    """With uv if it is there, else or if that fails with venv and pip: each with the user's own
    settings, and an index or a certificate may be known to pip alone."""
    python, uv = str(folder / "bin" / "python"), shutil.which("uv")
    ways = [
        (
            [sys.executable, "-I", "-m", "venv", str(folder)],
            [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"],
        )
    ]
    if uv:
        make = [uv, "venv", "--no-python-downloads", "--python", sys.executable, str(folder)]
        ways.insert(0, (make, [uv, "pip", "install", "--python", python]))
    wheels = [str(wheel) for wheel in sorted((root / WHEELS).glob("*.whl"))]
    deadline = time.monotonic() + BUILD_SECONDS
    while ways:
        make, install = ways.pop(0)
        shutil.rmtree(folder, ignore_errors=True)
        try:
            _run(make, deadline)
            _run([*install, "--require-hashes", "-r", str(root / LOCK)], deadline)
            _run([*install, "--no-deps", *wheels], deadline)
            _run([python, "-I", "-c", "import holdfast.cli.start, msgspec"], deadline)
            return
        except OSError:
            if not ways:
                raise


def _run(command: list[str], deadline: float) -> None:
    sys.stdout.write(f"$ {command}\n")
    room = max(1.0, deadline - time.monotonic())
    done = subprocess.run(command, capture_output=True, text=True, timeout=room, check=False)
    sys.stdout.write(f"{done.stdout}{done.stderr}")
    sys.stdout.flush()
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise OSError(_ends_of(lines) or f"exit code {done.returncode}")


def _ends_of(lines: list[str]) -> str:
    """The ends: pip names the cause first, uv last. A long line names it at its end."""
    ends = dict.fromkeys([*lines[:1], *lines[-1:]])
    return " … ".join(line if len(line) <= QUOTED else f"…{line[-QUOTED:]}" for line in ends)


def remove_unused(data: Path, but: str) -> None:
    """Remove the environments that no running process holds, but this one."""
    for folder in data.glob("env-*"):
        if folder.name == but:
            continue
        try:
            with (folder / IN_USE).open("ab") as used:
                if locked(used):
                    shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue


def is_ours() -> bool:
    """Whether this Python is that of the plugin's environment."""
    return Path(sys.prefix, IN_USE).exists()


def lasting(path: str) -> str:
    """A path of this Python under a name that lasts when an update builds another environment."""
    prefix = Path(sys.prefix)
    link = prefix.parent / LINK
    lasts = is_ours() and link.resolve() == prefix.resolve()
    return path.replace(sys.prefix, str(link), 1) if lasts else path


def place() -> Path | None:
    """Where the plugin's environments are, if a plugin has run here."""
    from holdfast.wire import places  # the launcher runs this file where nothing of ours is found

    try:
        return Path((Path(places.home()) / "plugin").read_text().strip() or "/nonexistent")
    except OSError:
        return None


def locked(file: Any) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _named(root: Path) -> str:
    """The name as the plugin's build wrote it, for the launcher too."""
    return (root / "environment").read_text("ascii").strip()


def _save(data: Path, name: str, how: str, words: str = "") -> None:
    known = {"name": name, "state": how, "words": words, "at": int(time.time())}
    _replace(data / "environment.json", json.dumps(known))


def _replace(path: Path, text: str) -> None:
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.write_text(text)
    new.replace(path)


def _in_words(error: Exception) -> str:
    if isinstance(error, subprocess.TimeoutExpired):
        return f"it took more than {BUILD_SECONDS // 60} minutes"
    return str(error).rstrip(".") or type(error).__name__


if __name__ == "__main__":
    main(sys.argv[1:])
