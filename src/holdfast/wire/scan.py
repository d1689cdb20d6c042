"""JSON for the hot path: the C scanner under `json`, which itself loads `re` (+13 ms)."""

from __future__ import annotations

try:
    from _json import make_scanner
except ImportError:  # an interpreter without CPython's accelerator: slower, never wrong
    make_scanner = None  # type: ignore[assignment, misc]

WINDOW = "context-window"  # a line of ours: what another agent states of its window
MOST_COUNT = 1 << 40
LIGHTEN_FROM_BYTES = 8192
MOST_PAYLOAD_BYTES = 8 << 20
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _Rules:
    """What the scanner reads from a decoder; control characters in strings are accepted."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner's own shape


def _scanner() -> Callable[[str, int], tuple[Any, int]]:
    if make_scanner is not None:
        scan: Callable[[str, int], tuple[Any, int]] = make_scanner(_Rules)  # type: ignore[arg-type]
        return scan
    import json

    return json.JSONDecoder(strict=False).raw_decode


_scan = _scanner()


def limit_payload(payload: bytes) -> bytes:
    """Leave the tool's input and response out of a very large payload: twenty million tiny lists
    took 30 s and a gigabyte to parse. The response counts once it is in the transcript."""
    if len(payload) <= MOST_PAYLOAD_BYTES:
        return payload
    found = (payload.find(key) for key in (b'"tool_input"', b'"tool_response"'))
    start = min((at for at in found if at >= 0), default=-1)
    return payload if start < 0 else payload[:start] + b'"cut":1}'


def lighten(payload: bytes) -> bytes:
    """Remove the escapes from `tool_response`: only its size is needed, and the parser spends as
    much time on one escape as on forty plain characters (100 KB of quoted text took 4 ms)."""
    start = payload.find(b'"tool_response"')
    if start < 0 or len(payload) < LIGHTEN_FROM_BYTES:
        return payload
    rest = payload[start:].replace(b"\\\\", b"/").replace(b'\\"', b"'")
    return payload[:start] + rest.translate(None, b"\\")


def parse(data: bytes) -> Any:
    """Parse one JSON value; anything else is a ValueError, however deep or odd."""
    text = data.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    try:
        value, end = _scan(text, 0)
    except (StopIteration, RecursionError, OverflowError, SystemError) as error:
        # SystemError: the scanner looks its error up in `json`, which was never loaded here
        raise ValueError(f"not JSON: {type(error).__name__}") from None
    if text[end : end + 64].strip():
        raise ValueError("not one JSON value")
    return value


def parse_object(data: bytes) -> dict[str, Any]:
    """Parse one JSON object; anything else gives an empty one."""
    try:
        value = parse(data)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def text_of(holder: Any, key: str) -> str:
    """Return the string under a key, or an empty one: fields of a payload may have any type."""
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, str) else ""


def count_of(holder: Any, key: str) -> int:
    """Return the number under a key, or 0: a very large one comes from a damaged line."""
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if type(value) is int and 0 < value < MOST_COUNT else 0
