"""The index: what can be found of a project. Derived, all of it: `holdfast rebuild` makes it again.

Two engines, one suite (`tests/contracts/test_recall.py`): a SQLite file per project, PostgreSQL.
"""
