"""How many characters of a tool's answer the model will see, from what the hook is handed.

The payload's `tool_response` is the client's own object; the model sees a text made of it.
The shapes below were compared with the texts of recorded sessions: Bash and Grep to the
character, Read within its line numbers.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CUT_CHARS = 30_000  # the client cuts a long output there ...
PREVIEW_CHARS = 2_240  # ... or keeps it in a file and shows the first 2 KB with its path
IMAGE_TOKENS = 1_600  # a screen-sized picture
LINE_NUMBER_CHARS = 7  # "    12" and its arrow
DEEP = 40
LIGHT_BYTES = 8192
MOST_BYTES = 8 << 20
CALL_KEY = b'"tool_use_id"'


def limit_payload(payload: bytes) -> bytes:
    """A giant payload without what the tool was given and said: twenty million tiny lists took
    30 s and a gigabyte to parse. It then counts as the longest text the client shows.
    """
    if len(payload) <= MOST_BYTES:
        return payload
    cut = [payload.find(key) for key in (b'"tool_input"', b'"tool_response"')]
    start = min((at for at in cut if at >= 0), default=-1)
    if start < 0:
        return payload
    call = payload[max(start, payload.rfind(CALL_KEY)) :][: len(CALL_KEY) + 200]
    call_id = call.removeprefix(CALL_KEY).split(b'"')[1:2] if call.startswith(CALL_KEY) else []
    parts = [payload[:start].rstrip(b" \n\t")]
    parts += [CALL_KEY + b':"' + one + b'",' for one in call_id if b"\\" not in one]
    parts.append(b'"tool_response":"' + b"x" * CUT_CHARS + b'"}' if cut[1] >= 0 else b'"cut":1}')
    return b"".join(parts)


def lighten(payload: bytes) -> bytes:
    """The payload with the escapes of its `tool_response` taken out, one character for each.

    Only sizes are taken from there, and one escape costs the scanner as much as forty plain
    characters: 100 KB of quoted text took 4 ms. What stands before that key is left alone.
    """
    start = payload.find(b'"tool_response"')
    if start < 0 or len(payload) < LIGHT_BYTES:
        return payload
    rest = payload[start:].replace(b"\\\\", b"/").replace(b'\\"', b"'")
    return payload[:start] + rest.translate(None, b"\\")


def text_chars(content: Any, density: float, depth: int = 0) -> float:
    """Characters of message content: a string, or blocks of text, results and pictures."""
    if isinstance(content, str):
        return len(content)
    if not isinstance(content, list) or depth > DEEP:
        return 0
    return sum(_block_chars(block, density, depth + 1) for block in content)


def _block_chars(block: Any, density: float, depth: int) -> float:
    if isinstance(block, str):
        return len(block)
    if not isinstance(block, dict):
        return 0
    kind = block.get("type")
    if kind in ("image", "document"):
        return IMAGE_TOKENS * density
    if kind == "tool_result":
        return text_chars(block.get("content"), density, depth)
    text = block.get("text")
    return len(text) if isinstance(text, str) else 0


def response_chars(response: Any, density: float) -> float:
    """Characters of a `tool_response` as the model will see it."""
    if isinstance(response, str):
        return min(len(response), CUT_CHARS)
    if isinstance(response, list):
        return text_chars(response, density)
    if not isinstance(response, dict):
        return 0
    if response.get("persistedOutputPath"):
        return PREVIEW_CHARS
    if response.get("isImage"):
        return IMAGE_TOKENS * density
    for shape, chars in _SHAPES:
        if shape in response:
            return chars(response, density)
    return min(_strings(response, 0), CUT_CHARS)


def _shell(response: dict[str, Any], density: float) -> float:
    return min(_strings([response["stdout"], response.get("stderr")], 0), CUT_CHARS)


def _file(response: dict[str, Any], density: float) -> float:
    file = response["file"]
    if not isinstance(file, dict) or response.get("type") not in (None, "text"):
        return IMAGE_TOKENS * density
    content = file.get("content")
    if not isinstance(content, str):
        return 0
    lines = file.get("numLines")
    count = lines if type(lines) is int and 0 <= lines <= len(content) + 1 else 0
    return len(content) + LINE_NUMBER_CHARS * count


def _edit(response: dict[str, Any], density: float) -> float:
    return 50 + _strings(response["filePath"], 0)  # "The file … has been updated successfully."


def _matches(response: dict[str, Any], density: float) -> float:
    names = response["filenames"]
    count = len(names) if isinstance(names, list) else 0
    return min(_strings([response.get("content"), names], 0) + count, CUT_CHARS)


def _content(response: dict[str, Any], density: float) -> float:
    return text_chars(response["content"], density)


def _short(response: dict[str, Any], density: float) -> float:
    return 60  # "Task #1 created …", "Todos have been modified …"


# The first key that is there tells the tool; Write has both `filePath` and `content`.
_SHAPES = (
    ("stdout", _shell),
    ("file", _file),
    ("filePath", _edit),
    ("filenames", _matches),
    ("task", _short),
    ("taskId", _short),
    ("newTodos", _short),
    ("content", _content),
)


def _strings(value: Any, depth: int) -> int:
    """All characters in a value's strings, however it is nested."""
    if isinstance(value, str):
        return len(value)
    if depth > DEEP:
        return 0
    if isinstance(value, dict):
        value = list(value.values())
    return sum(_strings(v, depth + 1) for v in value) if isinstance(value, list) else 0
