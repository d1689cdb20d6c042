"""Every table, once. Times are milliseconds since 1970, UTC; ids are texts.

What hooks and transcripts report has ids made from what it is (`ids`); what is reported twice
is one row. Rows people and agents write through the API have random ids.
"""

from itertools import chain
from typing import Any

import sqlalchemy as sa

metadata = sa.MetaData()


class Json(sa.TypeDecorator[Any]):
    """JSON, where nothing is NULL; on PostgreSQL `jsonb`. Its dialect is loaded only there: it
    costs an import of 700 modules a sixth of its time."""

    impl = sa.JSON
    cache_ok = True

    def __init__(self) -> None:
        super().__init__(none_as_null=True)

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[Any]:
        if dialect.name != "postgresql":
            return self.impl_instance
        from sqlalchemy.dialects.postgresql import JSONB

        return dialect.type_descriptor(JSONB(none_as_null=True))


_KINDS = {"int": sa.Integer, "big": sa.BigInteger, "json": Json}


def _table(name: str, *parts: Any, **more: Any) -> sa.Table:
    """Make a table. A text names columns. A column holds text unless another kind follows its name
    (`n:int`), or it is a time (`…_ms`). `!` is never NULL, `=` neither, with this default; a
    `:count` begins with 0. `>projects` refers to a row, and goes with it."""
    expanded = [map(_column, part.split()) if isinstance(part, str) else [part] for part in parts]
    return sa.Table(name, metadata, *chain.from_iterable(expanded), **more)


def _column(word: str) -> sa.Column[Any]:
    word, has_default, default = word.partition("=")
    name, _, parent = word.rstrip("!").partition(">")
    name, _, kind = name.partition(":")
    if kind == "count":
        return sa.Column(name, sa.BigInteger, nullable=False, default=0, server_default="0")
    of = [sa.ForeignKey(f"{parent}.id", ondelete="CASCADE")] if parent else []
    is_time, is_key = name.endswith("_ms"), name == "id"
    more: Any = {"default": int(default) if kind else default} if has_default else {}
    more |= {"primary_key": True} if is_key else {}
    required = is_key or bool(has_default) or word.endswith("!")
    held: Any = sa.BigInteger if is_time else _KINDS.get(kind, sa.Text)
    return sa.Column(name, held, *of, nullable=not required, **more)


def _index(words: str) -> sa.Index:
    return sa.Index(*words.split())


projects = _table(
    "projects",
    "id path! name metadata:json created_ms! updated_ms!",
    sa.UniqueConstraint("path"),
    _index("projects_by_update updated_ms id"),
)

sessions = _table(
    "sessions",
    "id project_id>projects started_ms! ended_ms total_tools_used:count total_success:count",
    "total_errors:count total_duration_ms:count timed_actions:count",
    "seen_ms",  # its last activity
    "compacted_ms compact_summary compact_agent compact_count:count",
    _index("sessions_by_project project_id started_ms id"),
    _index("sessions_by_start started_ms id"),
    _index("sessions_by_end ended_ms"),
)

requests = _table(
    "requests",
    "id project_id>projects! session_id! prompt! prompt_type=other status=active metadata:json",
    "created_ms! completed_ms",
    _index("requests_by_project project_id created_ms id"),
    _index("requests_by_session session_id created_ms id"),
    _index("requests_by_status status created_ms id"),
    _index("requests_by_creation created_ms id"),
)

tasks = _table(
    "tasks",
    "id request_id>requests! name! wave_number:int! status=pending created_ms! completed_ms",
    _index("tasks_by_request request_id wave_number created_ms"),
    _index("tasks_by_status status created_ms id"),
    _index("tasks_by_creation created_ms id"),
)

subtasks = _table(
    "subtasks",
    "id task_id>tasks! session_id! description! agent_type agent_id parent_agent_id",
    "status=pending max_turns:int blocked_by:json context_snapshot:json result:json",
    "created_ms! started_ms completed_ms",
    _index("subtasks_by_task task_id created_ms id"),
    _index("subtasks_by_session session_id status created_ms"),
    _index("subtasks_by_status status created_ms id"),
    _index("subtasks_by_agent agent_id"),
    _index("subtasks_by_type agent_type created_ms id"),
    _index("subtasks_by_parent parent_agent_id created_ms id"),
    _index("subtasks_by_creation created_ms id"),
)

actions = _table(
    "actions",
    "id session_id project_id>projects agent_id subtask_id>subtasks tool_name! tool_type! input",
    "output exit_code:int=0 duration_ms file_paths:json created_ms! keywords:json",
    _index("actions_by_session session_id created_ms id"),
    _index("actions_by_subtask subtask_id"),
    _index("actions_by_project project_id"),
    _index("actions_by_creation created_ms id"),
    _index("actions_by_tool tool_name created_ms id"),
    _index("actions_by_type tool_type created_ms id"),
)

messages = _table(
    "messages",
    "id project_id>projects from_agent!",
    "to_agent",  # none: everybody on the project
    "topic! content:json priority:int=0 created_ms! expires_ms!",
    _index("messages_by_reader to_agent expires_ms"),
    _index("messages_by_project project_id created_ms"),
    _index("messages_by_creation created_ms id"),
    _index("messages_by_expiry expires_ms"),
)

deliveries = _table(
    "deliveries",
    "message_id>messages! agent_id!",
    "state!",  # claimed: printed by a hook; read: it reached the agent
    "at_ms!",
    sa.PrimaryKeyConstraint("message_id", "agent_id"),
    _index("deliveries_by_agent agent_id"),
    _index("deliveries_by_state state at_ms"),
)

subscriptions = _table(
    "subscriptions",
    "id agent_id! topic! callback_url created_ms! updated_ms!",
    sa.UniqueConstraint("agent_id", "topic", name="one_subscription"),
)

blockings = _table(
    "blockings",
    "id blocked_by! blocked_agent! reason created_ms!",
    sa.UniqueConstraint("blocked_by", "blocked_agent", name="one_blocking"),
    _index("blockings_by_blocked blocked_agent"),
)

agent_contexts = _table(
    "agent_contexts",
    "id project_id>projects agent_id! agent_type! session_id status role_context:json",
    "skills_to_restore:json tools_used:json progress_summary compact_id updated_ms!",
    _index("contexts_by_session session_id agent_type updated_ms"),
    _index("contexts_by_agent agent_id updated_ms"),
    _index("contexts_by_type agent_type updated_ms id"),
    _index("contexts_by_update updated_ms id"),
    _index("contexts_by_project project_id updated_ms id"),
)

windows = _table(
    "windows",
    "session_id!",
    "agent_id=",  # empty: the session itself
    "project_id>projects agent_type",
    "health:json",  # as `holdfast status --json` says it
    "used_tokens:big=0 compact_count:count compacted_ms updated_ms!",
    sa.PrimaryKeyConstraint("session_id", "agent_id"),
    _index("windows_by_agent agent_id updated_ms"),
    _index("windows_by_update updated_ms"),
)

# So many steps of a window in one row: rows of one step each are nearly three times as large.
readings = _table(
    "readings",
    "session_id! agent_id= chunk:big! n:count last_ms! limit_tokens:big",
    "thinned:count",  # nothing is thinned any more
    "body:json",  # step, ms and used: one list of numbers each
    sa.PrimaryKeyConstraint("session_id", "agent_id", "chunk"),
    _index("readings_by_time last_ms"),
)

compactions = _table(
    "compactions",
    "session_id! agent_id= number:big! project_id>projects at_ms! step:big trigger",
    "before_tokens:big after_tokens:big",
    sa.PrimaryKeyConstraint("session_id", "agent_id", "number"),
    _index("compactions_by_time at_ms"),
    _index("compactions_by_project project_id at_ms"),
)

claims = _table(
    "claims",
    "project_id>projects! work! agent_id! claimed_ms! expires_ms!",
    sa.PrimaryKeyConstraint("project_id", "work"),
)

audit = _table(
    "audit",
    "id kind! session_id agent_id body:json at_ms!",
    _index("audit_by_session session_id at_ms"),
    _index("audit_by_time at_ms id"),
)

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
events = _table(
    "events",
    sa.Column("id", _NUMBER, primary_key=True, autoincrement=True),
    "kind! project_id session_id body:json at_ms!",
    _index("events_by_time at_ms"),
    sqlite_autoincrement=True,  # a number is never given twice: listeners ask "what came after?"
)

positions = _table(
    "positions", "source! position:json updated_ms!", sa.PrimaryKeyConstraint("source")
)

cleanups = _table("cleanups", "id ran_ms! figures:json")
