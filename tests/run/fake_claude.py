"""A client in small: a real process that takes a prompt on stdin and speaks stream-json.

Started as a program. What it does is in `$FAKE/play`: by task, one word for each session in
which the task comes first; without a word, `ok`. What it was told is in `$FAKE/log`.
A hundred are started by these tests: what it imports is in the interpreter already. With `json`
and `signal`, that is `re` and `enum`, one took 36 ms of CPU; it takes 15.
"""

from __future__ import annotations

import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from json.encoder import encode_basestring_ascii as _quoted
    from typing import Any
else:
    import _signal as signal
    from _json import encode_basestring_ascii as _quoted

FOLDER = os.environ.get("FAKE", ".")
SEEN = ("HOLDFAST_CONDUCTED", "HOLDFAST_STOP_GUARD", "FAKE_OWN")


def main(words: list[str]) -> int:
    prompt = sys.stdin.read()
    session = words[words.index("--session-id") + 1]
    task = [*_tasks(prompt), ""][0]
    deed = _deed(task)
    _log({"session": session, "task": task, "deed": deed, "prompt": prompt, "words": words[1:]})
    _transcript(session, prompt, task, deed)
    if deed != "idle":
        _create_files(prompt)
    return _act(deed, task, _tasks(prompt))


def _create_files(prompt: str) -> None:
    """Those that its tasks name, as if it had written them."""
    for line in prompt.split("\n"):
        names = line[7:] if line.startswith("Files: ") else line.partition(" (files: ")[2]
        for name in names.partition(" (")[0].partition(". ")[0].rstrip(")").split(", "):
            if name and "*" not in name:
                os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
                with open(name, "a"):
                    pass


def _tasks(prompt: str) -> list[str]:
    """Of each `## Task 1: Title  [id]`, the id."""
    lines = prompt.split("\n")
    heads = [line for line in lines if line.startswith("## Task ") and line.endswith("]")]
    return [line.rpartition("[")[2][:-1] for line in heads]


def _deed(task: str) -> str:
    with open(f"{FOLDER}/play", "rb") as file:
        play = marshal.load(file).get(task, [])
    before = sum(one["task"] == task for one in logged(FOLDER))
    return str(play[before]) if before < len(play) else "ok"


def logged(folder: str) -> list[dict[str, Any]]:
    if not os.path.exists(f"{folder}/log"):
        return []
    with open(f"{folder}/log", "rb") as file:
        size, found = os.fstat(file.fileno()).st_size, []
        while file.tell() < size:
            found.append(marshal.load(file))
    return found


def _log(record: dict[str, object]) -> None:
    environ = {name: os.environ.get(name) for name in SEEN}
    whole = {**record, "pid": os.getpid(), "environ": environ, "cwd": os.getcwd()}
    with open(f"{FOLDER}/log", "ab") as file:
        file.write(marshal.dumps(whole))


def _transcript(session: str, prompt: str, task: str, deed: str) -> None:
    folder = os.path.expanduser("~/.claude/projects/-fake")
    os.makedirs(folder, exist_ok=True)
    shared = {
        "isSidechain": False,
        "cwd": os.getcwd(),
        "sessionId": session,
        "version": "2.1.325",
        "promptSource": "sdk",
    }
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": f"make {task}"}}
    usage = {"input_tokens": 10, "cache_read_input_tokens": 20_000, "output_tokens": 50}
    answer = {
        "id": f"msg_{session}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-6",
        "content": [{"type": "text", "text": f"Building {task}."}, call],
        "stop_reason": "tool_use",
        "usage": usage,
    }
    is_broken = deed == "breaks"
    printed = "Exit code 2\nerror: no rule to make the cart" if is_broken else "built"
    result = {"type": "tool_result", "tool_use_id": "t1", "content": printed, "is_error": is_broken}
    lines = [
        {"type": "user", "message": {"role": "user", "content": prompt}, "uuid": "p", **shared},
        {"type": "assistant", "message": answer, "uuid": "a", **shared},
        {"type": "user", "message": {"role": "user", "content": [result]}, "uuid": "r", **shared},
    ]
    if deed.startswith("grow:"):
        grown = {**usage, "cache_read_input_tokens": int(deed.rpartition(",")[2]) - 60}
        rest = {**answer, "id": f"msg_{session}_2", "usage": grown, "stop_reason": "end_turn"}
        rest["content"] = [{"type": "text", "text": "All built."}]
        lines.append({"type": "assistant", "message": rest, "uuid": "e", **shared})
    text = "".join(_json({**line, "timestamp": "2026-01-01T00:00:00Z"}) + "\n" for line in lines)
    with open(f"{folder}/{session}.jsonl", "w") as file:
        file.write(text)


def _act(deed: str, task: str, tasks: list[str]) -> int:
    _say_usage(20_000)
    if deed in ("hang", "deaf", "brood", "bare", "linger", "stray"):
        return _stay(deed, tasks)
    if deed.startswith("grow:"):
        for tokens in deed.partition(":")[2].split(","):
            _say_usage(int(tokens))
    if deed.startswith("refused:"):
        for status in deed.partition(":")[2].split(","):
            _say_refused(int(status)) if status else _say_usage(20_100)
    if deed == "exit":
        print("the disk is on fire, token=ghp_" + "a1B2c3D4e5" * 4, file=sys.stderr)
        return 3
    if deed == "meet":
        _meet()
    _say_result(deed, tasks)
    return 1 if deed == "error" else 0


def _stay(deed: str, tasks: list[str]) -> int:
    """`deaf` hears no request to end, and `stray` has left its group as well; `brood` has a child
    in a session of its own, `bare` one without an environment; `linger` has said its result and
    stays."""
    hears = deed not in ("deaf", "stray")
    signal.signal(signal.SIGTERM, signal.SIG_DFL if hears else signal.SIG_IGN)
    if deed == "stray":
        os.setpgid(0, os.getpgid(os.getppid()))
    others = ""
    if deed in ("brood", "bare"):
        environ = dict(os.environ) if deed == "brood" else {}
        others = f" {os.posix_spawn('/bin/sleep', ['sleep', '600'], environ, setsid=True)}"
    if deed == "linger":
        _say_result(deed, tasks)
    with open(f"{FOLDER}/here", "w") as pipe:
        pipe.write(f"{os.getpid()}{others}\n")
    while True:
        signal.pause()


def _meet() -> None:
    """Says that it is here, and ends when it is let go."""
    with open(f"{FOLDER}/here", "w") as pipe:
        pipe.write(f"{os.getpid()}\n")
    fd = os.open(f"{FOLDER}/go", os.O_RDONLY)
    os.read(fd, 1)  # one each: a buffer would take what is another's
    os.close(fd)


def _say_usage(tokens: int) -> None:
    usage = {"input_tokens": 10, "cache_read_input_tokens": tokens - 60, "output_tokens": 50}
    _say({"type": "assistant", "parent_tool_use_id": None, "message": {"usage": usage}})


def _say_refused(status: int) -> None:
    """What the client says while the API does not answer it; 0: nobody is there."""
    error = {0: "unknown", 401: "authentication_failed"}.get(status, "overloaded")
    told = {"attempt": 1, "max_retries": 10, "error_status": status or None, "error": error}
    _say({"type": "system", "subtype": "api_retry", **told})


def _report(deed: str, tasks: list[str]) -> dict[str, object]:
    """All tasks are done, but for `report:ID=STATE=REASON;…`; `left-out` is in no report."""
    told = deed.partition("report:")[2].split(";")
    differ = {words.split("=")[0]: words.split("=")[1:] for words in told if words}
    states = {task: differ.get(task, ["done", ""]) for task in tasks}
    files = [deed.partition(":")[2]] if deed.startswith("writes:") else []
    rows = [
        {"id": task, "state": state, "reason": reason, "files": files}
        for task, (state, reason) in states.items()
        if state != "left-out"
    ]
    return {"tasks": rows, "summary": f"Built {', '.join(tasks)}."}


def _say_result(deed: str, tasks: list[str]) -> None:
    """Said and counted, or neither: a request to end waits until both are done."""
    is_error = deed == "error"
    subtype = "error_during_execution" if is_error else "success"
    event = {"type": "result", "subtype": subtype, "is_error": is_error, "result": "All built."}
    if deed.startswith("say:"):
        event["result"] = deed.partition(":")[2]
    else:
        event["structured_output"] = _report(deed, tasks)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    _say(event)
    with open(f"{FOLDER}/results", "a") as file:
        file.write("one\n")
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])


def _say(event: dict[str, object]) -> None:
    print(_json(event), flush=True)


def _json(value: object) -> str:
    if isinstance(value, str):
        return str(_quoted(value))
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_quoted(name)}: {_json(one)}' for name, one in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_json, value))}]"
    return "null" if value is None else str(value).lower()  # a number or a truth


if __name__ == "__main__":
    code = main(sys.argv)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # the interpreter's farewell is 2 ms
