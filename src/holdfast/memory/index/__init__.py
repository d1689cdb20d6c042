"""The search index of a project, in a SQLite file per project or in PostgreSQL."""
