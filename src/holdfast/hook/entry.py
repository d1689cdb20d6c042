"""One entry for all events: take the reading, leave a line, and sleep on unless a mark is crossed.

Every way out ends in exit code 0: a session matters more than our bookkeeping.
"""

from __future__ import annotations

import os
import sys
import time

from holdfast.wire import mark, places, scan, spool, tail, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

# Events at which nothing needs thought while no mark is crossed. The others are rare.
LEAN = frozenset(("PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop"))
TOOL_EVENTS = frozenset(("PostToolUse", "PostToolUseFailure"))
ENDS = frozenset(("Stop", "SessionEnd"))
COMPACTING = frozenset(("PreCompact", "PostCompact"))
LATE_LOOKS, LATE_SECONDS, LIVE_SECONDS = 8, 0.02, 2.0
MOST_PAYLOAD = 64 << 20
FIRST_LOOK_TOKENS = 25_000  # a session without one tool call is first judged from here on
STOP_BYTES = 64 << 10  # of the spool, for agents that came and did not go
PARALLEL_MS = 600_000  # a call left without a result this long has been given up
TOLD_SECONDS = 60.0  # a team's server hears of a long turn as often


class Moment:
    """One event as the hook saw it; handed to the warm side when it is woken."""

    __slots__ = (
        "folder",
        "line",
        "mark",
        "now_ms",
        "payload",
        "pending_chars",
        "spool_bytes",
        "tail",
        "transcript",
    )

    def __init__(self, payload: dict[str, Any], now_ms: int) -> None:
        agent_id = scan.text_of(payload, "agent_id")
        main_path = scan.text_of(payload, "transcript_path")
        self.payload = payload
        self.now_ms = now_ms
        self.folder = places.window(scan.text_of(payload, "session_id") or "unknown", agent_id)
        self.transcript = places.transcript(main_path, agent_id)
        self.mark = mark.load(self.folder)
        density = self.mark.density if self.mark else mark.DENSITY
        self.tail = self._newest_tail(bool(agent_id), density)
        self.spool_bytes = 0
        self.pending_chars = 0.0  # on its way to the model, not in the transcript yet
        self.line = self._reading(density)

    def _newest_tail(self, sidechain: bool, density: float) -> tail.Tail:
        """The end of the transcript, once it holds the answer whose call this is.

        After a quick tool this hook starts before the client has written that answer (11 of 16
        times; it came within 67 ms). Nobody waits for an asynchronous hook, so it waits a little.
        """
        call = scan.text_of(self.payload, "tool_use_id")
        seen = tail.look(self.transcript, sidechain, density)
        waits = LATE_LOOKS if _is_live(self.transcript) else 0
        while call and call not in seen.call_ids and waits:
            time.sleep(LATE_SECONDS)
            waits -= 1
            if _size(self.transcript) != seen.size:
                seen = tail.look(self.transcript, sidechain, density)
        return seen

    def _reading(self, density: float) -> spool.Line:
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
        return spool.Line(self.now_ms, event, used, flags, call, tool, int(chars), answer, took)

    def _basis(self, event: str) -> str:
        """How the number is known; while the client compacts, the file still shows the old one."""
        source = scan.text_of(self.payload, "source")
        if event in COMPACTING or (event == "SessionStart" and source == "compact"):
            return "compacting.estimated"
        basis = self.tail.basis
        return basis if self.tail.states_tokens() else basis + ".estimated"

    def _result_chars(self, density: float) -> float:
        if "tool_response" in self.payload:
            chars = visible.response_chars(self.payload["tool_response"], density)
        else:
            chars = len(scan.text_of(self.payload, "error"))
        return chars + tail.FRAME_CHARS

    def _left_by_parallel_calls(self, call: str) -> float:
        """Results of the same answer that other hooks saw and the transcript does not hold yet."""
        open_ids = self.tail.call_ids - self.tail.result_ids
        if len(open_ids) < 2:
            return 0
        waiting = {spool.ident(one) for one in open_ids}
        sizes = {
            line.tool_use_id: line.chars
            for line in spool.recent(self.folder)
            if line.tool_use_id in waiting and self.now_ms - line.ms < PARALLEL_MS
        }
        sizes.pop(spool.ident(call), None)
        return sum(sizes.values())


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0


def _milliseconds(told: object) -> int:
    return told if type(told) is int and 0 < told < 1 << 53 else 0


def _is_live(path: str) -> bool:
    """Written to just now: only then is there anything to wait for."""
    try:
        return abs(time.time() - os.stat(path).st_mtime) < LIVE_SECONDS
    except (OSError, ValueError):
        return False


def main(arguments: list[str]) -> NoReturn:
    """Fail open, in this one place; skip the interpreter's farewell, which costs 2 ms."""
    try:
        os.umask(0o077)
        _handle(_read_all(0), arguments)
    except BaseException as slip:
        if "HOLDFAST_RAISE" in os.environ:  # set in tests, so our bugs stay loud to us
            raise
        _confess(slip)
    os._exit(0)


def _handle(data: bytes, arguments: list[str]) -> None:
    if arguments[:1] == ["archive"]:
        return _archive(data, arguments[1:])
    if arguments[:1] == ["forward"]:
        _wake("sending").send()
        return
    payload = scan.parse_object(visible.lighten(visible.bounded(data)))
    if arguments[:1] == ["statusline"]:
        return _say(_wake("status_line").show(payload, data, _wrapped(arguments)))
    if _is_off():
        return
    event = scan.text_of(payload, "hook_event_name")
    if not event:
        raise ValueError("the payload names no event")
    now_ms = int(time.time() * 1000)
    if event.startswith("Subagent"):
        return _note_agent(payload, event, now_ms)
    moment = Moment(payload, now_ms)
    moment.spool_bytes = _spooled(moment)
    if event not in LEAN or not _asleep(moment, event):
        _say(_wake("story").tell(moment))
    if moment.mark is not None and moment.mark.owed & mark.OWED_TO_SERVER:
        _tell_server(event)


def _is_off() -> bool:
    return os.environ.get("HOLDFAST_DISABLE") == "1" or "DISABLE_AUTO_CONTEXT_MANAGER" in os.environ


def _archive(data: bytes, arguments: list[str]) -> None:
    """`archive CHARS`: a result that is shorter is not even parsed, for the client waits for us."""
    limit, start = int(arguments[0]), data.find(b'"tool_response"')
    if start < 0 or not limit < len(data) - start < visible.MOST_BYTES or _is_off():
        return
    now_ms = int(time.time() * 1000)
    _say(_wake("archiving").tell(scan.parse_object(data), limit, now_ms))


def _wrapped(arguments: list[str]) -> str:
    """The user's own status line: `statusline --wraps THEIRS`."""
    return arguments[2] if arguments[1:2] == ["--wraps"] else ""


def _spooled(moment: Moment) -> int:
    """The line is bookkeeping: where it cannot be left, the window is judged all the same."""
    try:
        return spool.append(moment.folder, moment.line)
    except OSError as slip:
        _confess(slip)
        return 0


def _asleep(moment: Moment, event: str) -> bool:
    """At a prompt and at Stop somebody waits: they wake to pay a debt, and a prompt to judge."""
    armed = moment.mark
    owed = armed.owed & ~mark.OWED_TO_SERVER if armed is not None else 0
    if event == "Stop":  # where the model cannot be told anything
        return not owed & mark.OWED_TO_USER and not _guarded(moment)
    if event == "UserPromptSubmit" and owed:
        return False
    if armed is None or not armed.above:
        return event == "UserPromptSubmit" and moment.line.used < FIRST_LOOK_TOKENS
    if event == "PostToolUse" and "FORCE_COMPRESSION_CHECK" in os.environ:
        return False
    return not armed.crossed(moment.line.used, moment.spool_bytes, moment.now_ms)


def _guarded(moment: Moment) -> bool:
    """The stop guard is on, and may have a reason: much used, a failure, an agent not back."""
    armed, payload = moment.mark, moment.payload
    if armed is None or not armed.stop or payload.get("stop_hook_active") is not False:
        return False
    if moment.line.used >= armed.stop or payload.get("background_tasks"):
        return True
    lately = spool.end(moment.folder, STOP_BYTES)
    came, went = lately.count(b" SubagentStart "), lately.count(b" SubagentStop ")
    return came > went or b" PostToolUseFailure " in lately[-spool.RECENT_BYTES :]


def _tell_server(event: str) -> None:
    """Of the end of a turn at once, of a long one now and then: by a process of its own, which ends
    within seconds and which nobody waits for. Starting it takes 0.3 ms on a quiet machine."""
    if event not in ENDS and not (event in TOOL_EVENTS and _told_long_ago()):
        return
    null = os.open(os.devnull, os.O_RDWR)
    command = [sys.executable, "-I", "-S", __file__.replace("entry.py", "__main__.py"), "forward"]
    try:
        os.posix_spawn(
            sys.executable,
            command,
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)],
            setsid=True,  # the client ends what a hook leaves in its group
        )
    except (OSError, NotImplementedError) as slip:
        _confess(slip)


def _told_long_ago() -> bool:
    """`server.json` is written at every try."""
    try:
        tried = os.stat(os.path.join(places.home(), "server.json")).st_mtime
    except OSError:
        return True
    return abs(time.time() - tried) > TOLD_SECONDS


def _note_agent(payload: dict[str, Any], event: str, now_ms: int) -> None:
    """A subagent came or went: a line in its parent's spool, and its own window is closed."""
    session_id = scan.text_of(payload, "session_id") or "unknown"
    agent_id, kind = scan.text_of(payload, "agent_id"), scan.text_of(payload, "agent_type")
    if not kind:
        return  # the compaction's own agent: it has no window and no file
    own = places.window(session_id, agent_id)
    if event == "SubagentStop" and places.has_outbox(own):
        said = _wake("agent_stop").tell(payload, own, now_ms)
        if said:
            return _say(said)  # it goes on, and has not ended yet
    prompt_id = scan.text_of(payload, "prompt_id")  # whose request it works on
    line = spool.Line(now_ms, event, 0, "agent", agent_id, kind, answer_id=prompt_id)
    spool.append(places.window(session_id), line)
    if event == "SubagentStop":
        places.close_window(own)


def _read_all(fd: int) -> bytes:
    parts: list[bytes] = []
    room = MOST_PAYLOAD
    while room > 0:
        part = os.read(fd, min(1 << 20, room))
        if not part:
            break
        parts.append(part)
        room -= len(part)
    return b"".join(parts)


def _say(text: str) -> None:
    data = text.encode("utf-8", "replace")
    while data:
        data = data[os.write(1, data) :]


def _wake(teller: str) -> Any:
    """The warm side, by name: the hot ring knows whom to wake, and imports nothing of it."""
    import gc

    gc.disable()  # a process of a tenth of a second has nothing to gather
    _find_libraries()
    # msgspec asks for it, gains nothing by it on our Pythons, and would pay a whole start for it.
    sys.modules.setdefault("typing_extensions", None)  # type: ignore[arg-type]
    return __import__("holdfast.lifecycle." + teller, None, None, ["*"])


def _find_libraries() -> None:
    """Beside us where we are installed; in our Python's own folder where we run from a checkout.

    Only else by `site`, which also runs what any .pth file asks for: 2 ms, and more for some users.
    """
    python = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    own = f"{sys.executable.rpartition('/bin/')[0]}/lib/{python}/site-packages"
    for folder in (sys.path[0], own):
        if os.path.isdir(f"{folder}/msgspec"):
            return sys.path.append(folder)
    import site

    site.main()


def _confess(slip: BaseException) -> None:
    """Say in the log, or at least on stderr, why one hook was skipped."""
    text = f"skipped one hook: {type(slip).__name__}: {slip}"
    try:
        from holdfast.wire import log

        log.add("ERROR", "hook", text)
    except BaseException as second:
        text += f"; the log too: {type(second).__name__}"
    try:
        os.write(
            2, ("holdfast: " + text[:400].replace("\n", " ") + "\n").encode("utf-8", "replace")
        )
    except OSError:
        pass


if __name__ == "__main__":
    main(sys.argv[1:])
