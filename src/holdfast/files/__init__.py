"""Locks, atomic writes, safe folders and digests: one of each, used by everyone."""
