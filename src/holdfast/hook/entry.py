"""The entry of every hook: take the reading, append a line, and exit unless a mark is crossed.

Every path ends in exit code 0: a session matters more than our bookkeeping.
"""

from __future__ import annotations

import os
import sys
import time

from holdfast.wire import mark, places, scan, spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from holdfast.hook.observation import Moment

# Events that need nothing more while no mark is crossed. The others are rare.
LEAN = frozenset(("PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop"))
MOST_PAYLOAD = 64 << 20
FIRST_LOOK_TOKENS = 25_000  # below it, a session without a tool call is not judged yet


def main(arguments: list[str]) -> NoReturn:
    """Fail open, in this one place. `os._exit` skips the shutdown, which takes 2 ms."""
    try:
        os.umask(0o077)
        places.protect_home()
        handle(_read_all(0), arguments)
    except BaseException as error:
        _report_skip(error)
        if "HOLDFAST_RAISE" in os.environ:  # set in tests, so that our bugs stay loud
            raise
    os._exit(0)


def handle(data: bytes, arguments: list[str]) -> None:
    if arguments[:1] == ["archive"]:
        return _archive(data, arguments[1:])
    if arguments[:1] == ["forward"]:
        _wake("background").send_to_team()
        return
    if arguments[:1] == ["transcripts"]:
        _wake("background").copy_transcripts()
        return
    payload = scan.parse_object(scan.lighten(scan.limit_payload(data)))
    if arguments[:1] == ["statusline"]:
        wrapped = arguments[2] if arguments[1:2] == ["--wraps"] else ""
        return _say(_wake("status_line").show(payload, data, wrapped))
    if _is_off():
        return
    event = scan.text_of(payload, "hook_event_name")
    if not event:
        raise ValueError("the payload names no event")
    now_ms = int(time.time() * 1000)
    if event.startswith("Subagent"):
        return _note_agent(payload, event, now_ms)
    observation = _load("holdfast.hook.observation")  # the rest reads no transcript
    moment: Moment = observation.Moment(payload, now_ms)
    if arguments[:1] == ["second"]:
        return _say(_wake("dispatch").tell_second(moment))
    moment.spool_bytes = _append_line(moment)
    if event not in LEAN or not _asleep(moment, event):
        _say(_wake("dispatch").tell(moment))
    if moment.mark is not None and moment.mark.owed & mark.OWED_TO_SERVER:
        _tell_server(event)


def _wake(teller: str) -> Any:
    """Load an event module by name. The hook knows whom to wake and imports nothing else."""
    import gc

    gc.disable()  # a process of a tenth of a second has nothing to collect
    _find_libraries()
    _load("holdfast.wire.bytecode").survive_cut_files()  # events import more when they need it
    return _load("holdfast.events." + teller)


def _load(name: str) -> Any:
    """Import a module. If its bytecode was cut short by a full disk, it is compiled again."""
    try:
        return __import__(name, None, None, ["*"])
    except (EOFError, ValueError, TypeError):
        sys.pycache_prefix = sys.executable  # as in `__main__`
        from holdfast.wire import bytecode

        bytecode.recover()
        return __import__(name, None, None, ["*"])


def _find_libraries() -> None:
    """Find msgspec beside us, in our Python's folder in a checkout, or the part of it that a plugin
    brings; else by `site`, which runs what any .pth file asks for: 2 ms and more."""
    python = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    own = f"{sys.executable.rpartition('/bin/')[0]}/lib/{python}/site-packages"
    for folder in (sys.path[0], own, f"{sys.path[0].rpartition('/')[0]}/fallback"):
        if os.path.isdir(f"{folder}/msgspec"):
            return sys.path.append(folder)
    import site

    site.main()


def _tell_server(event: str) -> None:
    notify_team = _load("holdfast.hook.notify_team")
    try:
        notify_team.tell_server(event)
    except (OSError, NotImplementedError) as error:
        _report_skip(error)


def _is_off() -> bool:
    return os.environ.get("HOLDFAST_DISABLE") == "1" or "DISABLE_AUTO_CONTEXT_MANAGER" in os.environ


def _archive(data: bytes, arguments: list[str]) -> None:
    """`archive CHARS`: a shorter result is not even parsed, because the client waits for us."""
    limit, start = int(arguments[0]), data.find(b'"tool_response"')
    if start < 0 or not limit < len(data) - start < scan.MOST_PAYLOAD_BYTES or _is_off():
        return
    now_ms = int(time.time() * 1000)
    _say(_wake("archive_output").tell(scan.parse_object(data), limit, now_ms))


def _append_line(moment: Moment) -> int:
    """Append the line. If that fails the window is judged all the same: it is bookkeeping."""
    try:
        return spool.append(moment.folder, moment.line)
    except OSError as error:
        _report_skip(error)
        return 0


def _asleep(moment: Moment, event: str) -> bool:
    """Whether nothing is to be done. At a prompt and at Stop the user waits, so they wake only if
    something is owed; a prompt also if a mark is crossed."""
    armed = moment.mark
    owed = armed.owed & ~mark.OWED_TO_SERVER if armed is not None else 0
    if event == "Stop":  # the model cannot be told anything here
        return not owed & mark.OWED_TO_USER and not _may_object(moment)
    if event == "UserPromptSubmit" and owed:
        return False
    if armed is None or not armed.above:
        return event == "UserPromptSubmit" and moment.line.used < FIRST_LOOK_TOKENS
    if event == "PostToolUse" and "FORCE_COMPRESSION_CHECK" in os.environ:
        return False
    return not armed.crossed(moment.line.used, moment.spool_bytes, moment.now_ms)


def _may_object(moment: Moment) -> bool:
    """Whether the stop guard is on and may object: much used, a failure, an agent still running."""
    armed, payload = moment.mark, moment.payload
    if armed is None or payload.get("stop_hook_active") is not False:
        return False
    if not armed.stop:
        return os.environ.get("HOLDFAST_STOP_GUARD", "off") != "off" or _settings_changed(moment)
    if moment.line.used >= armed.stop or payload.get("background_tasks"):
        return True
    if places.runs_subtasks(moment.folder):
        return True
    lately = spool.recent(moment.folder, spool.STOP_BYTES)
    return bool(spool.running_agents(lately, moment.now_ms) or spool.failed_tools(lately))


def _settings_changed(moment: Moment) -> bool:
    """Whether the user's settings are newer than the mark: the guard may be on by now."""
    armed_ns = places.changed_ns(os.path.join(moment.folder, "mark"))
    return places.changed_ns(os.path.join(places.home(), "settings.toml")) >= armed_ns


def _note_agent(payload: dict[str, Any], event: str, now_ms: int) -> None:
    """A subagent started or stopped: append a line to its parent's spool; close its window."""
    session_id = scan.text_of(payload, "session_id") or "unknown"
    agent_id, kind = scan.text_of(payload, "agent_id"), scan.text_of(payload, "agent_type")
    if not kind:
        return  # the compaction's own agent has no window and no file
    own = places.window(session_id, agent_id)
    if event == "SubagentStop" and places.has_outbox(own):
        text = _wake("turn").tell_agent_stop(payload, own, now_ms)
        if text:
            return _say(text)  # it continues
    prompt_id = scan.text_of(payload, "prompt_id")  # whose request it works on
    line = spool.SpoolLine(now_ms, event, 0, "agent", agent_id, kind, answer_id=prompt_id)
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


def _in_words(error: BaseException) -> str:
    try:
        words: str = _load("holdfast.wire.errors").describe(error)
        return words
    except BaseException:  # what failed may be the import
        return f"{type(error).__name__}: {error}"


def _report_skip(error: BaseException) -> None:
    """Report in the log, or at least on stderr, why one hook was skipped."""
    text = f"skipped one hook: {_in_words(error)}"
    try:
        log = _load("holdfast.wire.log")
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
