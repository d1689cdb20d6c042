"""Long tool outputs: stored whole on disk, shown to the model in part.

Each output is one owner-only file whose first line describes it. The model sees a preview, head
and end; excerpts return the rest.
"""

import json
import os
import re
from contextlib import suppress
from typing import Any, NamedTuple

from holdfast.files import small_files
from holdfast.files.small_files import NotStored
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError
from holdfast.wire.scan import parse_object

TIME_LIMIT = "outputs are saved for a limited time (archive_days, archive_megabytes); run it again"
VERSION = 1
MOST_BYTES = 64 << 20
DAY_SECONDS = 86_400
_ID = re.compile(r"out-[0-9a-f]{8}")
HEAD_CHARS, TAIL_CHARS = 1_200, 1_000
AROUND = 2
LONGEST_FOUND_LINE = 400


def is_output(word: str) -> bool:
    return _ID.fullmatch(word) is not None


def folder() -> str:
    return f"{places.home()}/outputs"


def new_id() -> str:
    return f"out-{os.urandom(4).hex()}"


def keep(output_id: str, text: str, about: dict[str, Any]) -> None:
    """Write an output to disk, whole, before its id is shown. The caller has redacted it."""
    head = json.dumps({"version": VERSION, **about}).encode()
    data = head + b"\n" + text.encode("utf-8", "replace")
    small_files.put_new(_path(output_id), data)  # refuses to take another's place


def load(output_id: str) -> str:
    if not is_output(output_id):
        raise HoldfastError(f"{output_id[:40]!r} is not the id of an output", TIME_LIMIT)
    data = places.read_small(_path(output_id), MOST_BYTES)
    head, _, text = data.partition(b"\n")
    if parse_object(head).get("version") != VERSION:
        raise HoldfastError(f"there is no output {output_id}, or not any more", TIME_LIMIT)
    return text.decode("utf-8", "replace")


def find_ids(start: str) -> list[str]:
    names = small_files.stems(folder(), ".txt")
    return [name for name in names if is_output(name) and name.startswith(start)]


def prune(days: float, most_bytes: int, now: float) -> int:
    """Delete outputs that are too old, then the oldest until the rest fits; how many."""
    outputs = []
    for path in map(_path, find_ids("out-")):
        with suppress(OSError):
            about = os.lstat(path)
            outputs.append((about.st_mtime, about.st_size, path))
    kept = dropped = 0
    for at, size, path in sorted(outputs, reverse=True):
        kept += size
        if now - at > days * DAY_SECONDS or kept > most_bytes:
            with suppress(NotStored):
                small_files.remove(path)
            dropped += 1
    return dropped


def _path(output_id: str) -> str:
    return f"{folder()}/{output_id}.txt"


def preview(text: str, output_id: str) -> str:
    """The beginning and the end of a long output, and how to get the rest."""
    line = text.rfind("\n", HEAD_CHARS // 2, HEAD_CHARS)
    end = line + 1 if line >= 0 else HEAD_CHARS
    start = len(text) - TAIL_CHARS
    line = text.find("\n", start, start + TAIL_CHARS // 2)
    start = line + 1 if line >= 0 else start
    hidden, first = text[end:start], text.count("\n", 0, end) + 1
    last = first + hidden.removesuffix("\n").count("\n")
    gap = "" if text[end - 1 : end] == "\n" else "\n"
    return (
        f"{text[:end]}{gap}[holdfast: lines {first}-{last} are not shown here, "
        f"{len(hidden):,} of {len(text):,} characters; all are saved as {output_id}. To read on: "
        f'tool expand with id "{output_id}" and find (words) or offset; or '
        f"`holdfast expand {output_id}`]\n{text[start:]}"
    )


class Excerpt(NamedTuple):
    """A part of a text. `next_offset` is where the rest begins; 0 at the end."""

    text: str
    chars: int  # of the whole
    next_offset: int = 0


def excerpt_at(text: str, offset: int, most: int) -> Excerpt:
    """The text from an offset on, cut at the end of a line if one is near."""
    end = min(len(text), offset + max(1, most))
    if end < len(text):
        line = text.rfind("\n", offset + most // 2, end)
        end = line + 1 if line > 0 else end
    return Excerpt(text[offset:end], len(text), end if end < len(text) else 0)


def excerpt_with(text: str, words: str, offset: int, most: int) -> Excerpt:
    """The lines that hold all of the words in any case, numbered, with two lines around each."""
    wanted = words.lower().split()
    lines = text.splitlines()
    hits = [n for n, line in enumerate(lines) if all(word in line.lower() for word in wanted)]
    shown = sorted({near for hit in hits for near in range(hit - AROUND, hit + AROUND + 1)})
    rows = [f"{n + 1}: {lines[n][:LONGEST_FOUND_LINE]}" for n in shown if 0 <= n < len(lines)]
    return excerpt_at("\n".join(rows), offset, most)
