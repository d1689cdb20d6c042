"""What speaks against ending a turn: subtasks that run, errors that are open, work that is unsaved.
The stop hook may object, once; `status` always shows the same facts."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.files.executable import console_command
from holdfast.hook.observation import Moment
from holdfast.hub.projection_file import objects_in, read_projection, running, text
from holdfast.record import commands
from holdfast.record import model as known
from holdfast.record.reader import RecordReader
from holdfast.redact.find import redact
from holdfast.settings import load as settings_load
from holdfast.window.make_mark import UNSAVED
from holdfast.window.state import State, load
from holdfast.wire import log, places, spool
from holdfast.wire.errors import describe
from holdfast.wire.log import inert

FORCE = "force-stop"
NAMED_CHARS = 80
MOST_NAMED = 3
# The last message of a turn is its result, also that of `claude -p`: a model that is only told to
# stop again ends with "Nothing left to do."
ANYWAY = (
    "If your answer already covers this, repeat its conclusion in a line or two and stop again. "
    "Holdfast asks only once; the user did not ask this."
)


class StopFacts(NamedTuple):
    """What speaks against an end, as far as known."""

    running: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    unsaved_ratio: float = 0.0
    forced: bool = False
    estimated: bool = False  # the reading behind `unsaved_ratio`
    has_checkpoint: bool = False


def object_to(moment: Moment) -> str:
    """Why the turn should not end yet; empty if it may, or if the guard is off."""
    state = load(moment.folder)
    if settings_load.load(state.project).word("stop_guard") != "on":
        return ""
    facts = find_objections(
        state,
        moment.folder,
        moment.line.used,
        moment.now_ms,
        moment.payload,
        edge_tokens=state.edge_tokens,
        estimated=not moment.tail.is_counted_by_client(),
    )
    reason = judge(facts, console_command())
    if reason:
        log.add("INFO", state.session_id[:8], f"a stop was held up once: {reason}")
    return reason


def judge(facts: StopFacts, command: str) -> str:
    """Why the turn should not end yet; empty if it may. `command` runs Holdfast in any shell."""
    reasons = []
    if facts.running:
        reasons.append(
            f"Still running: {_name_some(facts.running)}. Wait if your answer needs a result, "
            "otherwise say what still runs."
        )
    if facts.errors:
        reasons.append(
            f"Failed and not succeeded since: {_name_some(facts.errors)}. Fix what belongs to the "
            "task, and say what still fails."
        )
    if facts.unsaved_ratio > UNSAVED:
        about = "About " if facts.estimated else ""
        since = (
            "was used since the last checkpoint"
            if facts.has_checkpoint
            else "is used, and this session has no checkpoint"
        )
        reasons.append(
            f"{about}{facts.unsaved_ratio:.0%} of the compaction limit {since}: "
            f"run `{command} checkpoint` to save one."
        )
    if facts.forced or not reasons:
        return ""
    return f"Holdfast: {' '.join([*reasons, ANYWAY])}"


def _name_some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def find_objections(
    state: State,
    folder: str,
    used_tokens: int,
    now_ms: int,
    payload: Mapping[str, Any],
    *,
    edge_tokens: int,
    estimated: bool,
) -> StopFacts:
    lines = spool.recent(folder, spool.STOP_BYTES) if folder else []
    unsaved_tokens = max(0, used_tokens - state.checkpoint_tokens)
    return StopFacts(
        running=tuple(_running(folder, lines, now_ms, payload)),
        errors=tuple(_errors(state, folder, lines)),
        unsaved_ratio=unsaved_tokens / edge_tokens if edge_tokens else 0.0,
        estimated=estimated,
        has_checkpoint=state.checkpoint_ms > 0,
        forced=_is_forced(folder),
    )


def _is_forced(folder: str) -> bool:
    if os.environ.get("HOLDFAST_FORCE_STOP") == "1":
        return True
    return any(os.path.exists(f"{place}/{FORCE}") for place in (places.home(), folder) if place)


def _running(
    folder: str, lines: list[spool.SpoolLine], now_ms: int, payload: Mapping[str, Any]
) -> list[str]:
    """Running subagents: from the hooks' lines, Claude Code's list, and the store."""
    agents = spool.running_agents(lines, now_ms)
    started = {line.tool_use_id for line in lines if line.flags == "agent"}
    for name, kind in _background(payload):
        agents.setdefault(name, kind)
    work = read_projection(folder) if folder else {}
    for part in running(work) if now_ms - work.get("at_ms", 0) < spool.LIVE_MS else ():
        name = text(part, "agent_id") or text(part, "id")
        if name not in started:
            agents.setdefault(name, text(part, "agent_type"))
    return [_quote(f"{kind or 'agent'} {name[:12]}") for name, kind in agents.items()]


def _background(payload: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Agents that Claude Code reports as running. A server left running is not a subtask."""
    for task in objects_in(payload, "background_tasks"):
        kind, name = text(task, "type"), text(task, "agent_id") or text(task, "id")
        is_over = text(task, "status") not in ("", "running", "pending")
        if ("agent" in kind or "agent_id" in task) and name and not is_over:
            yield name, text(task, "agent_type") or kind


def _errors(state: State, folder: str, lines: list[spool.SpoolLine]) -> list[str]:
    """Commands that failed and have not passed since; for other tools, the last call counts."""
    failed = spool.failed_tools(lines)
    failing = _failing(state, folder)
    if failing is None:
        return [_quote(tool) for tool in failed]
    return [*failing, *(_quote(tool) for tool in failed if tool != "Bash")]


def _failing(state: State, folder: str) -> list[str] | None:
    """Failing commands; None if the transcript cannot be read."""
    before = known.load(places.read_small(f"{folder}/record.json", 32 << 20)) if folder else None
    try:
        facts = RecordReader(before, sidechain=bool(state.agent_id)).read(state.transcript)
    except Exception as error:  # a turn ends, and a status is shown, whatever is in the file
        if state.transcript:
            log.add("WARN", state.session_id[:8], f"open errors are not known: {describe(error)}")
        return None
    return [
        f"`{_quote(line)}`"
        for line, failed in commands.failing(facts)
        if facts.op - failed.place.op < spool.OPERATIONS
    ]


def _quote(words: str) -> str:
    """Foreign text for a line that the model reads: one line, short, no secrets."""
    return inert(redact(words), NAMED_CHARS).replace("`", "'")
