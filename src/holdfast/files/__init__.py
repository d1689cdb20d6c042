"""Locks, atomic writes, safe folders and digests: one of each for the whole project."""
