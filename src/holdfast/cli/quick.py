"""`holdfast search QUERY` in its plainest forms; whatever is not plain is left to click."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from holdfast.cli.terminal import safe_streams
from holdfast.wire.inert import is_utf8

if TYPE_CHECKING:
    from holdfast.memory.results import Answer

FLAGS = {"--json": "as_json", "--cold": "cold", "--keyword": "by_keyword"}
VALUES = {"--limit": "limit", "-n": "limit", "--project": "project"}
MOST = 200


def answered(words: list[str]) -> int | None:
    """The exit code, as the whole command would end; None where that one must look at it: for
    help, for an error, for another form."""
    given = _given(words)
    if given is None:
        return None
    as_json = given.pop("as_json", False)
    from holdfast.memory.recall import recall

    os.umask(0o077)
    try:
        found = recall(**given)  # type: ignore[arg-type]
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception:
        return None  # it happens there again, and is said in words
    try:
        _show(found, bool(as_json))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0 if found.found else 1


def _show(found: Answer, as_json: bool) -> None:
    from holdfast.cli.search_results import lines

    said, notes = lines(found)
    if as_json:
        import json

        said, notes = [json.dumps(found.plain())], []
    with safe_streams():
        for stream, some in ((sys.stdout, said), (sys.stderr, notes)):
            stream.write("".join(f"{line}\n" for line in some))
            stream.flush()


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
    if not limit.isdecimal() or not 1 <= int(limit[:4]) <= MOST:
        return None
    query = str(given.get("query", ""))
    is_plain = bool(query.strip()) and is_utf8(query)
    return given | {"limit": int(limit)} if is_plain else None
