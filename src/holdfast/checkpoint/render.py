"""A document as markdown: front matter, then sections of items.

Each line's first characters say what it is: `## ` a heading, `- ` an item, two blanks the next
line of the same item, `(none)` a required section without content. So no text in an item can pass
for structure, and no body line begins with `content_hash:`, which makes the hash checkable by hand:
`grep -av '^content_hash:' FILE | sha256sum`.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.checkpoint import front_matter
from holdfast.checkpoint.document import VERSION, Document
from holdfast.files.digest import digest
from holdfast.text.fence import escape
from holdfast.text.timestamps import to_iso

NONE = "(none)"


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
    lines = "".join(_item(item) for item in items) if items else f"{NONE}\n"
    return f"\n## {heading}\n{lines}"


def _item(text: str) -> str:
    return "- " + escape(text).replace("\n", "\n  ") + "\n"


def _front(document: Document) -> dict[str, front_matter.Value]:
    return {
        "version": VERSION,
        "created": to_iso(document.created),
        "trigger": document.trigger,
        "project": document.project,
        "session_id": document.session_id,
        "agent_id": document.agent_id,
        "iteration": document.iteration,
        "parent": document.parent,
        "summary": document.summary,
        "state_hash": document.state_hash,
        "verified": True,  # already in the draft: a file gets its final name only when it is true
    }
