"""A stand-in for Claude Code: does the tasks of its prompt, and notes what it did.

`holdfast run` starts it, by the name `claude`. The last word of a task's title says how the task
is done. Each step is one line of `FOLDER/log`, written before anything is told of it: this is what
a journal is compared with. Every session is one process more, so it imports little.
"""

# ruff: noqa: PTH109, PTH123 - no pathlib: one is started per session

from __future__ import annotations

import json
import os
import signal
import sys
import time

SLOW_SECONDS = 0.4
CHILD_SECONDS = 600
STEPS = BEGUN, DONE, FAILED, ENDED = "begun", "done", "failed", "ended"
WAYS = PLAIN, SLOW, DEAF, CHILD, FAILS = "plain", "slow", "deaf", "child", "fails"


def main(folder: str, transcripts: str, words: list[str]) -> int:
    if words == ["--version"]:
        print("2.1.325 (Claude Code)")
        return 0
    prompt, session = sys.stdin.read(), words[words.index("--session-id") + 1]
    with open(f"{transcripts}/{session}.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in _lines(session, prompt))
    _say({"type": "assistant", "message": {"usage": {"input_tokens": 20_000}}})
    for task in _tasks(prompt):
        if not _does(folder, session, task):
            return _give_result("error_during_execution", is_error=True)
    code = _give_result("success", is_error=False)
    _note(folder, ENDED, session, "-")
    return code


def _tasks(prompt: str) -> list[str]:
    """Of each `## Task 1: Title  [id]`, the id."""
    lines = prompt.split("\n")
    return [
        line.rpartition("[")[2][:-1]
        for line in lines
        if line.startswith("## Task ") and line.endswith("]")
    ]


def _does(folder: str, session: str, task: str) -> bool:
    """Do one task; false if it fails, which it does once."""
    way = task.rpartition("-")[2]
    _note(folder, BEGUN, session, task)
    if way == DEAF:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if way in (SLOW, DEAF):
        time.sleep(SLOW_SECONDS)
    if way == CHILD:
        os.posix_spawnp("sleep", ["sleep", str(CHILD_SECONDS)], os.environ, setsid=True)
    if way == FAILS and (FAILED, task) not in [(step, of) for step, _, of in read_log(folder)]:
        _note(folder, FAILED, session, task)
        return False
    _note(folder, DONE, session, task)
    return True


def _note(folder: str, step: str, session: str, task: str) -> None:
    """One write, so that several sessions can note at once."""
    fd = os.open(f"{folder}/log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, f"{step} {session} {task}\n".encode())
    os.close(fd)


def read_log(folder: str) -> list[tuple[str, str, str]]:
    """Step, session and task of each line, in order."""
    try:
        with open(f"{folder}/log", encoding="utf-8") as file:
            words = [line.split() for line in file]
    except FileNotFoundError:
        return []
    return [(step, session, task) for step, session, task in words]


def _lines(session: str, prompt: str) -> list[dict[str, object]]:
    """The transcript: what it was asked, and one answer."""
    usage = {"input_tokens": 20_000, "output_tokens": 50}
    answer = {
        "id": f"msg_{session}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-6",
        "content": [{"type": "text", "text": "I am at it."}],
        "stop_reason": "end_turn",
        "usage": usage,
    }
    shared = {"sessionId": session, "cwd": os.getcwd(), "isSidechain": False, "version": "2.1.325"}
    shared["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    asked = {"role": "user", "content": prompt}
    return [
        {"type": "user", "message": asked, "promptSource": "sdk", "uuid": f"{session}-1", **shared},
        {"type": "assistant", "message": answer, "uuid": f"{session}-2", **shared},
    ]


def _give_result(subtype: str, *, is_error: bool) -> int:
    _say({"type": "result", "subtype": subtype, "is_error": is_error, "result": "That is all."})
    return int(is_error)


def _say(event: dict[str, object]) -> None:
    print(json.dumps(event), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
