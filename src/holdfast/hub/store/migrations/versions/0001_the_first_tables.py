"""The first tables: the tree of work, agents, messages, windows, and what keeps them in step."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0001"
down_revision = None
Json = sa.JSON().with_variant(JSONB(), "postgresql")
Number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("agent_id", sa.Text(), nullable=True),
        sa.Column("body", Json, nullable=True),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("audit_by_session", "audit", ["session_id", "at_ms"], unique=False)
    op.create_index("audit_by_time", "audit", ["at_ms", "id"], unique=False)
    op.create_table(
        "blockings",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("blocked_by", sa.Text(), nullable=False),
        sa.Column("blocked_agent", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("blocked_by", "blocked_agent", name="one_blocking"),
    )
    op.create_index("blockings_by_blocked", "blockings", ["blocked_agent"], unique=False)
    op.create_table(
        "cleanups",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("ran_ms", sa.BigInteger(), nullable=False),
        sa.Column("figures", Json, nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "counts",
        sa.Column("noun", sa.Text(), nullable=False),
        sa.Column("n", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("noun"),
    )
    op.create_table(
        "events",
        sa.Column("id", Number, autoincrement=True, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=True),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("body", Json, nullable=True),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("events_by_time", "events", ["at_ms"], unique=False)
    op.create_table(
        "positions",
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("position", Json, nullable=True),
        sa.Column("updated_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("source"),
    )
    op.create_table(
        "projects",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("metadata", Json, nullable=True),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("updated_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("path"),
    )
    op.create_index("projects_by_update", "projects", ["updated_ms", "id"], unique=False)
    op.create_table(
        "subscriptions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("callback_url", sa.Text(), nullable=True),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("updated_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("agent_id", "topic", name="one_subscription"),
    )
    op.create_table(
        "waves",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("wave_number", sa.Integer(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("started_ms", sa.BigInteger(), nullable=True),
        sa.Column("completed_ms", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("session_id", "wave_number"),
    )
    op.create_table(
        "agent_contexts",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=True),
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("agent_type", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), nullable=True),
        sa.Column("role_context", Json, nullable=True),
        sa.Column("skills_to_restore", Json, nullable=True),
        sa.Column("tools_used", Json, nullable=True),
        sa.Column("progress_summary", sa.Text(), nullable=True),
        sa.Column("compact_id", sa.Text(), nullable=True),
        sa.Column("updated_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("contexts_by_agent", "agent_contexts", ["agent_id", "updated_ms"], unique=False)
    op.create_index(
        "contexts_by_session",
        "agent_contexts",
        ["session_id", "agent_type", "updated_ms"],
        unique=False,
    )
    op.create_index(
        "contexts_by_type", "agent_contexts", ["agent_type", "updated_ms", "id"], unique=False
    )
    op.create_index("contexts_by_update", "agent_contexts", ["updated_ms", "id"], unique=False)
    op.create_table(
        "claims",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("work", sa.Text(), nullable=False),
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("claimed_ms", sa.BigInteger(), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("project_id", "work"),
    )
    op.create_table(
        "messages",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=True),
        sa.Column("from_agent", sa.Text(), nullable=False),
        sa.Column("to_agent", sa.Text(), nullable=True),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("content", Json, nullable=True),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("messages_by_creation", "messages", ["created_ms", "id"], unique=False)
    op.create_index("messages_by_expiry", "messages", ["expires_ms"], unique=False)
    op.create_index("messages_by_project", "messages", ["project_id", "created_ms"], unique=False)
    op.create_index("messages_by_reader", "messages", ["to_agent", "expires_ms"], unique=False)
    op.create_table(
        "requests",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("prompt", sa.Text(), nullable=False),
        sa.Column("prompt_type", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("metadata", Json, nullable=True),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("completed_ms", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("requests_by_creation", "requests", ["created_ms", "id"], unique=False)
    op.create_index(
        "requests_by_project", "requests", ["project_id", "created_ms", "id"], unique=False
    )
    op.create_index(
        "requests_by_session", "requests", ["session_id", "created_ms", "id"], unique=False
    )
    op.create_index("requests_by_status", "requests", ["status", "created_ms", "id"], unique=False)
    op.create_table(
        "sessions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=True),
        sa.Column("started_ms", sa.BigInteger(), nullable=False),
        sa.Column("ended_ms", sa.BigInteger(), nullable=True),
        sa.Column("total_tools_used", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("total_success", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("total_errors", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("total_duration_ms", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("timed_actions", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("seen_ms", sa.BigInteger(), nullable=True),
        sa.Column("compacted_ms", sa.BigInteger(), nullable=True),
        sa.Column("compact_summary", sa.Text(), nullable=True),
        sa.Column("compact_agent", sa.Text(), nullable=True),
        sa.Column("compact_count", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("sessions_by_end", "sessions", ["ended_ms"], unique=False)
    op.create_index(
        "sessions_by_project", "sessions", ["project_id", "started_ms", "id"], unique=False
    )
    op.create_index("sessions_by_start", "sessions", ["started_ms", "id"], unique=False)
    op.create_table(
        "windows",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=True),
        sa.Column("agent_type", sa.Text(), nullable=True),
        sa.Column("health", Json, nullable=True),
        sa.Column("used_tokens", sa.BigInteger(), nullable=False),
        sa.Column("compact_count", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("compacted_ms", sa.BigInteger(), nullable=True),
        sa.Column("updated_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("session_id", "agent_id"),
    )
    op.create_index("windows_by_agent", "windows", ["agent_id", "updated_ms"], unique=False)
    op.create_index("windows_by_update", "windows", ["updated_ms"], unique=False)
    op.create_table(
        "deliveries",
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["message_id"], ["messages.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("message_id", "agent_id"),
    )
    op.create_index("deliveries_by_agent", "deliveries", ["agent_id"], unique=False)
    op.create_index("deliveries_by_state", "deliveries", ["state", "at_ms"], unique=False)
    op.create_table(
        "tasks",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("wave_number", sa.Integer(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("completed_ms", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("tasks_by_creation", "tasks", ["created_ms", "id"], unique=False)
    op.create_index(
        "tasks_by_request", "tasks", ["request_id", "wave_number", "created_ms"], unique=False
    )
    op.create_index("tasks_by_status", "tasks", ["status", "created_ms", "id"], unique=False)
    op.create_table(
        "subtasks",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("agent_type", sa.Text(), nullable=True),
        sa.Column("agent_id", sa.Text(), nullable=True),
        sa.Column("parent_agent_id", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("max_turns", sa.Integer(), nullable=True),
        sa.Column("blocked_by", Json, nullable=True),
        sa.Column("context_snapshot", Json, nullable=True),
        sa.Column("result", Json, nullable=True),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("started_ms", sa.BigInteger(), nullable=True),
        sa.Column("completed_ms", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("subtasks_by_agent", "subtasks", ["agent_id"], unique=False)
    op.create_index("subtasks_by_creation", "subtasks", ["created_ms", "id"], unique=False)
    op.create_index(
        "subtasks_by_parent", "subtasks", ["parent_agent_id", "created_ms", "id"], unique=False
    )
    op.create_index(
        "subtasks_by_session", "subtasks", ["session_id", "status", "created_ms"], unique=False
    )
    op.create_index("subtasks_by_status", "subtasks", ["status", "created_ms", "id"], unique=False)
    op.create_index("subtasks_by_task", "subtasks", ["task_id", "created_ms", "id"], unique=False)
    op.create_index(
        "subtasks_by_type", "subtasks", ["agent_type", "created_ms", "id"], unique=False
    )
    op.create_table(
        "actions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("project_id", sa.Text(), nullable=True),
        sa.Column("agent_id", sa.Text(), nullable=True),
        sa.Column("subtask_id", sa.Text(), nullable=True),
        sa.Column("tool_name", sa.Text(), nullable=False),
        sa.Column("tool_type", sa.Text(), nullable=False),
        sa.Column("input", sa.Text(), nullable=True),
        sa.Column("output", sa.Text(), nullable=True),
        sa.Column("exit_code", sa.Integer(), nullable=False),
        sa.Column("duration_ms", sa.BigInteger(), nullable=True),
        sa.Column("file_paths", Json, nullable=True),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["subtask_id"], ["subtasks.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("actions_by_creation", "actions", ["created_ms", "id"], unique=False)
    op.create_index("actions_by_project", "actions", ["project_id"], unique=False)
    op.create_index(
        "actions_by_session", "actions", ["session_id", "created_ms", "id"], unique=False
    )
    op.create_index("actions_by_subtask", "actions", ["subtask_id"], unique=False)
    op.create_index("actions_by_tool", "actions", ["tool_name", "created_ms", "id"], unique=False)
    op.create_index("actions_by_type", "actions", ["tool_type", "created_ms", "id"], unique=False)
