"""A checkpoint as a value, and as a Markdown file: front matter, then sections of items; written,
and parsed strictly, because the format is ours.

Each line's first characters say what it is: `## ` a heading, `- ` an item, two blanks the next
line of the same item, one in brackets a required section without content. So no text in an item
can pass for structure, and no body line begins with `content_hash:`, which makes the hash checkable
by hand: `grep -av '^content_hash:' FILE | sha256sum`.

The front matter is a strict subset of YAML, `key: value` with a JSON string, a whole number, `true`
or `false`, so that any YAML reader can read it and we need none: the import of PyYAML alone costs
3.4 times an interpreter's start, and a hook writes this.
"""

import errno
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast.files.folders import digest
from holdfast.redact.find import redact, redact_each
from holdfast.text.fence import acting, escape, unescape
from holdfast.wire.errors import HoldfastError

VERSION = 1
TRIGGERS = ("auto", "manual", "guard", "monitor", "watcher", "batch", "session-end")
GIT = "Git"  # the section of what git printed
REQUIRED = ("What Changed", "Why Changed", "Active Issues", "Key Decisions", "Next Steps")
SUMMARY_CHARACTERS = 160
# The fields of the front matter that a document has under the same name.
_SAME = "trigger project session_id agent_id iteration parent summary state_hash"
SAME = tuple(_SAME.split())
FIELDS = ("version", "created", *SAME, "verified")
HASH = "content_hash"
PART = "front matter"
# "(none)", as earlier releases wrote it, was read as "no problem is open" and "nothing was
# decided", and "no command whose newest run failed" was wrong in half of ten sessions.
NONE = "(none)"
EMPTY = {
    "What Changed": "(no edit was seen)",
    "Why Changed": "(no request was seen)",
    "Active Issues": "(none listed; more may stand in the words above and below)",
    "Key Decisions": "(none listed; decisions in plain words stand under Why Changed)",
    "Next Steps": "(no task list, plan or last message was seen)",
}
LARGEST_BYTES = 1 << 20
GONE = "it is not there"
_FENCE = b"---\n"

Sections = Mapping[str, Sequence[str]]
Value = str | int | bool


class CheckpointNotSaved(HoldfastError):
    """Neither the project nor our own folder took the checkpoint."""

    exit_code = 4
    hint = (
        "free some space, make the project writable, or set HOLDFAST_HOME to a folder that you can "
        "write; earlier checkpoints are safe"
    )


class DamagedCheckpoint(HoldfastError):
    """The file is not a valid checkpoint; `part` says which part is wrong."""

    hint = "`holdfast verify` says what is wrong with it"

    def __init__(self, part: str, words: str) -> None:
        super().__init__(f"{part}: {words}")
        self.part, self.words = part, words


class Document(msgspec.Struct, frozen=True):
    """Items are texts without a bullet, of any characters and any number of lines."""

    created: datetime
    trigger: str
    project: str
    session_id: str
    agent_id: str = ""
    iteration: int = 0  # 0: `keep` continues the count of the parent
    parent: str = ""
    summary: str = ""  # one line for lists; empty: taken from the snapshot or the sections
    sections: Sections = {}
    snapshot: Mapping[str, Any] = {}
    state_hash: str = ""  # of the facts it was made from; empty: of the sections
    is_complete: bool = True  # False: the transcript was not read to its end


def normalize(document: Document) -> Document:
    """Fill in every field that the caller left out. Normalizing twice changes nothing more."""
    if document.trigger not in TRIGGERS:
        raise ValueError(f"no such trigger: {document.trigger}")
    texts = {name: list(items) for name, items in document.sections.items()}
    sections = {name: items for name, items in texts.items() if items or name in REQUIRED}
    sections |= {name: [] for name in REQUIRED if name not in sections}
    return replace(
        document,
        created=to_second(document.created),
        sections=sections,
        summary=document.summary or summary_of(sections, document.snapshot),
        state_hash=document.state_hash or hash_of(sections),
    )


def summary_of(sections: Sections, snapshot: Mapping[str, Any]) -> str:
    names = ("Next Steps", "What Changed", "Active Issues", "Key Decisions")
    firsts = (item for name in names for item in list(sections[name])[:1])
    lines = (" ".join(str(text).split()) for text in (snapshot.get("context_summary", ""), *firsts))
    text = next(filter(None, lines), "")
    return text if len(text) <= SUMMARY_CHARACTERS else f"{text[: SUMMARY_CHARACTERS - 1]}…"


def hash_of(facts: object) -> str:
    """Return the hash of the facts: the same for the same facts in the same order."""
    text = json.dumps(facts, sort_keys=True, default=str)
    return digest(text.encode())


def to_second(moment: datetime) -> datetime:
    """UTC to the second, as in the file's name; a time without a zone counts as UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).replace(microsecond=0)


def clean_document(document: Document) -> Document:
    """Remove secrets from every text before anything reaches the disk."""
    return replace(
        document,
        session_id=redact(document.session_id),
        agent_id=redact(document.agent_id),
        summary=redact(document.summary),
        sections=redact_each(document.sections),
        snapshot=redact_each(document.snapshot),
    )


def with_snapshot(document: Document, snapshot: Mapping[str, Any]) -> Document:
    return replace(document, snapshot=snapshot)


def render(document: Document) -> bytes:
    """Return the whole file of a normalized document, with its own hash."""
    head = _write_front(_front(document))
    tail = "---\n" + body(document)
    stated = content_hash(f"---\n{head}".encode(), tail.encode())
    return f"---\n{head}{HASH}: {quote(stated)}\n{tail}".encode()


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


def _front(document: Document) -> dict[str, Value]:
    same = {name: getattr(document, name) for name in SAME}
    # `verified` is already in the draft: a file gets its final name only after it was read back.
    own = {"version": VERSION, "created": to_iso(document.created)}
    return {**own, **same, "verified": document.is_complete}


def _write_front(values: Mapping[str, Value]) -> str:
    return "".join(f"{name}: {_write_value(values[name])}\n" for name in FIELDS)


def _write_value(value: Value) -> str:
    return quote(value) if isinstance(value, str) else json.dumps(value)


def quote(text: str) -> str:
    """Return a JSON string that means the same in YAML. Characters past U+FFFF are not escaped:
    JSON writes them as two halves, which YAML would read as two characters."""
    literal = json.dumps(text, ensure_ascii=False)
    for character in set(acting(literal)):
        if character <= "\uffff":
            literal = literal.replace(character, f"\\u{ord(character):04x}")
    return literal


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
    lines = _text(before[len(_FENCE) :] + stated, PART).split("\n")[:-1]
    values = read_front(lines)
    document = _document(values, _sections(_text(after[len(_FENCE) :], "sections")))
    hash_in_file = str(values[HASH])
    return ParsedCheckpoint(document, hash_in_file, hash_in_file == content_hash(before, after))


def _split(data: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the part up to the hash, its line, and the rest from the closing fence."""
    if not data:
        raise DamagedCheckpoint("file", "empty")
    end = data.find(b"\n" + _FENCE, len(_FENCE) - 1) + 1
    at = data.rfind(b"\n" + HASH.encode() + b": ", 0, max(end, 0)) + 1
    if not data.startswith(_FENCE) or not end:
        raise DamagedCheckpoint(PART, "missing: the file does not begin with lines between `---`")
    if not at or data.find(b"\n", at) != end - 1:
        raise DamagedCheckpoint(PART, f"{HASH} is not its last line")
    return data[:at], data[at:end], data[end:]


def _text(data: bytes, part: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise DamagedCheckpoint(part, "not UTF-8") from None


def _document(values: dict[str, object], sections: dict[str, list[str]]) -> Document:
    if values["trigger"] not in TRIGGERS:
        raise DamagedCheckpoint(PART, f"trigger is {values['trigger']!r}")
    try:
        created = from_iso(str(values["created"]))
        same = {name: values[name] for name in SAME}
        fields = {**same, "created": created, "sections": sections}
        return msgspec.convert({**fields, "is_complete": values["verified"]}, Document)
    except (msgspec.ValidationError, ValueError) as error:
        raise DamagedCheckpoint(PART, str(error)) from None


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
    # An empty section is one line in brackets; its words differ between releases.
    if text.startswith("(") and text.endswith(")") and "\n" not in text:
        return []
    items: list[list[str]] = []
    for line in text.split("\n"):
        if line.startswith("- "):
            items.append([line[2:]])
        elif line.startswith("  ") and items:
            items[-1].append(line[2:])
        else:
            words = f"{name[:60]!r} has a line that Holdfast did not write: {line[:60]!r}"
            raise DamagedCheckpoint("sections", words)
    return [unescape("\n".join(lines)) for lines in items]


def read_front(lines: list[str]) -> dict[str, object]:
    """Read exactly the known fields, each once; the error names a newer version."""
    values: dict[str, object] = {}
    for line in lines:
        name, colon, text = line.partition(": ")
        if not colon or name in values:
            raise DamagedCheckpoint(PART, f"not understood: {line[:60]!r}")
        try:
            values[name] = json.loads(text)
        except (ValueError, RecursionError):
            raise DamagedCheckpoint(PART, f"{name} has an invalid value: {text[:60]!r}") from None
    version = values.get("version")
    if type(version) is int and version > VERSION:
        raise DamagedCheckpoint(PART, f"version {version} was written by a newer Holdfast")
    if odd := sorted(values.keys() ^ {*FIELDS, HASH}):
        raise DamagedCheckpoint(PART, f"missing or unknown: {odd[0][:60]!r}")
    return values


NAMES_PER_SECOND = 1000
ID = re.compile(r"\d{4}-\d{2}-\d{2}-\d{6}(?:-([1-9]\d{0,2}))?")


def to_iso(moment: datetime) -> str:
    return moment.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def from_iso(text: str) -> datetime:
    """Parse exactly what `to_iso` writes; ValueError otherwise. No strptime: it loads `locale`."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None or to_iso(moment) != text:
        raise ValueError(f"not a time we write: {text!r}")
    return moment.astimezone(UTC)


def stamp(moment: datetime) -> str:
    return to_iso(moment)[:-1].replace("T", "-").replace(":", "")


def ids(moment: datetime) -> Iterator[str]:
    """The id of this second, then -2, -3 … for later checkpoints of the same second."""
    first = stamp(moment)
    yield first
    for number in range(2, NAMES_PER_SECOND):
        yield f"{first}-{number}"


def id_of(file_name: str) -> str:
    """The id in a file's name, or nothing: drafts and other files have none."""
    stem = file_name.removesuffix(".md")
    return stem if stem != file_name and ID.fullmatch(stem) else ""


def number(checkpoint_id: str) -> int:
    """Its position among the checkpoints of the same second, from 1; 0 for an invalid id."""
    match = ID.fullmatch(checkpoint_id)
    return int(match[1] or 1) if match else 0
