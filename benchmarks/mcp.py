"""What the MCP server costs: its tools in a window, its start, and a call.

python -m benchmarks.mcp
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import made_up
from benchmarks.hooks import BARE
from holdfast.client import sample_payloads
from holdfast.setup.rehearsal import HELLO
from holdfast.setup.wiring import server_entry, this_program
from holdfast.wire.mark import CHARS_PER_TOKEN

CALLS = 41
STARTS = 5
TRANSCRIPT_BYTES = 5 << 20
Row = tuple[str, str, str]
ASKED: dict[str, dict[str, Any]] = {
    "status": {"task_tokens": 20_000},
    "checkpoint": {},
    "resume": {},
    "plan": {"text": "- [ ] write the page on tides\n- [ ] fix the harbour's test\n"},
    "recall": {"query": "tide heights low"},
    "expand": {"id": "out-0123abcd", "find": "row 1500"},
    "context_budget": {"op": "estimate", "text": "some words " * 100},
    "segments": {"op": "compressed"},
    "board": {"op": "read"},
}


class Server:
    """One that lives, with a session of 5 MB that our hooks have heard of."""

    def __init__(self, folder: Path) -> None:
        entry = server_entry()
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [entry["command"], *entry["args"]],
            stdin=pipe,
            stdout=pipe,
            env=_environ(folder),
            cwd=folder,
        )
        self._asked = 0

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._asked += 1
        self._send({"id": self._asked, "method": method, "params": params})
        assert self.process.stdout is not None
        while True:
            said = json.loads(self.process.stdout.readline())
            if said.get("id") == self._asked:
                result: dict[str, Any] = said["result"]
                return result

    def greet(self) -> str:
        """Its instructions, which are in every session."""
        told = self.ask("initialize", HELLO)
        self._send({"method": "notifications/initialized"})
        return str(told["instructions"])

    def call(self, tool: str, arguments: dict[str, Any]) -> float:
        begun = time.perf_counter()
        found = self.ask("tools/call", {"name": tool, "arguments": arguments})
        took = time.perf_counter() - begun
        if found.get("isError"):
            raise RuntimeError(f"{tool}: {found['content'][0]['text']}")
        return took

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()


def rows() -> Iterator[Row]:
    with _a_session() as folder:
        server = Server(folder)
        instructions = server.greet()
        listed = server.ask("tools/list", {})["tools"]
        always = " ".join([instructions, *(f"mcp__holdfast__{one['name']}" for one in listed)])
        chars = len(json.dumps(listed, separators=(",", ":"), ensure_ascii=False))
        yield "tools", str(len(listed)), "≤ 12"
        tokens = f"{len(always) / CHARS_PER_TOKEN:,.0f} tokens"
        yield "their names and the instructions, always on", tokens, ""
        yield "their descriptions", f"{chars / CHARS_PER_TOKEN:,.0f} tokens", "≤ 1,500"
        first = {name: server.call(name, given) for name, given in ASKED.items()}
        later = {name: _calls(server, name, given) for name, given in ASKED.items()}
        every = [took for found in later.values() for took in found]
        yield "a call, warm, median of all", f"{median(every) * 1000:.1f} ms", "≤ 20 ms"
        for name, found in later.items():
            cold = f"the first {first[name] * 1000:.0f} ms"
            yield f"`{name}`, warm", f"{median(found) * 1000:.1f} ms ({cold})", "≤ 20 ms"
        yield "memory after all of them", f"{_memory(server.process.pid):.0f} MB", ""
        server.end()
        yield "start to the first answer", f"{_start(folder):.0f}x bare, CPU", ""


def _calls(server: Server, name: str, given: dict[str, Any]) -> list[float]:
    return [server.call(name, given) for _ in range(CALLS)]


def _start(folder: Path) -> float:
    """CPU from nothing to the list of tools and back to nothing, in bare interpreter starts."""

    def spent(run: Any) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def once() -> None:
        server = Server(folder)
        server.greet()
        server.ask("tools/list", {})
        server.end()

    bare = median(spent(lambda: subprocess.run(BARE, check=True)) for _ in range(20))
    return median(spent(once) for _ in range(STARTS)) / bare


def _memory(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / (1 << 20)


@contextmanager
def _a_session() -> Iterator[Path]:
    from holdfast.archive import outputs

    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        folder = Path(name)
        os.environ["HOLDFAST_HOME"] = str(folder / "home")
        path = folder / "bench.jsonl"
        made_up.write(path, TRANSCRIPT_BYTES)
        for event, own in (("SessionStart", {"source": "startup"}), ("PostToolUse", {})):
            sent = sample_payloads.make_payload(
                event, session_id="bench", transcript=str(path), cwd=str(folder)
            )
            data = json.dumps(sent | own).encode()
            hook = this_program().words
            subprocess.run(hook, input=data, check=True, capture_output=True, env=_environ(folder))
        text = "\n".join(f"row {number} of the tide" for number in range(2_000))
        outputs.keep("out-0123abcd", text, {"tool": "Bash"})
        yield folder


def _environ(folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "HOLDFAST_HOME": str(folder / "home"),
        "CLAUDE_PROJECT_DIR": str(folder),
        "CLAUDE_CODE_SESSION_ID": "bench",
    }


if __name__ == "__main__":
    for name, figure, wanted in rows():
        print(f"{name:32} {figure:32} {wanted}", file=sys.stdout, flush=True)
