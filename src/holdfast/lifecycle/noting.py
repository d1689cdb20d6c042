"""What every hook notes of its session, so that commands run elsewhere see the same edge."""

from __future__ import annotations

import os

from holdfast.client import switches
from holdfast.hook.entry import Moment
from holdfast.window.state import State
from holdfast.wire import scan


def note(state: State, moment: Moment) -> None:
    """Who and where from the payload, the switches from the environment the client gave us."""
    payload, seen = moment.payload, moment.tail
    state.session_id = scan.text_of(payload, "session_id") or state.session_id
    state.agent_id = scan.text_of(payload, "agent_id")
    state.agent_type = scan.text_of(payload, "agent_type") or state.agent_type
    state.transcript = moment.transcript or state.transcript
    state.cwd = scan.text_of(payload, "cwd") or state.cwd
    state.project = os.environ.get("CLAUDE_PROJECT_DIR") or state.project or state.cwd
    state.model = seen.model or scan.text_of(payload, "model") or state.model
    state.client_version = seen.version or state.client_version
    state.at_ms = moment.now_ms
    state.started_ms = state.started_ms or moment.now_ms
    command_line = switches.command_line_of(os.environ.get("CLAUDE_PID", ""))
    state.switches = switches.read(state.project, os.environ, command_line).as_json()


def place(state: State) -> str:
    """A window's short name in the log."""
    agent = f"/{state.agent_id[:8]}" if state.agent_id else ""
    return (state.session_id[:8] or "unknown") + agent
