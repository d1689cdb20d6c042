"""The hook without its start: one process per worker has it imported, and forks for each event.

What a hook does is done in a process of its own, as ever; only the imports are shared (50 of its
60 ms). tests/hot/test_started.py holds that a started hook does the same; `make nightly` starts
every hook as the client does: it sets HOLDFAST_TEST_HOOKS=started.
"""

import atexit
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import holdfast

SERVER = """
import json, os, pkgutil, sys
sys.path.insert(0, sys.argv[1])
from holdfast.hook import entry
entry._wake("dispatch")
for name in "events", "session", "checkpoint", "brief", "window", "transcript", "settings":
    package = __import__("holdfast." + name, None, None, ["*"])
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        __import__(found.name)
for asked in sys.stdin:
    told = json.loads(asked)
    child = os.fork()
    if child:
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    for fd, name in enumerate(("in", "out", "err")):
        os.dup2(os.open(told["folder"] + "/" + name, os.O_RDWR), fd)
    os.chdir(told["cwd"])
    os.environ.clear()
    os.environ.update(told["environ"])
    try:
        entry.main(told["arguments"])
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)
"""


@cache
def _server() -> subprocess.Popen[str]:
    source = str(Path(holdfast.__file__).parents[1])
    command = [sys.executable, "-I", "-S", "-c", SERVER, source]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(_end, started)
    return started


def _end(started: subprocess.Popen[str]) -> None:
    assert started.stdin is not None
    assert started.stdout is not None
    started.stdin.close()
    started.wait()
    started.stdout.close()


def run(
    data: bytes, arguments: tuple[str, ...], environ: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes]:
    """One hook, as `subprocess.run` would have answered."""
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("in", "out", "err")]
        for path, held in zip(paths, (data, b"", b""), strict=True):
            path.write_bytes(held)
        told = {"folder": folder, "cwd": str(Path.cwd()), "environ": dict(environ)}
        server.stdin.write(json.dumps(told | {"arguments": arguments}) + "\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        _, out, err = (path.read_bytes() for path in paths)
    return subprocess.CompletedProcess(arguments, code, out, err)
