"""How full each window was at each step, and its compactions, so that both can be shown later."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    json = sa.JSON().with_variant(JSONB(), "postgresql")
    op.create_table(
        "readings",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("chunk", sa.BigInteger(), nullable=False),
        sa.Column("n", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("last_ms", sa.BigInteger(), nullable=False),
        sa.Column("limit_tokens", sa.BigInteger(), nullable=True),
        sa.Column("thinned", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("body", json, nullable=True),
        sa.PrimaryKeyConstraint("session_id", "agent_id", "chunk"),
    )
    op.create_index("readings_by_time", "readings", ["last_ms"], unique=False)
    op.create_table(
        "compactions",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column(
            "project_id",
            sa.Text(),
            sa.ForeignKey("projects.id", ondelete="CASCADE"),
            nullable=True,
        ),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=True),
        sa.Column("trigger", sa.Text(), nullable=True),
        sa.Column("before_tokens", sa.BigInteger(), nullable=True),
        sa.Column("after_tokens", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("session_id", "agent_id", "number"),
    )
    op.create_index("compactions_by_time", "compactions", ["at_ms"], unique=False)
    op.create_index("compactions_by_project", "compactions", ["project_id", "at_ms"], unique=False)
