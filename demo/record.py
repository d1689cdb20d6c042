"""Record the demo's session with the real client: `PYTHONPATH=. python demo/record.py [CLIENT]`.

Leaves `session.jsonl`, the client's own transcript, and `payloads.jsonl`, every hook payload in
order with `_transcript_bytes`, the length of session.jsonl at that moment. Paths become those of a
made-up user.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.trial.cycle import MODEL, compactions, hook_faults
from tests.trial.run import Trial, run_trial
from tide_files import plant
from tide_story import PROMPT, story

HERE = Path(__file__).resolve().parent
EVENTS = (
    *("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "SubagentStart"),
    *("SubagentStop", "Stop", "PreCompact", "PostCompact", "SessionEnd"),
)
# These hold the client's own prompts: long, and not ours to give away. Copies of requests go; of an
# attachment the line stays, emptied, because the lines after it name it as their parent.
DROPPED = frozenset(("api-request", "api-request-shape", "api-request-blob"))
EMPTIED = frozenset(
    (
        *("prompt_snapshot", "skill_listing", "agent_listing_delta", "deferred_tools_delta"),
        *("environment", "model", "remote_session_change"),
    )
)
FORBIDDEN = re.compile(r"sk-ant-|/root/|/work/|api[_-]?key", re.IGNORECASE)


def main(arguments: list[str]) -> int:
    binary = Path(arguments[0]) if arguments else _newest_client()
    with tempfile.TemporaryDirectory(prefix="hf") as folder:
        root = Path(folder).resolve()
        raw_payloads = root / "payloads"
        trial = _run(binary, root / "home/sam", raw_payloads)
        if trial.exit_code != 0 or compactions(trial) != 1 or hook_faults(trial):
            raise SystemExit(f"the run went wrong: exit {trial.exit_code}, {hook_faults(trial)}")
        raw = trial.transcripts[0].read_text(encoding="utf-8")
        session, length_at = _clean_transcript(raw, root)
        payloads = [
            _clean_payload(line, root, length_at)
            for line in raw_payloads.read_text(encoding="utf-8").splitlines()
        ]
    _save("session.jsonl", session)
    _save("payloads.jsonl", "".join(payloads))
    return 0


def _run(binary: Path, home: Path, payloads: Path) -> Trial:
    project = home / "tide-tables"
    project.mkdir(parents=True)
    plant(project)
    hook = shutil.copy(HERE / "capture_hook.py", home)
    command = shlex.join(["python3", "-I", "-S", str(hook), str(payloads)])
    hooks = {event: [{"hooks": [{"type": "command", "command": command}]}] for event in EVENTS}
    return run_trial(
        *(binary, project, home, story(project)),
        prompt=PROMPT,
        model=MODEL,
        settings={"hooks": hooks},
        env={"PATH": "/usr/local/bin:/usr/bin:/bin"},  # no path of the recording machine's user
        timeout=180,
    )


def _clean_transcript(raw: str, root: Path) -> tuple[str, dict[int, int]]:
    """The transcript as it may be shown, and for each length of the raw one the length of this."""
    kept: list[str] = []
    raw_bytes = clean_bytes = 0
    length_at = {0: 0}
    for line in raw.splitlines(keepends=True):
        raw_bytes += len(line.encode())
        entry = json.loads(line)
        if entry.get("type") not in DROPPED:
            kept.append(_anonymous(_emptied(entry, line), root))
            clean_bytes += len(kept[-1].encode())
        length_at[raw_bytes] = clean_bytes
    return "".join(kept), length_at


def _emptied(entry: dict[str, Any], line: str) -> str:
    kind = (entry.get("attachment") or {}).get("type")
    if kind not in EMPTIED:
        return line
    entry.pop("rendered", None)
    short = {**entry, "attachment": {"type": kind}}
    return json.dumps(short, ensure_ascii=False, separators=(",", ":")) + "\n"


def _clean_payload(line: str, root: Path, length_at: dict[int, int]) -> str:
    payload: dict[str, Any] = json.loads(_anonymous(line, root))
    seen = payload["_transcript_bytes"]
    payload["_transcript_bytes"] = length_at[max(end for end in length_at if end <= seen)]
    return json.dumps(payload, ensure_ascii=False) + "\n"


def _anonymous(text: str, root: Path) -> str:
    """The recording's root folder is taken out of paths and of the client's folder names."""
    slug = re.sub(r"[^A-Za-z0-9]", "-", str(root))
    return text.replace(str(root), "").replace(slug, "")


def _save(name: str, text: str) -> None:
    host = re.compile(rf"\b{re.escape(socket.gethostname())}\b")
    found = FORBIDDEN.search(text) or host.search(text)
    if found:
        raise SystemExit(f"{name} holds {found.group()!r}; nothing was saved")
    (HERE / name).write_text(text, encoding="utf-8")


def _newest_client() -> Path:
    cache = HERE.parent / ".cache" / "client"
    found = cache.glob("*/node_modules/@anthropic-ai/claude-code-*/claude")
    return max(found, key=lambda path: path.stat().st_mtime)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
