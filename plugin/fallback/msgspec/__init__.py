"""The part of msgspec that a hook of Holdfast uses, with `json` of the standard library.

A plugin cannot hold compiled packages for every platform. Until its environment is built, hooks
read transcripts with this one: slower, and with the same results. It must be named msgspec, because
readers, records and briefs are the same code either way.
"""

from __future__ import annotations

from msgspec import json, structs
from msgspec.structs import (
    UNSET,
    DecodeError,
    Meta,
    MsgspecError,
    Raw,
    Struct,
    UnsetType,
    ValidationError,
    field,
)
from msgspec.values import convert, to_builtins

__all__ = [
    "UNSET",
    "DecodeError",
    "Meta",
    "MsgspecError",
    "Raw",
    "Struct",
    "UnsetType",
    "ValidationError",
    "convert",
    "field",
    "json",
    "structs",
    "to_builtins",
]
