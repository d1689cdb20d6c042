"""`holdfast search QUERY --json` in its plainest form; whatever is not plain is left to click."""

from __future__ import annotations

import json
import os
import sys

from holdfast.wire.errors import HoldfastError

FLAGS = {"--json": "as_json", "--cold": "cold", "--keyword": "by_keyword"}
VALUES = {"--limit": "limit", "-n": "limit", "--project": "project"}
MOST = 200


def answered(words: list[str]) -> bool:
    """False where the whole command must look at it: for help, for an error, for another form."""
    given = _given(words)
    if given is None or not given.pop("as_json", False):
        return False
    from holdfast.memory.recall import recall

    os.umask(0o077)
    try:
        found = recall(**given)  # type: ignore[arg-type]
    except HoldfastError:
        return False  # said there, in words
    try:
        sys.stdout.write(json.dumps(found.plain()) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return True


def _given(words: list[str]) -> dict[str, object] | None:
    """The arguments of `recall`, or None."""
    given: dict[str, object] = {}
    rest = iter(words)
    for word in rest:
        if word in FLAGS:
            given[FLAGS[word]] = True
        elif word in VALUES:
            given[VALUES[word]] = next(rest, "")
        elif word.startswith("-") or "query" in given:
            return None
        else:
            given["query"] = word
    limit = str(given.get("limit", "10"))
    if not limit.isdecimal() or not 1 <= int(limit[:4]) <= MOST or not given.get("query"):
        return None
    return given | {"limit": int(limit)} if str(given["query"]).strip() else None
