"""The status line: fill, zone, tokens, forecast, checkpoint and model, after the user's own.

Claude Code calls it after every answer and passes what hooks never get: the size of the window.
That is recorded, and so is its token count, for when no usage can be read. The user's own command
runs for three seconds at most, in a process group of its own.
"""

import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from holdfast.client import compaction_limit, limit_settings
from holdfast.settings import load as settings_load
from holdfast.window import guard, velocity
from holdfast.window.state import State, load
from holdfast.wire import log, mark, places, scan, tail
from holdfast.wire.errors import describe
from holdfast.wire.log import inert

BAR = 10
MOST_MODEL = 40
MINIMAL, FULL = "minimal", "full"
COLOURS = {"green": "32", "yellow": "33", "orange": "38;5;208", "red": "1;31", "compacting": "36"}
DIM = "2"
SECONDS = 3.0
MOST_BYTES = 64 << 10


def show(payload: dict[str, Any], data: bytes, theirs: str = "") -> str:
    """The user's line, then ours. An error of ours never hides the user's line."""
    first = run_user_line(theirs, data)
    if os.environ.get("HOLDFAST_DISABLE") == "1":
        return first
    folder = places.window(scan.text_of(payload, "session_id") or "unknown")
    try:
        _note(folder, payload)
    except OSError as error:
        log.add("ERROR", "statusline", f"nothing was noted: {error}")
    try:
        return f"{first}{_ours(folder, payload)}\n"
    except (OSError, ValueError) as error:
        log.add("ERROR", "statusline", f"no line: {describe(error)}")
        return first


def _ours(folder: str, payload: dict[str, Any]) -> str:
    state = load(folder)
    density = state.density or mark.CHARS_PER_TOKEN
    end = tail.read(scan.text_of(payload, "transcript_path"), False, density)
    used = end.used_tokens(density, state.overhead_tokens)
    about = "" if end.is_counted_by_client() else "about "
    if end.basis == "none":
        used, about = _client_tokens(payload), ""  # the client's own count, of this moment
    if not used:
        return _colour("unknown", "holdfast: the fill is known after the first answer")
    edge_tokens = state.edge_tokens or _edge_tokens(payload, used)
    settings = settings_load.load(state.project or _project(payload))
    ratio = used / edge_tokens
    if state.compacting_answer and state.compacting_answer == end.answer_id:
        return _colour("compacting", "holdfast: compacting …")
    zone = guard.place(ratio, guard.Thresholds.of(settings).zones).name.lower()
    is_of_now = state.alert and end.basis == "usage"  # not yet after a compaction: it was before it
    alert = guard.Alert(min(state.alert, guard.Alert.CRITICAL)).name.lower() if is_of_now else ""
    facts = StatusFacts(used, edge_tokens, zone, alert, about, _model(payload))
    if end.basis == "usage" and state.velocity > 0:
        facts = replace(facts, **_forecast(state, edge_tokens - used))
    return format_line(facts, settings.word("status_line"))


@dataclass(frozen=True, slots=True)
class StatusFacts:
    """What a line may show; empty or None if it is not known."""

    used_tokens: int
    edge_tokens: int
    zone: str
    alert: str = ""
    about: str = ""
    model: str = ""
    ops_left: int | None = None
    pace_ms: float | None = None
    saved: str = ""


def format_line(facts: StatusFacts, preset: str) -> str:
    """default: zone, tokens, steps left and checkpoint too; full: minutes and model as well."""
    ratio = facts.used_tokens / facts.edge_tokens
    head = f"{_bar(ratio)} {facts.about}{ratio:.0%}"
    if preset == MINIMAL:
        rest = []
    else:
        head += f" {facts.zone}"
        pace_ms = facts.pace_ms if preset == FULL else None
        steps = velocity.in_words(facts.ops_left, pace_ms)
        tokens = f"{_thousands(facts.used_tokens)}/{_thousands(facts.edge_tokens)}"
        rest = [tokens, f"{steps} left" if steps else "", facts.saved]
        rest += [facts.model] if preset == FULL else []
    rest += ["/compact now"] if facts.alert == "critical" else []
    more = "".join(f" · {part}" for part in rest if part)
    return _colour(facts.zone, head) + (_colour("", more) if more else "")


def _thousands(tokens: int) -> str:
    return f"{tokens / 1000:,.0f}k" if tokens >= 1000 else str(tokens)


def _forecast(state: State, room: int) -> dict[str, Any]:
    """The steps left, from what hooks measured, and the age of the last checkpoint."""
    ops_left, _, _ = velocity.steps_left(room, state.growth)
    found = {"ops_left": ops_left, "pace_ms": state.pace_ms or None}
    if not state.checkpoint_trigger:
        return found
    minutes_ago = max(0, int(time.time() * 1000) - state.saved_ms) // 60_000
    saved = f"saved {minutes_ago} min ago" if minutes_ago else "saved just now"
    return {**found, "saved": saved}


def _model(payload: dict[str, Any]) -> str:
    model = _part(payload, "model")
    return inert(scan.text_of(model, "display_name") or scan.text_of(model, "id"), MOST_MODEL)


def _bar(ratio: float) -> str:
    filled = min(BAR, max(0, round(ratio * BAR)))
    return "▓" * filled + "░" * (BAR - filled)


def _colour(zone: str, text: str) -> str:
    if os.environ.get("NO_COLOR"):
        return text
    return f"\033[{COLOURS.get(zone, DIM)}m{text}\033[0m"


def _note(folder: str, payload: dict[str, Any]) -> None:
    if not scan.text_of(payload, "session_id"):
        return  # tried by hand: there is no window to note anything of
    size = _part(payload, "context_window").get("context_window_size")
    if not isinstance(size, int) or isinstance(size, bool) or not 0 < size < tail.MOST_TOKENS:
        return
    Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    note = {
        "version": 1,
        "at_ms": int(time.time() * 1000),
        "used_tokens": _client_tokens(payload),
        "window_tokens": size,
    }
    places.replace_whole(f"{folder}/statusline.json", json.dumps(note).encode())


def _client_tokens(payload: dict[str, Any]) -> int:
    """Claude Code's own count; 0 before the first answer and right after a compaction."""
    window = _part(payload, "context_window")
    counts = [window.get("total_input_tokens"), window.get("total_output_tokens")]
    return sum(n for n in counts if type(n) is int and 0 <= n < tail.MOST_TOKENS)


def _edge_tokens(payload: dict[str, Any], used: int) -> int:
    """The limit before any hook has recorded one, from the model and the settings."""
    size = _part(payload, "context_window").get("context_window_size")
    found = compaction_limit.find(
        scan.text_of(_part(payload, "model"), "id"),
        scan.text_of(payload, "version"),
        limit_settings.read(_project(payload)),
        used_tokens=used,
        stated_window=size if type(size) is int else None,
    )
    return found.edge_tokens


def _project(payload: dict[str, Any]) -> str:
    project = scan.text_of(_part(payload, "workspace"), "project_dir")
    return project or os.environ.get("CLAUDE_PROJECT_DIR") or scan.text_of(payload, "cwd")


def _part(payload: dict[str, Any], name: str) -> dict[str, Any]:
    value = payload.get(name)
    return value if isinstance(value, dict) else {}


def run_user_line(command: str, data: bytes) -> str:
    """What the user's command printed, with a newline at the end; empty if it is slow or fails."""
    if not command:
        return ""
    child: subprocess.Popen[bytes] | None = None
    cancelled = 0

    def end(number: int, _frame: object) -> None:
        """Claude Code cancels a status line by a signal, which another group does not get."""
        nonlocal cancelled
        cancelled = number
        if child is not None:
            _end_group(child)
            os._exit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        child = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        if cancelled:  # while it was started
            end(cancelled, None)
        printed = _output_of(child, data)
    except (OSError, ValueError):  # ValueError: a NUL in the command
        return ""
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    text = printed.decode("utf-8", "replace").rstrip("\n")
    return text + "\n" if text else ""


def _output_of(child: subprocess.Popen[bytes], data: bytes) -> bytes:
    with child:
        try:
            return child.communicate(data, timeout=SECONDS)[0][:MOST_BYTES]
        except subprocess.TimeoutExpired:
            _end_group(child)
            return b""


def _end_group(child: subprocess.Popen[bytes]) -> None:
    """End the group. Until the child is reaped, its id is not reused."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
