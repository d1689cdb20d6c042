"""Alembic's folder: one file per version, added and never edited."""
