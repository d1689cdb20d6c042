"""The shape of the source: files, lines, and the modules that each walk of ARCHITECTURE.md loads.

python -m benchmarks.shape
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from statistics import median

import click

import holdfast
from benchmarks import made_up
from holdfast.cli.main import holdfast_command
from holdfast.client import sample_payloads
from holdfast.setup.rehearsal import HELLO
from holdfast.wire import mark

Row = tuple[str, str, str]
SOURCE = Path(holdfast.__file__).parent
MANY, FEW = 300, 100
TIMED = ["-X", "importtime"]
HOOK = [sys.executable, *TIMED, "-I", "-S", str(SOURCE / "hook" / "__main__.py")]
COMMAND = [sys.executable, *TIMED, "-m", "holdfast.cli"]
SERVER = [sys.executable, *TIMED, "-I", str(SOURCE / "mcp" / "__main__.py")]
ANSWER_S = 60
BLOCK = 512  # bytes, whatever the disk: what `stat` counts in
_NAME = re.compile(r"[\w.-]+")
_LOADED = re.compile(r"^import time: .*\| +(\S+)$", re.M)


def rows() -> Iterator[Row]:
    sizes = [len(path.read_text().splitlines()) for path in SOURCE.rglob("*.py")]
    code = [size for size in sizes if size > 1]  # an empty package has one line at most
    fitting = sum(FEW <= size <= MANY for size in code)
    yield "files with code, and their lines", f"{len(code)}, {sum(sizes):,}", "300 to 350"
    yield "the median file / of 100 to 300 lines", f"{median(code):.0f} lines / {fitting}", ""
    yield "commands / options that help lists", _surface(), "≤ 42 / ≤ 130"
    needed = _needed("holdfast")
    size = sum(map(_bytes_of, needed)) / 1e6
    figure = f"{size:.0f} MB, {len(needed)} packages"
    yield "base install: its size on the disk, and its packages", figure, "≤ 60 MB and ≤ 16"
    with tempfile.TemporaryDirectory(prefix="holdfast-shape-") as folder:
        for name, said in _walks(Path(folder)):
            modules = _LOADED.findall(said)
            ours = {module for module in modules if module.split(".")[0] == "holdfast"}
            lines = sum(_lines_of(module) for module in ours)
            of_others = len(set(modules) - ours)
            yield name, f"{len(ours)} modules of ours ({lines:,} lines), {of_others} others", ""


def _surface() -> str:
    """Commands that are run by themselves, and the options of all."""
    leaves = options = 0
    waiting: list[click.Command] = [holdfast_command]
    while waiting:
        command = waiting.pop()
        options += sum(isinstance(p, click.Option) and not p.hidden for p in command.params)
        if not isinstance(command, click.Group):
            leaves += 1
            continue
        context = click.Context(command)
        below = (command.get_command(context, name) for name in command.list_commands(context))
        waiting += filter(None, below)
    return f"{leaves} / {options}"


def _needed(first: str) -> set[str]:
    """The distributions that an install without extras brings along, itself among them.

    A requirement with a condition is one of an extra, of Windows or of an older Python.
    """
    found: set[str] = set()
    waiting = [first]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            always = [one for one in metadata.requires(name) or () if ";" not in one]
            waiting += [_NAME.findall(one)[0].lower() for one in always]
    return found


def _bytes_of(name: str) -> int:
    """On the disk, without compiled modules; ours may be a checkout, which lists no files."""
    if name == "holdfast":
        paths = [path for path in SOURCE.rglob("*") if path.is_file()]
    else:
        paths = [Path(str(one.locate())) for one in metadata.files(name) or ()]
    kept = (one for one in paths if one.suffix != ".pyc" and one.exists())
    return sum(one.stat().st_blocks * BLOCK for one in kept)


def _walks(folder: Path) -> Iterator[tuple[str, str]]:
    """What each walk wrote to stderr: the name of every module it imported."""
    environ = {**os.environ, "HOME": str(folder), "HOLDFAST_HOME": str(folder / ".holdfast")}
    transcript = folder / "t.jsonl"
    made_up.write(transcript, 1 << 20)
    window = folder / ".holdfast" / "windows" / "s1" / "main"
    window.mkdir(parents=True)

    def fire(event: str, **own: str) -> str:
        sent = sample_payloads.make_payload(
            event, session_id="s1", transcript=str(transcript), cwd=str(folder)
        )
        return _run(HOOK, json.dumps(sent | own), folder, environ)

    mark.arm(str(window), mark.Mark(above=10_000_000))
    yield "a tool call with nothing to do", fire("PostToolUse")
    mark.arm(str(window), mark.Mark(above=1))
    yield "a tool call that wakes the rest", fire("PostToolUse")
    yield "a compaction: saved", fire("PreCompact")
    yield "a compaction: restored", fire("SessionStart", source="compact")
    yield "a compaction: its summary checked", fire("PostCompact")
    yield "a session starts", fire("SessionStart", source="startup")
    yield "a search", _run([*COMMAND, "search", "tide"], "", folder, environ)
    yield "an API write", _write(folder, environ)
    yield "an MCP call", _call(folder, environ)
    plan = folder / "plan.md"
    plan.write_text("- [ ] write the page on tides\n- [ ] fix the harbour's test\n")
    yield "a plan's run, dry", _run([*COMMAND, "run", str(plan), "--dry-run"], "", folder, environ)


def _run(line: list[str], data: str, folder: Path, environ: dict[str, str]) -> str:
    return subprocess.run(
        line, input=data, cwd=folder, env=environ, capture_output=True, text=True, timeout=ANSWER_S
    ).stderr


def _call(folder: Path, environ: dict[str, str]) -> str:
    call = {"name": "status", "arguments": {}}
    asked = (
        {"id": 1, "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": call},
    )
    pipe = subprocess.PIPE
    with (
        (folder / "mcp.err").open("w+") as heard,
        subprocess.Popen(
            SERVER, stdin=pipe, stdout=pipe, stderr=heard, cwd=folder, env=environ, text=True
        ) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in asked))
        server.stdin.flush()
        for line in server.stdout:
            if json.loads(line).get("id") == 2:
                break
        server.stdin.close()
        server.wait(ANSWER_S)
        heard.seek(0)
        return heard.read()


def _write(folder: Path, environ: dict[str, str]) -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (
        (folder / "api.err").open("w+") as heard,
        subprocess.Popen(
            [*COMMAND, "serve", "--port", str(port)],
            stdout=subprocess.DEVNULL,
            stderr=heard,
            cwd=folder,
            env=environ,
        ) as server,
    ):
        _post(port)
        server.terminate()
        server.wait(ANSWER_S)
        heard.seek(0)
        return heard.read()


def _post(port: int) -> None:
    asked = urllib.request.Request(
        f"http://127.0.0.1:{port}/projects",
        json.dumps({"path": "/p", "name": "p"}).encode(),
        {"Content-Type": "application/json"},
    )
    until = time.monotonic() + ANSWER_S
    while True:
        try:
            urllib.request.urlopen(asked, timeout=ANSWER_S).close()
            return
        except urllib.error.HTTPError:
            return  # answered: every route is loaded
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def _lines_of(module: str) -> int:
    place = SOURCE.parent.joinpath(*module.split("."))
    path = place.with_suffix(".py")
    return len((path if path.exists() else place / "__init__.py").read_text().splitlines())


if __name__ == "__main__":
    for row in rows():
        print(" | ".join(row))
