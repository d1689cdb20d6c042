"""One event as the hook saw it, with the reading taken from the end of the transcript."""

from __future__ import annotations

import time

from holdfast.wire import mark, places, scan, spool, tail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TOOL_EVENTS = frozenset(("PostToolUse", "PostToolUseFailure"))
COMPACTING = frozenset(("PreCompact", "PostCompact"))
LATE_LOOKS, LATE_SECONDS, LIVE_MS = 8, 0.02, 2_000
PARALLEL_MS = 600_000  # a call without a result for so long was given up


class Moment:
    """What a woken event module gets."""

    def __init__(self, payload: dict[str, Any], now_ms: int) -> None:
        agent_id = scan.text_of(payload, "agent_id")
        session_id = scan.text_of(payload, "session_id")
        main_path = scan.text_of(payload, "transcript_path") or tail.find_log(session_id)
        self.deadline = float("inf")  # for reading a transcript, by `time.monotonic`
        self.payload = payload
        self.now_ms = now_ms
        self.folder = places.window(session_id or "unknown", agent_id)
        self.transcript = places.transcript(main_path, agent_id)
        self.mark = mark.load(self.folder)
        density = self.mark.density if self.mark else mark.CHARS_PER_TOKEN
        self.tail = self._newest_tail(bool(agent_id), density)
        self.spool_bytes = 0
        self.pending_chars = 0.0  # on its way to the model, not in the transcript yet
        self.line = self._reading(density)

    def is_late(self) -> bool:
        """Whether to read no further: the client would end this hook."""
        return time.monotonic() > self.deadline

    def _newest_tail(self, sidechain: bool, density: float) -> tail.Tail:
        """The end of the transcript, once it holds the answer whose call this is: after a quick
        tool the hook starts before the client has written it; it came within 67 ms."""
        call = scan.text_of(self.payload, "tool_use_id")
        seen = tail.read(self.transcript, sidechain, density)
        waits = LATE_LOOKS if _is_live(self.transcript) else 0
        while call and call not in seen.call_ids and waits:
            time.sleep(LATE_SECONDS)
            waits -= 1
            if places.size_of(self.transcript) != seen.size:
                seen = tail.read(self.transcript, sidechain, density)
        return seen

    def _reading(self, density: float) -> spool.SpoolLine:
        payload, seen = self.payload, self.tail
        event = scan.text_of(payload, "hook_event_name")
        call = scan.text_of(payload, "tool_use_id") if event in TOOL_EVENTS else ""
        chars = 0.0
        if call and call not in seen.result_ids:
            chars = self._result_chars(density)
        pending = chars + self._left_by_parallel_calls(call)
        if event == "UserPromptSubmit":
            pending += len(scan.text_of(payload, "prompt"))
        self.pending_chars = pending
        overhead = self.mark.overhead if self.mark else 0
        used = seen.used_tokens(density, overhead, pending)
        flags = self._basis(event)
        tool = scan.text_of(payload, "tool_name")
        took = _milliseconds(payload.get("duration_ms"))
        answer = seen.answer_id
        return spool.SpoolLine(
            self.now_ms, event, used, flags, call, tool, int(chars), answer, took
        )

    def _basis(self, event: str) -> str:
        """How the number is known. While the client compacts, the file still shows the old one."""
        source = scan.text_of(self.payload, "source")
        if event in COMPACTING or (event == "SessionStart" and source == "compact"):
            return "compacting.estimated"
        basis = self.tail.basis
        return basis if self.tail.is_counted_by_client() else basis + ".estimated"

    def _result_chars(self, density: float) -> float:
        if "tool_response" in self.payload:
            chars = tail.count_response_chars(self.payload["tool_response"], density)
        else:
            chars = len(scan.text_of(self.payload, "error"))
        return chars + tail.FRAME_CHARS

    def _left_by_parallel_calls(self, call: str) -> float:
        """Results of the same answer that other hooks saw and the transcript does not hold yet."""
        open_ids = self.tail.call_ids - self.tail.result_ids
        if len(open_ids) < 2:
            return 0
        waiting = {spool.ident(id_) for id_ in open_ids}
        sizes = {
            line.tool_use_id: line.chars
            for line in spool.recent(self.folder)
            if line.tool_use_id in waiting and self.now_ms - line.ms < PARALLEL_MS
        }
        sizes.pop(spool.ident(call), None)
        return sum(sizes.values())


def _milliseconds(value: object) -> int:
    return value if type(value) is int and 0 < value < 1 << 53 else 0


def _is_live(path: str) -> bool:
    """Whether the file was written just now: only then is there anything to wait for."""
    return abs(time.time() * 1000 - places.modified_ms(path)) < LIVE_MS
