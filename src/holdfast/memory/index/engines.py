"""Which engine keeps the index: PostgreSQL where the team's database is one, else files of ours."""

from __future__ import annotations

import os

from holdfast.memory.index.embedded import Embedded
from holdfast.memory.index.shape import Index

VARIABLE = "HOLDFAST_DATABASE"


def is_shared() -> bool:
    return os.environ.get(VARIABLE, "").startswith("postgres")


def opened(project: str) -> Index:
    return Embedded(project)
