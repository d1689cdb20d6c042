"""At the start of a session: record it, offer what was saved; after a compaction, restore it.

A brief that is too long for one output is printed by two hooks, which the client runs at the same
time. The second composes the same brief from the same record, and changes no state.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from holdfast.client import hook_outputs
from holdfast.events import dispatch
from holdfast.hook.observation import Moment
from holdfast.record import storage
from holdfast.session import printed_brief
from holdfast.window import make_mark
from holdfast.window import state as window_state
from holdfast.window.state import State, lock_state_if_possible
from holdfast.wire import log, places, scan
from holdfast.wire.errors import describe

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from holdfast.brief.compose import Brief
    from holdfast.record.model import Record

# A model that was told to make the folder writable would have changed its permissions itself.
GO_ON = "; the user is told. Go on: rules and open work are still restored, from the transcript."
NOT_RESTORED = "the user's rules and open work could not be restored after this compaction"
OUR_HOOK = b"/holdfast/hook/__main__.py"
TWICE = (
    "Holdfast is installed twice, as a plugin and in {path}, so every hook runs twice. Run "
    "`holdfast uninstall{option}`, or `{plugin_command} holdfast`."
)
OFFERED = frozenset(("startup", "resume", "clear", "fork"))


def tell(moment: Moment) -> str:
    source = scan.text_of(moment.payload, "source") or "unknown"
    alarm = unsaved = twice = ""
    with lock_state_if_possible(moment.folder) as state:
        dispatch.record_session(state, moment)
        if source == "compact":
            state.owed = state.second_brief = ""  # they spoke of the window that has ended
            unsaved = _cannot_save()
            alarm, state.crowded = unsaved or state.crowded, ""
        else:
            state.started_ms, state.ended_ms = moment.now_ms, 0
            _ask_settings(state, moment.now_ms)
            twice = _runs_twice(state.project, state.transcript)
        text, failure = _text_for(source, state, moment)
        make_mark.rouse(moment.folder, state)
    started = f"session {source}, model {state.model or 'unknown'}"
    log.add("INFO", dispatch.log_name(state), started)
    if failure:
        return _tell_failure(state, failure)
    if not alarm:
        return hook_outputs.add_context("SessionStart", to_model=text, to_user=twice)
    log.add("ALERT", dispatch.log_name(state), alarm)
    to_user = f"{alarm}. Make that folder writable." if unsaved else alarm
    to_model = f"{alarm}{GO_ON}" if unsaved else alarm
    return hook_outputs.add_context(
        "SessionStart",
        to_model=f"Holdfast: {to_model}\n{text}",
        to_user="" if state.agent_id else f"Holdfast: {to_user}",
    )


def _cannot_save() -> str:
    """Where nothing can be written, nothing can be remembered until the user prompts again."""
    home = places.home()
    if os.access(f"{home}/.", os.W_OK | os.X_OK):
        return ""
    return f"no checkpoint can be saved, as {home} cannot be written"


def _runs_twice(project: str, transcript: str) -> str:
    """What to tell the user if settings run our hooks beside the plugin that runs this one."""
    if "CLAUDE_PLUGIN_ROOT" not in os.environ:
        return ""
    from holdfast.client import agents

    agent = agents.agent_of(transcript)
    for path in agent.files_with_hooks(project, os.environ):
        if OUR_HOOK in _hooks_of(path):
            return TWICE.format(path=path, option=agent.option, plugin_command=agent.plugin_command)
    return ""


def _hooks_of(path: Path) -> bytes:
    """The hooks in a file of settings: a status line of ours beside the plugin is no hook."""
    import json  # only the plugin needs it here

    try:
        settings = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return b""  # the client cannot read it either
    return json.dumps(settings.get("hooks")).encode() if isinstance(settings, dict) else b""


def _ask_settings(state: State, now_ms: int) -> None:
    from holdfast.events import background
    from holdfast.settings import load as settings_load  # a compaction need not ask again

    settings = settings_load.load(state.project)
    state.stop_guard = make_mark.stop_guard(settings)
    state.team = int(bool(settings.word("server")))
    if background.is_copy_due(now_ms):
        background.start_copying(settings)


def _text_for(source: str, state: State, moment: Moment) -> tuple[str, str]:
    """What to print, and what to tell if a brief failed. Errors are logged: a session starts."""
    try:
        if source == "compact":
            return _brief(state, moment), ""
        if source not in OFFERED:
            return "", ""
        from holdfast.brief import checkpoint_brief  # a compaction need not pay for it

        return checkpoint_brief.offer(state.project, state.session_id, moment.now_ms), ""
    except Exception as error:
        words = f"nothing was restored: {describe(error)}"
        log.add("ERROR", dispatch.log_name(state), words)
        if source != "compact":
            return "", ""
        state.restored = {}
        printed_brief.remove_first(moment.folder)  # of the compaction before
        return "", NOT_RESTORED


def _tell_failure(state: State, failure: str) -> str:
    """Tell the model where the words are, and the user that something is wrong."""
    saved = state.checkpoint_path
    where = f"They are in {saved}: read it first." if saved else "Ask for them where you need them."
    return hook_outputs.add_context(
        "SessionStart",
        to_model=f"Holdfast: {failure}; the user is told. {where}",
        to_user="" if state.agent_id else f"Holdfast: {failure}. Run holdfast doctor to see why.",
    )


def _brief(state: State, moment: Moment) -> str:
    from holdfast.budget.compartments import tokens_of, units  # a start need not pay for these
    from holdfast.session import window_brief

    record = storage.read_on(state, moment.folder, moment.is_late)
    brief, halves = _halves(state, moment, record)
    state.restored = dict(window_brief.count_restored(brief))
    printed_brief.leave_first(moment.folder, halves[0])
    window = f"window {record.compactions_now + 1}"
    if not brief.lines:
        log.add("INFO", dispatch.log_name(state), f"nothing to restore in {window}")
        return ""
    which = "brief" if state.agent_id else "first brief"  # a subagent gets no second one
    restored = printed_brief.restored_words(state.restored)
    words = f"{which} of about {tokens_of(units(halves[0])):,} tokens restored in {window}"
    log.add("INFO", dispatch.log_name(state), f"{words}: {restored}".removesuffix(": "))
    return halves[0]


def _halves(state: State, moment: Moment, record: Record) -> tuple[Brief, Sequence[str]]:
    """The brief as it is printed: in one part or in two."""
    from holdfast.brief.compose import halves_of
    from holdfast.session import window_brief

    brief = window_brief.compose_brief(state, moment.folder, record, compacting=True)
    return brief, halves_of(brief)


def tell_second(moment: Moment) -> str:
    """After a compaction: the second half of a brief that is too long for one output."""
    if scan.text_of(moment.payload, "source") != "compact":
        return ""
    from holdfast.budget.compartments import tokens_of, units

    state = window_state.load(moment.folder)
    try:
        dispatch.record_session(state, moment)
        record = storage.read_on(state, moment.folder, moment.is_late)
        text = "".join(_halves(state, moment, record)[1][1:])
        printed_brief.leave_second(moment.folder, state.compacting_ms, text)
    except Exception as error:
        words = f"no second half of the brief: {describe(error)}"
        log.add("ERROR", dispatch.log_name(state), words)
        return ""
    if text:
        words = f"second half of about {tokens_of(units(text)):,} tokens restored"
        log.add("INFO", dispatch.log_name(state), words)
    return hook_outputs.add_context("SessionStart", to_model=text)
