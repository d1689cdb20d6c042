"""Processes whose clock is wrong, with libfaketime."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def faketime() -> str:
    """The library that shows a process another time; empty if it is not installed."""
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    return str(found[0]) if found else ""
