"""Ids of rows. What hooks and transcripts report gets an id made from what it is, so that a thing
reported twice is one row; what somebody writes gets a random one.

No database is loaded here: hooks make ids too.
"""

import itertools
import random
import uuid

from holdfast.wire.spool import ident

_ORDER = itertools.count()
_OURS = uuid.UUID("6f1d7c1e-6c0b-5c7e-9a55-8f3f1b0a7d42")


def make_id(kind: str, *parts: str) -> str:
    """Make the id of something hooks or transcripts report, from what it is."""
    return str(uuid.uuid5(_OURS, "\x1f".join((kind, *parts))))


def is_reported(row_id: str) -> bool:
    """Return True for an id of `make_id`: hooks and transcripts report that row's status."""
    return row_id[14:15] == "5"  # a UUID shows its version there


def new() -> str:
    """Make the random id of a row somebody writes."""
    return str(uuid.uuid4())


def in_order(now_ms: int) -> str:
    """As `new`, but ids of one process sort in the order they were made."""
    order = next(_ORDER) & 0xFFFF_FFFF
    high = (now_ms & 0xFFFF_FFFF_FFFF) << 16 | 0x7000 | order >> 20
    # not `secrets`: a system call, for which a busy server's threads take turns; 50 µs
    low = 0b10 << 62 | (order & 0xF_FFFF) << 42 | random.getrandbits(42)
    return str(uuid.UUID(int=high << 64 | low))


def tidy(path: str) -> str:
    return path.rstrip("/") or "/"


def project_id(path: str) -> str:
    return make_id("project", tidy(path))


def request_id(session_id: str, prompt_key: str) -> str:
    """`prompt_key`: the prompt's id, which hooks know too, or its line's; empty: unknown."""
    return make_id("request", session_id, prompt_key)


def default_task_id(request_id: str) -> str:
    """Make the id of the task for subagents that were started outside any listed task."""
    return make_id("task", request_id)


def task_id(session_id: str, key: str) -> str:
    return make_id("task", session_id, key)


def subtask_id(session_id: str, agent_id: str) -> str:
    return make_id("subtask", session_id, ident(agent_id))


def subtask_of_call(session_id: str, tool_use_id: str) -> str:
    """Make the id for an agent whose own id is not known."""
    return make_id("subtask", session_id, "call", tool_use_id)


def action_id(session_id: str, tool_use_id: str) -> str:
    """Make the same id in the spool, which simplifies odd ids, and in the transcript."""
    return make_id("action", session_id, ident(tool_use_id))


def context_id(session_id: str, agent_id: str) -> str:
    """One row per agent and session: the same name in another session is another agent. The
    session itself is an agent by its session's id."""
    return make_id("agent", session_id, agent_id or session_id)


def checkpoint_row_id(project: str, checkpoint_id: str) -> str:
    return make_id("checkpoint", project, checkpoint_id)


def audit_id(line: str) -> str:
    return make_id("audit", line)
