"""At the end of a turn: tell the user what the model has already read. If the user turned the stop
guard on and something is undone, the turn goes on once, with a reason.

Nothing else is printed for the model: any context here would start the turn again.
"""

from __future__ import annotations

from holdfast.client import hook_outputs
from holdfast.events import alerting
from holdfast.hook.observation import Moment
from holdfast.wire import log


def tell(moment: Moment) -> str:
    owed = alerting.pay(moment)
    reason = _reason(moment) if _may_object(moment) else ""
    if reason:
        return hook_outputs.block_stop(reason, to_user=owed)
    return hook_outputs.add_context("Stop", to_user=owed)


def _may_object(moment: Moment) -> bool:
    """Never twice in a row, and not for a subagent."""
    again = moment.payload.get("stop_hook_active") is not False
    return not again and not moment.payload.get("agent_id")


def _reason(moment: Moment) -> str:
    from holdfast.events import record_session, stop_objections  # only a guarded stop pays for it
    from holdfast.files.executable import console_command
    from holdfast.settings import load as settings_load
    from holdfast.window import stop_guard
    from holdfast.window.state import load

    state = load(moment.folder)
    if settings_load.load(state.project).word("stop_guard") != "on":
        return ""
    used, now_ms = moment.line.used, moment.now_ms
    guessed = not moment.tail.is_counted_by_client()
    found = stop_objections.find_objections(
        state,
        moment.folder,
        used,
        now_ms,
        moment.payload,
        edge_tokens=state.edge_tokens,
        estimated=guessed,
    )
    reason = stop_guard.judge(found, console_command())
    if reason:
        log.add("INFO", record_session.log_name(state), f"a stop was held up once: {reason}")
    return reason
