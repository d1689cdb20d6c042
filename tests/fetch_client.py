"""Get the real clients for the tests that judge us by them: `tests/fetch_client.py VERSION`, for
Codex with `--codex` before it.

It comes from whatever npm registry this machine is set up for, by name and version. Without npm or
without the registry the other tests still run, so this says what is missing and ends well.
"""

import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

CACHE = Path(__file__).resolve().parents[1] / ".cache" / "client"
CODEX_CACHE = CACHE.with_name("codex")
_FETCH_SECONDS = 600  # some 70 MB
_SYSTEMS = {"Linux": "linux", "Darwin": "darwin"}
_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


class NotToBeHad(Exception):
    """The client cannot be fetched here; the message says why."""


def package_name() -> str:
    """The package that holds the native client of this platform; it needs no Node to run."""
    system = _SYSTEMS.get(platform.system())
    machine = _MACHINES.get(platform.machine().lower())
    if system is None or machine is None:
        raise NotToBeHad(f"no package for {platform.system()} on {platform.machine()}")
    musl = "-musl" if system == "linux" and list(Path("/lib").glob("ld-musl-*")) else ""
    return f"@anthropic-ai/claude-code-{system}-{machine}{musl}"


def binary_of(version: str) -> Path:
    """Where the client of that version is, or would be."""
    return CACHE / version / "node_modules" / package_name() / "claude"


def codex_binary_of(version: str) -> Path:
    """Where the Codex of that version is, or would be."""
    folder = CODEX_CACHE / version / "node_modules" / "@openai" / "codex" / "vendor"
    return next(folder.glob("*/bin/codex"), folder / "codex")


def fetch_codex(version: str) -> Path:
    """The Codex of that version, fetched if need be: its native program has a version of its own
    for each platform."""
    system, machine = platform.system(), _MACHINES.get(platform.machine().lower())
    if system not in _SYSTEMS or machine is None:
        raise NotToBeHad(f"no package for {system} on {platform.machine()}")
    native = f"@openai/codex@npm:@openai/codex@{version}-{_SYSTEMS[system]}-{machine}"
    return _fetched(lambda: codex_binary_of(version), CODEX_CACHE / version, native)


def works(binary: Path) -> bool:
    """True if it is there and can say its version."""
    if not binary.is_file():
        return False
    run = subprocess.run([binary, "--version"], capture_output=True, check=False, timeout=60)
    return run.returncode == 0


def fetch(version: str) -> Path:
    """The client of that version, fetched if need be."""
    package = f"{package_name()}@{version}"
    return _fetched(lambda: binary_of(version), CACHE / version, package)


def _fetched(find: Callable[[], Path], folder: Path, package: str) -> Path:
    if works(find()):
        return find()
    npm = shutil.which("npm")
    if npm is None:
        raise NotToBeHad("there is no npm here")
    folder.mkdir(parents=True, exist_ok=True)
    complaint = _install(npm, folder, package)
    if complaint or not works(find()):
        raise NotToBeHad(complaint or "what npm brought does not run")
    return find()


def _install(npm: str, folder: Path, package: str) -> str:
    """Let npm put the package into `folder`; the answer is its complaint, empty if it had none."""
    options = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder)]
    command = [npm, "install", *options, package]
    try:
        run = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_FETCH_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"npm was not done after {_FETCH_SECONDS} s"
    if run.returncode == 0:
        return ""
    errors = [line for line in run.stderr.splitlines() if line.lower().startswith("npm err")]
    return "; ".join(errors[:2]) or f"npm ended with {run.returncode}"


def main(arguments: list[str]) -> int:
    is_codex = arguments[:1] == ["--codex"]
    if len(arguments) != 1 + is_codex:
        print("usage: python tests/fetch_client.py [--codex] VERSION", file=sys.stderr)
        return 2
    get = fetch_codex if is_codex else fetch
    try:
        print(f"the real client: {get(arguments[-1])}")
    except NotToBeHad as reason:
        words = f"the real client could not be had: {reason}; its tests will be skipped"
        print(f"\n*** {words} ***\n", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
