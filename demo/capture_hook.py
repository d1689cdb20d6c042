"""The recording hook: notes each payload and how long the transcript was just then; says nothing.

It waits (at most half a second) until the client has written the answer the call came from, which
takes up to 67 ms: by the time a call of usual length has run, the line is there.
"""

import json
import sys
import time
from pathlib import Path


def main() -> None:
    payload = json.loads(sys.stdin.buffer.read())
    transcript = Path(payload.get("transcript_path", ""))
    until = time.monotonic() + 0.5
    while not _answer_is_written(transcript, payload) and time.monotonic() < until:
        time.sleep(0.01)
    payload["_transcript_bytes"] = transcript.stat().st_size if transcript.is_file() else 0
    with Path(sys.argv[1]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(payload, ensure_ascii=False) + "\n")


def _answer_is_written(transcript: Path, payload: dict[str, object]) -> bool:
    call = payload.get("tool_use_id")
    if not isinstance(call, str):
        return True
    data = transcript.read_bytes() if transcript.is_file() else b""
    return any(
        b'"type":"assistant"' in line and call.encode() in line for line in data.splitlines()
    )


if __name__ == "__main__":
    main()
