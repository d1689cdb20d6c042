"""Every table, once. Times are milliseconds since 1970, UTC; ids are texts.

What hooks and transcripts report has ids made from what it is (`ids`); what is reported twice
is one row. Rows people and agents write through the API have random ids.
"""

from __future__ import annotations

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


def _id() -> sa.Column[str]:
    return sa.Column("id", sa.Text, primary_key=True)


def _ms(name: str, *, required: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=not required)


def _text(name: str, *, required: bool = False, default: str | None = None) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=not required, default=default)


def _json(name: str) -> sa.Column[object]:
    return sa.Column(name, Json, nullable=True)


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False, default=0, server_default="0")


def _texts(*names: str, required: bool = False) -> list[sa.Column[str]]:
    return [_text(name, required=required) for name in names]


def _times(*names: str, required: bool = False) -> list[sa.Column[int]]:
    return [_ms(name, required=required) for name in names]


def _jsons(*names: str) -> list[sa.Column[object]]:
    return [_json(name) for name in names]


def _counts(*names: str) -> list[sa.Column[int]]:
    return [_count(name) for name in names]


def _of(table: str, name: str, *, required: bool = False) -> sa.Column[str]:
    """A row that goes when the row it belongs to goes."""
    return sa.Column(
        name, sa.Text, sa.ForeignKey(f"{table}.id", ondelete="CASCADE"), nullable=not required
    )


projects = sa.Table(
    "projects",
    metadata,
    _id(),
    sa.Column("path", sa.Text, nullable=False, unique=True),
    _text("name"),
    _json("metadata"),
    *_times("created_ms", "updated_ms", required=True),
    sa.Index("projects_by_update", "updated_ms", "id"),
)

sessions = sa.Table(
    "sessions",
    metadata,
    _id(),
    _of("projects", "project_id"),
    _ms("started_ms", required=True),
    _ms("ended_ms"),
    *_counts(
        "total_tools_used", "total_success", "total_errors", "total_duration_ms", "timed_actions"
    ),
    _ms("seen_ms"),  # its last activity
    _ms("compacted_ms"),
    *_texts("compact_summary", "compact_agent"),
    _count("compact_count"),
    sa.Index("sessions_by_project", "project_id", "started_ms", "id"),
    sa.Index("sessions_by_start", "started_ms", "id"),
    sa.Index("sessions_by_end", "ended_ms"),
)

requests = sa.Table(
    "requests",
    metadata,
    _id(),
    _of("projects", "project_id", required=True),
    *_texts("session_id", "prompt", required=True),
    _text("prompt_type", required=True, default="other"),
    _text("status", required=True, default="active"),
    _json("metadata"),
    _ms("created_ms", required=True),
    _ms("completed_ms"),
    sa.Index("requests_by_project", "project_id", "created_ms", "id"),
    sa.Index("requests_by_session", "session_id", "created_ms", "id"),
    sa.Index("requests_by_status", "status", "created_ms", "id"),
    sa.Index("requests_by_creation", "created_ms", "id"),
)

tasks = sa.Table(
    "tasks",
    metadata,
    _id(),
    _of("requests", "request_id", required=True),
    _text("name", required=True),
    sa.Column("wave_number", sa.Integer, nullable=False),
    _text("status", required=True, default="pending"),
    _ms("created_ms", required=True),
    _ms("completed_ms"),
    sa.Index("tasks_by_request", "request_id", "wave_number", "created_ms"),
    sa.Index("tasks_by_status", "status", "created_ms", "id"),
    sa.Index("tasks_by_creation", "created_ms", "id"),
)

subtasks = sa.Table(
    "subtasks",
    metadata,
    _id(),
    _of("tasks", "task_id", required=True),
    *_texts("session_id", "description", required=True),
    *_texts("agent_type", "agent_id", "parent_agent_id"),
    _text("status", required=True, default="pending"),
    sa.Column("max_turns", sa.Integer),
    *_jsons("blocked_by", "context_snapshot", "result"),
    _ms("created_ms", required=True),
    *_times("started_ms", "completed_ms"),
    sa.Index("subtasks_by_task", "task_id", "created_ms", "id"),
    sa.Index("subtasks_by_session", "session_id", "status", "created_ms"),
    sa.Index("subtasks_by_status", "status", "created_ms", "id"),
    sa.Index("subtasks_by_agent", "agent_id"),
    sa.Index("subtasks_by_type", "agent_type", "created_ms", "id"),
    sa.Index("subtasks_by_parent", "parent_agent_id", "created_ms", "id"),
    sa.Index("subtasks_by_creation", "created_ms", "id"),
)

actions = sa.Table(
    "actions",
    metadata,
    _id(),
    _text("session_id"),
    _of("projects", "project_id"),
    _text("agent_id"),
    _of("subtasks", "subtask_id"),
    *_texts("tool_name", "tool_type", required=True),
    *_texts("input", "output"),
    sa.Column("exit_code", sa.Integer, nullable=False, default=0),
    sa.Column("duration_ms", sa.BigInteger),
    _json("file_paths"),
    _ms("created_ms", required=True),
    _json("keywords"),
    sa.Index("actions_by_session", "session_id", "created_ms", "id"),
    sa.Index("actions_by_subtask", "subtask_id"),
    sa.Index("actions_by_project", "project_id"),
    sa.Index("actions_by_creation", "created_ms", "id"),
    sa.Index("actions_by_tool", "tool_name", "created_ms", "id"),
    sa.Index("actions_by_type", "tool_type", "created_ms", "id"),
)

messages = sa.Table(
    "messages",
    metadata,
    _id(),
    _of("projects", "project_id"),
    _text("from_agent", required=True),
    _text("to_agent"),  # none: everybody on the project
    _text("topic", required=True),
    _json("content"),
    sa.Column("priority", sa.Integer, nullable=False, default=0),
    *_times("created_ms", "expires_ms", required=True),
    sa.Index("messages_by_reader", "to_agent", "expires_ms"),
    sa.Index("messages_by_project", "project_id", "created_ms"),
    sa.Index("messages_by_creation", "created_ms", "id"),
    sa.Index("messages_by_expiry", "expires_ms"),
)

deliveries = sa.Table(
    "deliveries",
    metadata,
    _of("messages", "message_id", required=True),
    _text("agent_id", required=True),
    _text("state", required=True),  # claimed: printed by a hook; read: it reached the agent
    _ms("at_ms", required=True),
    sa.PrimaryKeyConstraint("message_id", "agent_id"),
    sa.Index("deliveries_by_agent", "agent_id"),
    sa.Index("deliveries_by_state", "state", "at_ms"),
)

subscriptions = sa.Table(
    "subscriptions",
    metadata,
    _id(),
    *_texts("agent_id", "topic", required=True),
    _text("callback_url"),
    *_times("created_ms", "updated_ms", required=True),
    sa.UniqueConstraint("agent_id", "topic", name="one_subscription"),
)

blockings = sa.Table(
    "blockings",
    metadata,
    _id(),
    *_texts("blocked_by", "blocked_agent", required=True),
    _text("reason"),
    _ms("created_ms", required=True),
    sa.UniqueConstraint("blocked_by", "blocked_agent", name="one_blocking"),
    sa.Index("blockings_by_blocked", "blocked_agent"),
)

agent_contexts = sa.Table(
    "agent_contexts",
    metadata,
    _id(),
    _of("projects", "project_id"),
    *_texts("agent_id", "agent_type", required=True),
    *_texts("session_id", "status"),
    *_jsons("role_context", "skills_to_restore", "tools_used"),
    *_texts("progress_summary", "compact_id"),
    _ms("updated_ms", required=True),
    sa.Index("contexts_by_session", "session_id", "agent_type", "updated_ms"),
    sa.Index("contexts_by_agent", "agent_id", "updated_ms"),
    sa.Index("contexts_by_type", "agent_type", "updated_ms", "id"),
    sa.Index("contexts_by_update", "updated_ms", "id"),
    sa.Index("contexts_by_project", "project_id", "updated_ms", "id"),
)

windows = sa.Table(
    "windows",
    metadata,
    _text("session_id", required=True),
    _text("agent_id", required=True, default=""),  # empty: the session itself
    _of("projects", "project_id"),
    _text("agent_type"),
    _json("health"),  # as `holdfast status --json` says it
    sa.Column("used_tokens", sa.BigInteger, nullable=False, default=0),
    _count("compact_count"),
    _ms("compacted_ms"),
    _ms("updated_ms", required=True),
    sa.PrimaryKeyConstraint("session_id", "agent_id"),
    sa.Index("windows_by_agent", "agent_id", "updated_ms"),
    sa.Index("windows_by_update", "updated_ms"),
)

# So many steps of a window in one row: rows of one step each are nearly three times as large.
readings = sa.Table(
    "readings",
    metadata,
    _text("session_id", required=True),
    _text("agent_id", required=True, default=""),
    sa.Column("chunk", sa.BigInteger, nullable=False),
    _count("n"),
    _ms("last_ms", required=True),
    sa.Column("limit_tokens", sa.BigInteger, nullable=True),
    _count("thinned"),  # how often
    _json("body"),  # step, ms and used: one list of numbers each
    sa.PrimaryKeyConstraint("session_id", "agent_id", "chunk"),
    sa.Index("readings_by_time", "last_ms"),
)

compactions = sa.Table(
    "compactions",
    metadata,
    _text("session_id", required=True),
    _text("agent_id", required=True, default=""),
    sa.Column("number", sa.BigInteger, nullable=False),
    _of("projects", "project_id"),
    _ms("at_ms", required=True),
    sa.Column("step", sa.BigInteger, nullable=True),
    _text("trigger"),
    sa.Column("before_tokens", sa.BigInteger, nullable=True),
    sa.Column("after_tokens", sa.BigInteger, nullable=True),
    sa.PrimaryKeyConstraint("session_id", "agent_id", "number"),
    sa.Index("compactions_by_time", "at_ms"),
    sa.Index("compactions_by_project", "project_id", "at_ms"),
)

claims = sa.Table(
    "claims",
    metadata,
    _of("projects", "project_id", required=True),
    *_texts("work", "agent_id", required=True),
    *_times("claimed_ms", "expires_ms", required=True),
    sa.PrimaryKeyConstraint("project_id", "work"),
)

audit = sa.Table(
    "audit",
    metadata,
    _id(),
    _text("kind", required=True),
    *_texts("session_id", "agent_id"),
    _json("body"),
    _ms("at_ms", required=True),
    sa.Index("audit_by_session", "session_id", "at_ms"),
    sa.Index("audit_by_time", "at_ms", "id"),
)

events = sa.Table(
    "events",
    metadata,
    sa.Column(
        "id",
        sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
        primary_key=True,
        autoincrement=True,
    ),
    _text("kind", required=True),
    *_texts("project_id", "session_id"),
    _json("body"),
    _ms("at_ms", required=True),
    sa.Index("events_by_time", "at_ms"),
    sqlite_autoincrement=True,  # a number is never given twice: listeners ask "what came after?"
)

positions = sa.Table(
    "positions",
    metadata,
    sa.Column("source", sa.Text, primary_key=True),
    _json("position"),
    _ms("updated_ms", required=True),
)

cleanups = sa.Table("cleanups", metadata, _id(), _ms("ran_ms", required=True), _json("figures"))
