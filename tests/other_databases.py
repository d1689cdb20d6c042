"""Other versions of the databases, for `nox -s sqlite postgres`: fetched by name, built here.

SQLite's source comes with the npm package better-sqlite3, which is built with the system's C
compiler as a library that Python loads in place of its own. PostgreSQL is a server that Debian has
installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CACHE = Path(__file__).resolve().parents[1] / ".cache" / "sqlite"
SQLITE = {"3.35.2": "7.4.0", "3.37.2": "7.5.0", "3.46.1": "11.3.0", "3.53.4": "13.0.3"}
POSTGRES = {version: Path(f"/usr/lib/postgresql/{version}/bin") for version in ("16", "17")}
LIBRARY = "libsqlite3.so.0"
FEATURES = ("FTS3", "FTS4", "FTS5", "JSON1", "MATH_FUNCTIONS", "COLUMN_METADATA", "DESERIALIZE")


class NotHere(Exception):
    """This version cannot be had on this machine; the message says why."""


def sqlite_folder(version: str) -> Path:
    """The folder of the library, for LD_LIBRARY_PATH; built at the first call: a minute."""
    folder = CACHE / version
    if (folder / LIBRARY).is_file():
        return folder
    compiler, npm = shutil.which("cc"), shutil.which("npm")
    if not compiler or not npm:
        raise NotHere("a C compiler and npm are needed to build it")
    with tempfile.TemporaryDirectory(prefix="holdfast-sqlite-") as name:
        source = _sqlite_source(npm, SQLITE[version], Path(name))
        folder.mkdir(parents=True, exist_ok=True)
        options = [f"-DSQLITE_ENABLE_{one}" for one in FEATURES]
        line = [compiler, "-O1", "-shared", "-fPIC", "-DSQLITE_THREADSAFE=1", *options]
        line.append("-DHAVE_USLEEP=1")  # else who waits for a lock sleeps for whole seconds
        line += [f"-Wl,-soname,{LIBRARY}", "-o", f"{name}/{LIBRARY}", str(source), "-lm"]
        _run(line, Path(name))
        shutil.move(f"{name}/{LIBRARY}", folder / LIBRARY)
    return folder


def _sqlite_source(npm: str, package: str, folder: Path) -> Path:
    _run([npm, "pack", "--silent", f"better-sqlite3@{package}"], folder)
    [packed] = folder.glob("*.tgz")
    _unpack(packed, folder)
    for inner in folder.rglob("sqlite3.tar.gz"):  # older ones have it packed once more
        _unpack(inner, inner.parent)
    return next(folder.rglob("sqlite3.c"))


def _unpack(packed: Path, folder: Path) -> None:
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")


def _run(line: list[str], folder: Path) -> None:
    run = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode:
        raise NotHere(run.stderr.strip().rsplit("\n", 1)[-1] or f"{line[0]} failed")


@contextmanager
def postgres_url(version: str, port: int) -> Iterator[str]:
    """The address of a new server on loopback, which ends with the `with`."""
    programs = POSTGRES[version]
    if not (programs / "initdb").is_file():
        raise NotHere(f"there is no {programs}: apt-get install postgresql-{version}")
    is_root = os.geteuid() == 0  # PostgreSQL does not run as root
    user = ["runuser", "-u", "postgres", "--"] if is_root else []
    with tempfile.TemporaryDirectory(prefix="holdfast-pg-") as name:
        folder = Path(name)
        if is_root:
            shutil.chown(folder, "postgres")
        control = [*user, str(programs / "pg_ctl"), "-D", f"{folder}/data"]
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
        _run(
            [
                *user,
                str(programs / "initdb"),
                "-D",
                f"{folder}/data",
                "-A",
                "trust",
                "-U",
                "postgres",
            ],
            folder,
        )
        _run([*control, "-o", options, "-l", f"{folder}/log", "-w", "start"], folder)
        try:
            yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
        finally:
            _run([*control, "-m", "immediate", "stop"], folder)
