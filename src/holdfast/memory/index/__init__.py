"""The search index of a project. All of it is derived: `holdfast rebuild` makes it again.

Two engines pass one suite (`tests/contracts/test_recall.py`): a SQLite file per project, and
PostgreSQL.
"""
