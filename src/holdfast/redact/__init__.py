"""Secrets out, before anything is stored or injected: `[redacted: github token]` in their place.

A secret is known by its shape or by the name it is given, never by how random it looks alone, so
commit ids, hashes and uuids stay. Importing this costs `re` and nothing else.
"""

from holdfast.redact.find import are_clean, find, redact, which_are_clean
from holdfast.redact.finding import Finding
from holdfast.redact.json_values import redact_answer, redact_each, without_named

__all__ = [
    "Finding",
    "are_clean",
    "find",
    "redact",
    "redact_answer",
    "redact_each",
    "which_are_clean",
    "without_named",
]
