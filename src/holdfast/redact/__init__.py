"""Secrets out, before anything is stored or injected: `[redacted: github token]` in their place.

A secret is known by its shape or by the name it is given, never by how random it looks alone, so
commit ids, hashes and uuids stay. Importing this costs `re` and nothing else.

To add a kind: a token with a known beginning goes into `token_prefixes`, any other shape
into `shapes`, a new name for a password or key into `names`.
"""

from holdfast.redact.find import (
    are_clean,
    find,
    redact,
    redact_answer,
    redact_each,
    redact_named_values,
    which_are_clean,
)
from holdfast.redact.rule import SecretFinding

__all__ = [
    "SecretFinding",
    "are_clean",
    "find",
    "redact",
    "redact_answer",
    "redact_each",
    "redact_named_values",
    "which_are_clean",
]
