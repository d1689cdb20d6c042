"""How many calls of each tool there were, and what an agent did in a project by an index."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "tool_counts",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("tool_name", sa.Text(), nullable=False),
        sa.Column("tool_type", sa.Text(), nullable=False),
        sa.Column("n", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("project_id", "tool_name", "tool_type"),
    )
    op.execute(
        """INSERT INTO tool_counts (project_id, tool_name, tool_type, n)
        SELECT coalesce(project_id, ''), tool_name, tool_type, count(*)
        FROM actions GROUP BY coalesce(project_id, ''), tool_name, tool_type"""
    )
    op.create_index(
        "contexts_by_project", "agent_contexts", ["project_id", "updated_ms", "id"], unique=False
    )
