"""Get Chromium for the tests of the dashboard: `tests/dashboard/fetch_browser.py`.

It is Debian's package: the one that is installed, or the same unpacked into `.cache` without any
change to the system. Where neither is possible the other tests still run, so this says what is
missing and ends well.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

CACHE = Path(__file__).resolve().parents[2] / ".cache" / "chromium"
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FETCH_SECONDS = 600  # some 100 MB
_PROBE_SECONDS = 60


class NotToBeHad(Exception):
    """There is no browser; the message says why."""


def environment() -> dict[str, str]:
    """Where the libraries of an unpacked browser are."""
    folders = {str(library.parent) for library in CACHE.glob("usr/lib/*-linux-*/**/*.so*")}
    known = os.environ.get("LD_LIBRARY_PATH", "")
    path = ":".join([*sorted(folders), *filter(None, [known])])
    return {**os.environ, "LD_LIBRARY_PATH": path} if path else dict(os.environ)


def find() -> Path | None:
    """The browser that is here and runs, or None."""
    installed = [shutil.which(name) for name in _NAMES]
    unpacked = CACHE / "usr" / "lib" / "chromium" / "chromium"
    for candidate in [*installed, str(unpacked)]:
        if candidate and _works(candidate):
            return Path(candidate)
    return None


def _works(browser: str) -> bool:
    try:
        run = subprocess.run(
            [browser, "--version"],
            capture_output=True,
            check=False,
            timeout=_PROBE_SECONDS,
            env=environment(),
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return run.returncode == 0


def fetch() -> Path:
    found = find()
    if found is not None:
        return found
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise NotToBeHad("there is no Chromium and no apt-get here; install Chromium")
    packages = CACHE / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    _run(["apt-get", "download", *_wanted()], packages)
    for package in sorted(packages.glob("*.deb")):
        _run(["dpkg-deb", "--extract", str(package), str(CACHE)], packages)
        package.unlink()
    found = find()
    if found is None:
        raise NotToBeHad("what apt-get brought does not run")
    return found


def _wanted() -> list[str]:
    """Chromium and what it needs that is not installed, as name=version."""
    options = ["install", "--simulate", "--yes", "--no-install-recommends", "chromium"]
    found = re.findall(
        r"^Inst (\S+) (?:\[\S+\] )?\((\S+)", _run(["apt-get", *options], CACHE), re.M
    )
    return [f"{name}={version}" for name, version in found]


def _run(command: list[str], folder: Path) -> str:
    try:
        run = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=True, timeout=_FETCH_SECONDS
        )
    except subprocess.CalledProcessError as failure:
        words = failure.stderr.strip().splitlines() or [f"{command[0]} failed"]
        raise NotToBeHad(words[-1]) from None
    except subprocess.TimeoutExpired:
        raise NotToBeHad(f"{command[0]} was not done after {_FETCH_SECONDS} s") from None
    return run.stdout


def main() -> int:
    try:
        print(f"the browser: {fetch()}")
    except NotToBeHad as reason:
        words = f"Chromium could not be had: {reason}; tests of the dashboard will be skipped"
        print(f"\n*** {words} ***\n", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
