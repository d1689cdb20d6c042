"""The MCP server of a plugin whose environment is not built: it has no tools yet, and says so.

If the server ended instead, Claude Code would show a fault, and not start it for 15 minutes. The
plugin's launcher runs this file as it is: `python -I -S …/mcp/without_packages.py`.
"""

import json
import os
import sys

PARENT = os.getppid()  # read first: the client may die while we load
LIB = __file__.rsplit("/", 3)[0]
sys.path[:0] = [LIB, f"{LIB.rpartition('/')[0]}/fallback"]

from holdfast.mcp import protocol  # noqa: E402
from holdfast.mcp.server import exit_with_client  # noqa: E402

INSTRUCTIONS = (
    "Holdfast's tools come when its environment is built: from the next session on. Until then it "
    "restores the user's words after a compaction."
)


def main() -> None:
    exit_with_client(PARENT, 1)
    try:
        for line in sys.stdin.buffer:
            for message in answers(line):
                os.write(1, json.dumps(message).encode() + b"\n")
    except (OSError, KeyboardInterrupt):
        pass  # the client is gone
    os._exit(0)


def answers(line: bytes) -> list[protocol.Message]:
    request = protocol.parse(line)
    if isinstance(request, list):
        return request
    if not request.is_question:
        return []
    try:
        result = protocol.answer(request, list)
    except protocol.ProtocolError as problem:
        return [protocol.failure(request.id, problem)]
    if "instructions" in result:
        result["instructions"] = INSTRUCTIONS
    return [protocol.success(request, result)]


if __name__ == "__main__":
    main()
