"""A session told step by step, as the client would write it down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from holdfast.record.model import Record
from holdfast.record.reader import read_record
from tests.transcript import builders as b

UNMARKING = "2.1.62"  # a client that does not say who wrote a line


class Session:
    """Each step adds its lines; `record` reads them all. `version`: of the client."""

    def __init__(self, version: str = b.ENVELOPE["version"]) -> None:
        self.lines: list[b.Line | bytes] = []
        self._count = 0
        self._version = version

    def _next(self) -> str:
        self._count += 1
        return f"msg_{self._count}"

    def user(self, words: Any, **more: Any) -> Session:
        self.lines.append(b.prompt(words, **more))
        return self

    def queues(self, words: str) -> Session:
        """Typed while the model works."""
        self.lines.append(b.queueing("enqueue", words))
        return self

    def unqueues(self, operation: str = "remove") -> Session:
        self.lines.append(b.queueing(operation))
        return self

    def says(self, words: str) -> Session:
        self.lines.append(b.answer(self._next(), b.text(words)))
        return self

    def calls(
        self, tool: str, output: Any = "ok", *, error: bool = False, copy: Any = None, **given: Any
    ) -> Session:
        name = self._next()
        self.lines.append(b.answer(name, b.tool_use(tool, f"toolu_{name}", **given)))
        back = b.tool_result(output, f"toolu_{name}", is_error=error)
        self.lines.append(b.result(back, copy=copy))
        return self

    def starts(self, tool: str, **given: Any) -> Session:
        """A call whose result is not there yet."""
        name = self._next()
        self.lines.append(b.answer(name, b.tool_use(tool, f"toolu_{name}", **given)))
        return self

    def runs(self, command: str, output: str = "ok", *, fails: bool = False) -> Session:
        return self.calls("Bash", output, error=fails, command=command)

    def edits(self, path: str, old: str = "a", new: str = "b", **more: Any) -> Session:
        return self.calls("Edit", file_path=path, old_string=old, new_string=new, **more)

    def works(self, operations: int) -> Session:
        """So much goes by without anything worth keeping."""
        for number in range(operations):
            self.says(f"Step {number}.")
        return self

    def compacts(self, summary: str = "This session is being continued: all is well.") -> Session:
        self.lines += [b.boundary(), b.summary(summary)]
        return self

    def data(self) -> bytes:
        return b.jsonl(*map(self._of_version, self.lines))

    def written(self, folder: Path) -> Path:
        return b.written(folder, self.data().rstrip(b"\n"))

    def _of_version(self, line: b.Line | bytes) -> b.Line | bytes:
        if isinstance(line, bytes) or line.get("version") != b.ENVELOPE["version"]:
            return line
        return {**line, "version": self._version}

    def record(self, folder: Path) -> Record:
        return read_record(self.written(folder))
