"""A summary of the client, split into sentences and bullets."""

import re
from collections.abc import Iterator

import msgspec

MOST_LINES = 2_000
_CODE = re.compile(r"^[ \t]*```.*?^[ \t]*```", re.DOTALL | re.MULTILINE)
# The client writes these around a summary.
_FRAME = (
    "This session is being continued",
    "Please continue the conversation",
    "Continue the conversation from where",
    "If you need ",
)
_TAGS = re.compile(r"</?(?:summary|analysis)>")
_BULLET = re.compile(r"^(?:[-*•>]|\d+[.)])\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z*`(])")
_HEADING = re.compile(
    r"#{1,6} |(?:\*\*)?\d+\. +(?:\*\*)?[A-Z][\w /&,'\u2019()-]{2,60}(?:\*\*)?:?(?:\*\*)?\s*$"
    r"|(?:[-*] )?\*\*[^*]{3,60}\*\*:?\s*$"
)
_USERS = re.compile(r"\buser messages\b|\bmessages (?:from|of|by) the user\b", re.IGNORECASE)


class Passage(msgspec.Struct, frozen=True):
    """A sentence or bullet; `is_users` if it is in the list of the user's messages."""

    text: str
    is_users: bool


def passages(summary: str) -> Iterator[Passage]:
    """Yield the passages, without code, the client's frame and its notes to itself."""
    is_users = False
    for line in _CODE.sub("", without_tags(_without_analysis(summary))).splitlines()[:MOST_LINES]:
        text = line.strip()
        if not text or text.startswith(_FRAME):
            continue
        if _HEADING.match(line) or (_HEADING.match(text) and not line[:1].isspace()):
            is_users = bool(_USERS.search(text))
            continue
        text = _BULLET.sub("", text)
        for part in [text] if is_users else sentences(text):
            yield Passage(part.strip(), is_users)


def without_tags(summary: str) -> str:
    """Remove the tags that the client writes around a summary and its notes: a sentence that is
    quoted to the model or the user must not contain one."""
    return _TAGS.sub("", summary)


def _without_analysis(summary: str) -> str:
    """Remove the client's notes to itself; an unclosed one stays."""
    kept, at = [], 0
    while (start := summary.find("<analysis>", at)) >= 0:
        end = summary.find("</analysis>", start)
        if end < 0:
            break
        kept.append(summary[at:start])
        at = end + len("</analysis>")
    return "".join([*kept, summary[at:]])


def sentences(text: str) -> Iterator[str]:
    """Split into sentences. A quotation of several sentences stays in one piece."""
    held = ""
    for part in _SENTENCE_END.split(text):
        held = f"{held} {part}" if held else part
        if held.count('"') % 2 == 0 and held.count("“") == held.count("”"):
            yield held
            held = ""
    if held:
        yield held
