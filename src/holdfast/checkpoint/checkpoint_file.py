"""The Markdown file of a checkpoint: front matter, then sections of items; written, and parsed
strictly, because the format is ours.

Each line's first characters say what it is: `## ` a heading, `- ` an item, two blanks the next
line of the same item, one in brackets a required section without content. So no text in an item
can pass for structure, and no body line begins with `content_hash:`, which makes the hash checkable
by hand:
`grep -av '^content_hash:' FILE | sha256sum`.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence

import msgspec

from holdfast.checkpoint import front_matter
from holdfast.checkpoint.document import TRIGGERS, VERSION, Document
from holdfast.checkpoint.errors import DamagedCheckpoint
from holdfast.files.folders import digest
from holdfast.text import timestamps
from holdfast.text.fence import escape, unescape

# An empty section says what was looked for. "(none)", as earlier releases wrote it, was read as
# "no problem is open" and "nothing was decided", and was wrong in half of ten sessions.
NONE = "(none)"
EMPTY = {
    "What Changed": "(no edit was seen)",
    "Why Changed": "(no request was seen)",
    "Active Issues": "(no command whose newest run failed; more may stand in the words below)",
    "Key Decisions": "(no answer to a question; decisions in plain words stand under Why Changed)",
    "Next Steps": "(no task list, plan or last message was seen)",
}


def render(document: Document) -> bytes:
    """Return the whole file of a normalized document, with its own hash."""
    head = front_matter.write(_front(document))
    tail = "---\n" + body(document)
    stated = content_hash(f"---\n{head}".encode(), tail.encode())
    return f"---\n{head}{front_matter.HASH}: {front_matter.quote(stated)}\n{tail}".encode()


def content_hash(before: bytes, after: bytes) -> str:
    """Hash the file without the line that holds the hash."""
    return digest(before + after)


def body(document: Document) -> str:
    """Return the sections as they are in the file; a checkpoint is also shown like this."""
    return "".join(_section(name, items) for name, items in document.sections.items())


def _section(name: str, items: Sequence[str]) -> str:
    heading = escape(name).replace("\n", "&#xa;")
    lines = "".join(_item(item) for item in items) if items else f"{EMPTY.get(name, NONE)}\n"
    return f"\n## {heading}\n{lines}"


def _item(text: str) -> str:
    return "- " + escape(text).replace("\n", "\n  ") + "\n"


def _front(document: Document) -> dict[str, front_matter.Value]:
    same = {name: getattr(document, name) for name in front_matter.SAME}
    # `verified` is already in the draft: a file gets its final name only after it was read back.
    own = {"version": VERSION, "created": timestamps.to_iso(document.created)}
    return {**own, **same, "verified": document.is_complete}


LARGEST_BYTES = 1 << 20
GONE = "it is not there"
_FENCE = b"---\n"


class ParsedCheckpoint(msgspec.Struct, frozen=True):
    document: Document
    content_hash: str  # as the file states it
    whole: bool  # the hash is that of the file


def read(path: str) -> ParsedCheckpoint:
    return parse(load(path))


def load(path: str) -> bytes:
    """Read the file; a link, a pipe or a giant file is not a checkpoint."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            about = os.fstat(fd)
            if not stat.S_ISREG(about.st_mode):
                raise DamagedCheckpoint("file", "not a regular file")
            if about.st_size > LARGEST_BYTES:
                words = f"{about.st_size:,} bytes is more than a checkpoint has"
                raise DamagedCheckpoint("file", words)
            return os.read(fd, LARGEST_BYTES)
        finally:
            os.close(fd)
    except FileNotFoundError:
        raise DamagedCheckpoint("file", GONE) from None
    except OSError as error:
        words = "a link, not a file" if error.errno == errno.ELOOP else str(error.strerror)
        raise DamagedCheckpoint("file", words) from None
    except ValueError as error:
        raise DamagedCheckpoint("file", str(error)) from None


def parse(data: bytes) -> ParsedCheckpoint:
    """Return the document in a file (without its snapshot), and whether it is unchanged."""
    before, stated, after = _split(data)
    lines = _text(before[len(_FENCE) :] + stated, front_matter.PART).split("\n")[:-1]
    values = front_matter.read(lines)
    document = _document(values, _sections(_text(after[len(_FENCE) :], "sections")))
    hash_in_file = str(values[front_matter.HASH])
    return ParsedCheckpoint(document, hash_in_file, hash_in_file == content_hash(before, after))


def _split(data: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the front matter up to the hash, the line with the hash, and the rest from the
    closing fence."""
    if not data:
        raise DamagedCheckpoint("file", "empty")
    end = data.find(b"\n" + _FENCE, len(_FENCE) - 1) + 1
    at = data.rfind(b"\n" + front_matter.HASH.encode() + b": ", 0, max(end, 0)) + 1
    if not data.startswith(_FENCE) or not end:
        raise DamagedCheckpoint(
            front_matter.PART, "missing: the file does not begin with lines between two `---`"
        )
    if not at or data.find(b"\n", at) != end - 1:
        raise DamagedCheckpoint(front_matter.PART, f"{front_matter.HASH} is not its last line")
    return data[:at], data[at:end], data[end:]


def _text(data: bytes, part: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise DamagedCheckpoint(part, "not UTF-8") from None


def _document(values: dict[str, object], sections: dict[str, list[str]]) -> Document:
    if values["trigger"] not in TRIGGERS:
        raise DamagedCheckpoint(front_matter.PART, f"trigger is {values['trigger']!r}")
    try:
        created = timestamps.from_iso(str(values["created"]))
        same = {name: values[name] for name in front_matter.SAME}
        given = {**same, "created": created, "sections": sections}
        return msgspec.convert({**given, "is_complete": values["verified"]}, Document)
    except (msgspec.ValidationError, ValueError) as error:
        raise DamagedCheckpoint(front_matter.PART, str(error)) from None


def _sections(text: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    for chunk in _chunks(text):
        heading, _, rest = chunk.partition("\n")
        name = unescape(heading)
        if name in sections:
            raise DamagedCheckpoint("sections", f"{name[:60]!r} occurs twice")
        sections[name] = _items(rest, name)
    return sections


def _chunks(text: str) -> list[str]:
    """Split into sections at `## `; a blank line followed by `## ` never occurs inside an item."""
    if not text:
        return []
    if not text.startswith("\n## ") or not text.endswith("\n"):
        raise DamagedCheckpoint("sections", "text outside of any section")
    return text[len("\n## ") : -1].split("\n\n## ")


def _items(text: str, name: str) -> list[str]:
    if text in (NONE, EMPTY.get(name)):
        return []
    items: list[list[str]] = []
    for line in text.split("\n"):
        if line.startswith("- "):
            items.append([line[2:]])
        elif line.startswith("  ") and items:
            items[-1].append(line[2:])
        else:
            raise DamagedCheckpoint("sections", f"not understood in {name[:60]!r}: {line[:60]!r}")
    return [unescape("\n".join(lines)) for lines in items]
