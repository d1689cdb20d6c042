"""All tables. A database of 0.1.0 or 0.2.0 gets what it lacks, and loses what is derived now.

A new database gets its tables as they are now, so a later revision asks whether what it adds is
there.
"""

import sqlalchemy as sa
from alembic import op

from holdfast.hub.store.tables import actions, metadata

revision = "0006"
down_revision = None
PARTS = 16
# The search index on PostgreSQL: items, their words, their vectors, spread by project. On SQLite
# it is a file per project, beside the database.
_SEARCH = """
CREATE TEXT SEARCH DICTIONARY holdfast_stem (TEMPLATE = snowball, Language = english);
CREATE TEXT SEARCH CONFIGURATION holdfast (COPY = simple);
ALTER TEXT SEARCH CONFIGURATION holdfast ALTER MAPPING FOR asciiword, word, hword, hword_part,
asciihword, hword_asciipart WITH holdfast_stem;
CREATE TABLE recall_projects (project text PRIMARY KEY, items bigint NOT NULL DEFAULT 0, words
bigint NOT NULL DEFAULT 0, vectors bigint NOT NULL DEFAULT 0, embedder text NOT NULL DEFAULT '');
CREATE TABLE recall_sources (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, project text
NOT NULL, machine text NOT NULL, name text NOT NULL, state text NOT NULL, UNIQUE (project,
machine, name));
CREATE TABLE recall_items (project text NOT NULL, place bigint NOT NULL, id text NOT NULL, kind
text NOT NULL, hash text NOT NULL, author text, cold boolean NOT NULL, session text, agent text,
file text, first_turn integer, last_turn integer, uuids text, at text, byte bigint, title text NOT
NULL, text text NOT NULL, more text NOT NULL, length integer NOT NULL, words tsvector NOT NULL,
embedded boolean NOT NULL DEFAULT false, PRIMARY KEY (project, place), UNIQUE (project, id))
PARTITION BY HASH (project);
CREATE INDEX recall_items_by_words ON recall_items USING gin (words) WITH (gin_pending_list_limit
= 1024);
CREATE INDEX recall_items_missing ON recall_items (project, place) WHERE NOT embedded
"""
# The entries are only an index: what an older release wrote is dropped, and read again.
_SEARCH_AGAIN = (
    "DROP TABLE IF EXISTS recall_vectors",
    "DROP TABLE recall_items, recall_sources, recall_projects",
    "DROP TEXT SEARCH CONFIGURATION holdfast",
    "DROP TEXT SEARCH DICTIONARY holdfast_stem",
)


def upgrade() -> None:
    connection = op.get_bind()
    metadata.create_all(connection)
    for table in metadata.sorted_tables:
        for index in table.indexes:
            index.create(connection, checkfirst=True)
    there = sa.inspect(connection)
    if "keywords" not in {column["name"] for column in there.get_columns("actions")}:
        op.add_column("actions", sa.Column("keywords", actions.c.keywords.type, nullable=True))
    for name in ("counts", "tool_counts", "waves"):
        if there.has_table(name):
            op.drop_table(name)
    if connection.dialect.name == "postgresql":
        for statement in _SEARCH_AGAIN if there.has_table("recall_projects") else ():
            op.execute(statement)
        _make_search_tables()


def _make_search_tables() -> None:
    for statement in _SEARCH.split(";"):
        op.execute(statement)
    for number in range(PARTS):
        op.execute(
            f"CREATE TABLE recall_items_{number} PARTITION OF recall_items "
            f"FOR VALUES WITH (MODULUS {PARTS}, REMAINDER {number})"
        )
        # The words that stand in many items are known by name: 10,000 of them, not 1,000.
        op.execute(f"ALTER TABLE recall_items_{number} ALTER words SET STATISTICS 1000")
