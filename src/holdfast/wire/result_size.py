"""Count the characters of a tool's result that the model will see, from the hook's payload.

The payload's `tool_response` is an object of the client; the model sees a text made from it.
The counts were compared with recorded sessions: they are exact for Bash and Grep, and off by the
line numbers at most for Read.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CUT_CHARS = 30_000  # the client cuts a longer output
PREVIEW_CHARS = 2_240  # or it writes the output to a file, and shows 2 KB and the path
IMAGE_TOKENS = 1_600  # of an image as large as a screen
LINE_NUMBER_CHARS = 7  # "    12" and an arrow
MOST_DEPTH = 40  # of nested values
LIGHTEN_FROM_BYTES = 8192
MOST_PAYLOAD_BYTES = 8 << 20


def limit_payload(payload: bytes) -> bytes:
    """Leave the tool's input and response out of a very large payload: twenty million tiny lists
    took 30 s and a gigabyte to parse. The response counts once it is in the transcript."""
    if len(payload) <= MOST_PAYLOAD_BYTES:
        return payload
    found = (payload.find(key) for key in (b'"tool_input"', b'"tool_response"'))
    start = min((at for at in found if at >= 0), default=-1)
    return payload if start < 0 else payload[:start] + b'"cut":1}'


def lighten(payload: bytes) -> bytes:
    """Remove the escapes from `tool_response`: `\\n` becomes `n`, and `\\"` an apostrophe.

    Only the size of the response is needed, and the parser spends as much time on one escape as on
    forty plain characters: 100 KB of quoted text took 4 ms. Text before that key is not changed.
    """
    start = payload.find(b'"tool_response"')
    if start < 0 or len(payload) < LIGHTEN_FROM_BYTES:
        return payload
    rest = payload[start:].replace(b"\\\\", b"/").replace(b'\\"', b"'")
    return payload[:start] + rest.translate(None, b"\\")


def count_text_chars(content: Any, density: float, depth: int = 0) -> float:
    """Count the characters of message content: a string, or blocks of text, results and images."""
    if isinstance(content, str):
        return len(content)
    if not isinstance(content, list) or depth > MOST_DEPTH:
        return 0
    return sum(_count_block_chars(block, density, depth + 1) for block in content)


def _count_block_chars(block: Any, density: float, depth: int) -> float:
    if isinstance(block, str):
        return len(block)
    if not isinstance(block, dict):
        return 0
    kind = block.get("type")
    if kind in ("image", "document"):
        return IMAGE_TOKENS * density
    if kind == "tool_result":
        return count_text_chars(block.get("content"), density, depth)
    text = block.get("text")
    return len(text) if isinstance(text, str) else 0


def count_response_chars(response: Any, density: float) -> float:
    """Count the characters of a `tool_response` as the model will see it."""
    if isinstance(response, str):
        return min(len(response), CUT_CHARS)
    if isinstance(response, list):
        return count_text_chars(response, density)
    if not isinstance(response, dict):
        return 0
    if response.get("persistedOutputPath"):
        return PREVIEW_CHARS
    if response.get("isImage"):
        return IMAGE_TOKENS * density
    for key, count in _COUNT_BY_KEY:
        if key in response:
            return count(response, density)
    return min(_count_strings(response, 0), CUT_CHARS)


def _count_shell(response: dict[str, Any], density: float) -> float:
    return min(_count_strings([response["stdout"], response.get("stderr")], 0), CUT_CHARS)


def _count_file(response: dict[str, Any], density: float) -> float:
    file = response["file"]
    if not isinstance(file, dict) or response.get("type") not in (None, "text"):
        return IMAGE_TOKENS * density
    content = file.get("content")
    if not isinstance(content, str):
        return 0
    lines = file.get("numLines")
    count = lines if type(lines) is int and 0 <= lines <= len(content) + 1 else 0
    return len(content) + LINE_NUMBER_CHARS * count


def _count_edit(response: dict[str, Any], density: float) -> float:
    # "The file … has been updated successfully."
    return 50 + _count_strings(response["filePath"], 0)


def _count_matches(response: dict[str, Any], density: float) -> float:
    names = response["filenames"]
    count = len(names) if isinstance(names, list) else 0
    return min(_count_strings([response.get("content"), names], 0) + count, CUT_CHARS)


def _count_content(response: dict[str, Any], density: float) -> float:
    return count_text_chars(response["content"], density)


def _count_short(response: dict[str, Any], density: float) -> float:
    return 60  # "Task #1 created …", "Todos have been modified …"


# The first of these keys that a response has decides. Write has both `filePath` and `content`.
_COUNT_BY_KEY = (
    ("stdout", _count_shell),
    ("file", _count_file),
    ("filePath", _count_edit),
    ("filenames", _count_matches),
    ("task", _count_short),
    ("taskId", _count_short),
    ("newTodos", _count_short),
    ("content", _count_content),
)


def _count_strings(value: Any, depth: int) -> int:
    """Count the characters of all strings in a nested value."""
    if isinstance(value, str):
        return len(value)
    if depth > MOST_DEPTH:
        return 0
    if isinstance(value, dict):
        value = list(value.values())
    return sum(_count_strings(v, depth + 1) for v in value) if isinstance(value, list) else 0
