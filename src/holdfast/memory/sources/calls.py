"""What an item holds of a tool call and its result: enough to find them. It is cut after redaction.

A secret whose name was cut away is no longer recognised, so nothing is cut before.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.client.hook_outputs import OWN_TOOLS
from holdfast.record.turns import LONGEST_QUESTION
from holdfast.redact import redact
from holdfast.transcript.blocks import ToolUse

CALL_CHARS, HEAD_CHARS, TAIL_CHARS = 200, 240, 120
SEEN_CHARS = 32 << 10  # at each end of a result: redacting more would cost too much
_BACK = ("recall", "expand", "resume")  # our tools that quote earlier text ...
_BY_HAND = ("search", "expand", "resume", "brief")  # ... and commands
_MAIN_ARGUMENTS = (
    "command",
    "file_path",
    "notebook_path",
    "path",
    "pattern",
    "url",
    "query",
    "description",
)


def call(block: ToolUse, *, is_clean: bool = False) -> str:
    """Return a tool call on one line. `is_clean` says that it is known to hold no secret."""
    first = head(main_argument(block))
    return f"{block.name} {(first if is_clean else redact(first))[:CALL_CHARS]}".strip()


def looks_back(block: ToolUse) -> bool:
    """Return whether a call asks Holdfast for what is indexed already: nothing in it is new."""
    if block.name.startswith(OWN_TOOLS):
        return block.name.rpartition("__")[2] in _BACK
    if block.name != "Bash" or b"holdfast" not in bytes(block.raw_input):
        return False  # checked without decoding the input
    command = block.input.get("command")
    return isinstance(command, str) and asks_us(command)


def asks_us(command: str) -> bool:
    """Return whether a shell command asks Holdfast for what is indexed already."""
    program, _, rest = command.lstrip().partition(" ")
    return program.rpartition("/")[2] == "holdfast" and rest.lstrip().startswith(_BY_HAND)


def main_argument(block: ToolUse) -> str:
    """Return the argument that tells most about the call."""
    given = block.input
    values = (given.get(name) for name in _MAIN_ARGUMENTS)
    return next((value for value in values if isinstance(value, str) and value), "")


def choices_in(block: ToolUse) -> dict[str, str]:
    """Return the choices of each question that the model asks with a tool."""
    asked = block.input.get("questions")
    found: dict[str, str] = {}
    for one in asked if isinstance(asked, list) else ():
        if not isinstance(one, dict):
            continue
        options = one.get("options")
        listed = [_option(option) for option in options] if isinstance(options, list) else []
        found[str(one.get("question"))[:LONGEST_QUESTION]] = "\n".join(filter(None, listed))
    return found


def _option(option: object) -> str:
    if not isinstance(option, dict):
        return option if isinstance(option, str) else ""
    parts = (option.get("label"), option.get("description"))
    return ": ".join(part for part in parts if isinstance(part, str) and part)


def ends(text: str, *, is_clean: bool = False) -> str:
    """Return the beginning and the end of a result."""
    if len(text) <= 2 * SEEN_CHARS:
        first = last = text if is_clean else redact(text)
        if len(first) <= HEAD_CHARS + TAIL_CHARS:
            return first
    elif is_clean:
        first = last = text
    else:
        first, last = redact(head(text)), redact(tail(text))
    return f"{first[:HEAD_CHARS]} … {last[-TAIL_CHARS:]}"


def head(text: str) -> str:
    """Return the first complete lines."""
    if len(text) <= SEEN_CHARS:
        return text
    end = text.rfind("\n", HEAD_CHARS, SEEN_CHARS)
    return text[: end if end > 0 else SEEN_CHARS]


def tail(text: str) -> str:
    """Return the last complete lines; a part of the last one if it is too long."""
    if len(text) <= SEEN_CHARS:
        return text
    start = text.find("\n", len(text) - SEEN_CHARS, len(text) - TAIL_CHARS)
    return text[start + 1 if start > 0 else -SEEN_CHARS :]


def searched_parts(text: str) -> Iterator[str]:
    """Yield the parts of a result that are read."""
    if len(text) <= 2 * SEEN_CHARS:
        yield text
    else:
        yield text[:SEEN_CHARS]
        yield text[-SEEN_CHARS:]
