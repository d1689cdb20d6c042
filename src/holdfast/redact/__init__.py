"""Secrets out, before anything is stored or injected: `[redacted: github token]` in their place.

A secret is known by its shape or by the name it is given, never by how random it looks alone, so
commit ids, hashes and uuids stay. To add a kind, see `kinds`.
"""
