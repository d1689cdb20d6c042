"""A client as the real one was seen to be, and the model behind it: what a hook printed is handed
over in the next request or the one after, once the hook has ended, however it ended."""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from holdfast.client import sample_payloads
from holdfast.hook import entry
from holdfast.window.outbox import OutboxEntry
from holdfast.wire import places
from tests.builders import a_transcript, an_answer

Armed = Callable[[], object]
HOUR_MS = 3_600_000


def an_entry(number: int, *, created_ms: int = 1, expires_ms: int = 1 << 50) -> OutboxEntry:
    tag = f"m-{number:012d}"
    return OutboxEntry(f"id-{number}", tag, f"- [{tag}] word {number}", created_ms, expires_ms)


class Client:
    """One session: `step` is a call, its hook, and the request that follows."""

    def __init__(self, place: Path, *, late: bool) -> None:
        self.path = place / "s1.jsonl"
        self.folder = places.window("s1")
        self.late = late  # the hook ends after the next request was built
        self.seen: list[str] = []  # all the model was ever given by hooks
        self._printed: list[str] = []
        self._ended: list[str] = []
        self._count = 0
        a_transcript(self.path, an_answer(20_000, id="m0", calls=("t0",)))

    def step(self, armed: Armed = bool, event: str = "PostToolUse") -> None:
        """One operation; `armed` runs in the hook's process before anything else."""
        self._printed.append(hook(event, self.path, armed, tool_use_id=f"t{self._count}"))
        if not self.late:
            self._ended, self._printed = self._ended + self._printed, []
        self._request()
        self._ended, self._printed = self._ended + self._printed, []

    def _request(self) -> None:
        self._count += 1
        lines = []
        for said in filter(None, self._ended):
            context = json.loads(said)["hookSpecificOutput"]["additionalContext"]
            self.seen.append(context)
            body = {"type": "async_hook_response", "response": json.loads(said)}
            lines.append({"type": "attachment", "isSidechain": False, "attachment": body})
        self._ended = []
        answer, call = f"m{self._count}", f"t{self._count}"
        lines.append(an_answer(20_000 + self._count, id=answer, calls=(call,)))
        with self.path.open("a") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)

    def times(self, one: OutboxEntry) -> int:
        return sum(text.count(one.tag) for text in self.seen)


def hook(event: str, path: Path, armed: Armed = bool, **own: Any) -> str:
    """One hook in a process of its own, its stdout read to the end."""
    sent = (
        sample_payloads.make_payload(event, session_id="s1", transcript=str(path), cwd="/p") | own
    )
    take, give = os.pipe()
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            os.dup2(told, 0)
            os.dup2(give, 1)
            for fd in (take, give, told, tell):
                os.close(fd)
            armed()
            entry.main([])
        os._exit(7)
    os.close(told)
    os.close(give)
    with suppress(BrokenPipeError):
        os.write(tell, json.dumps(sent).encode())
    os.close(tell)
    with os.fdopen(take, "rb") as stdout:
        said = stdout.read()
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "a hook ends well or is killed"
    with suppress(ValueError):
        json.loads(said)
        return said.decode()
    return ""  # torn, or nothing: the client gives none of it
