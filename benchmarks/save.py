"""What saving and restoring cost: whole hook processes as ratios to a bare interpreter start.

    python -m benchmarks.save

All take turns in one run, and so does a plain chain of `bash`, `stat` and `jq` that does what such
hooks usually do: no redaction, no verification, no rules, and nothing read on from where it ended.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from benchmarks import made_up, shared_work
from benchmarks.hooks import BARE, HOOK
from holdfast.checkpoint import index
from holdfast.checkpoint.index import CheckpointEntry
from holdfast.client import sample_payloads
from holdfast.hub import projection_file
from holdfast.settings.table import BY_NAME
from holdfast.wire import places

Row = tuple[str, str, str]
Turn = Callable[[], "Spent"]
Spent = tuple[float, float]  # seconds on the wall, seconds of CPU
ROUNDS, LARGE_ROUNDS = 15, 3
MB = 1 << 20
OTHERS, ROWS = 1_000, 10_000
FIRST, LARGE = "PreCompact, 5 MB read for the first time", "PreCompact, 100 MB for the first time"
SINCE = "PreCompact, 1 MB since the last"
BACK = (
    f"SessionStart(compact), 5 MB, {OTHERS:,} checkpoints in the index, {ROWS:,} rows in the store"
)
COLD = "the same, the transcript never read before"
TO_REACH = {FIRST: 20, LARGE: 60, BACK: 10}
JQ_SAVE, JQ_BACK = "`bash` + `stat` + `jq`: save, 5 MB", "`bash` + `stat` + `jq`: restore"
JQ_LARGE = "`bash` + `stat` + `jq`: save, 100 MB"
CHAIN_SAVE = r"""
set -eu
input=$(cat)
transcript=$(jq -r .transcript_path <<<"$input")
session=$(jq -r .session_id <<<"$input")
size=$(stat -c%s "$transcript" 2>/dev/null || stat -f%z "$transcript")
tokens=$((size / 4))
files=$(jq -r 'select(.type == "assistant") | .message.content[]?
  | select(.type == "tool_use" and (.name == "Edit" or .name == "Write"))
  | .input.file_path' "$transcript" | sort -u | jq -R . | jq -s .)
messages=$(jq -c 'select(.type == "user" or .type == "assistant")
  | {type, content: .message.content}' "$transcript" | tail -n 20 | jq -s .)
jq -n --arg session "$session" --arg at "$(date -u +%FT%TZ)" --argjson tokens "$tokens" \
  --argjson files "$files" --argjson messages "$messages" \
  '{session_id: $session, created_at: $at, tokens: $tokens, modified_files: $files,
    recent_messages: $messages}' > "$SNAPSHOT"
"""
CHAIN_BACK = r"""
set -eu
input=$(cat)
test "$(jq -r .source <<<"$input")" = compact
test "$(stat -c%s "$SNAPSHOT" 2>/dev/null || stat -f%z "$SNAPSHOT")" -gt 0
brief=$(jq -r '"# Restored Context\n\n## Modified Files\n"
  + ([.modified_files[] | "- " + .] | join("\n")) + "\n\n## Recent Messages\n"
  + ([.recent_messages[] | .content | tostring | .[0:300]] | join("\n"))' "$SNAPSHOT")
jq -n --arg context "$brief" \
  '{hookSpecificOutput: {hookEventName: "SessionStart", additionalContext: $context}}'
"""


def rows() -> Iterator[Row]:
    """(measure, figure, what to reach) for each figure."""
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        found = _measure(Path(name))
    bare = found.pop("bare")
    yield "bare `python -I -S -c pass`", f"{bare[0] * 1e3:.0f} ms, {bare[1] * 1e3:.0f} ms CPU", ""
    for title, (wall, cpu) in found.items():
        wanted = f"≤ {TO_REACH[title]}x" if title in TO_REACH else ""
        ratios = f"{wall / bare[0]:.1f}x, CPU {cpu / bare[1]:.1f}x of a bare start"
        yield title, f"{ratios} ({wall * 1e3:.0f} ms)", wanted
    most = BY_NAME["brief_tokens"].default
    yield "a brief at the default setting, at most", f"{most:,} tokens", ""
    if shutil.which("jq") is None:
        yield "`bash` + `stat` + `jq`", "not measured: no `jq` here", ""


def _measure(folder: Path) -> dict[str, Spent]:
    bench = Bench(folder)
    turns: dict[str, Turn] = {
        "bare": lambda: spent(BARE, b"", {}),
        FIRST: lambda: bench.save(bench.small),
        SINCE: bench.save_since,
        BACK: lambda: bench.give_back(),
        COLD: lambda: bench.give_back(read_before=False),
    }
    large: dict[str, Turn] = {LARGE: lambda: bench.save(bench.large)}
    if shutil.which("jq"):
        turns |= {
            JQ_SAVE: lambda: bench.chain(CHAIN_SAVE, "PreCompact", bench.small),
            JQ_BACK: lambda: bench.chain(CHAIN_BACK, "SessionStart", bench.small),
        }
        large[JQ_LARGE] = lambda: bench.chain(CHAIN_SAVE, "PreCompact", bench.large)
    taken: dict[str, list[Spent]] = {name: [] for name in (*turns, *large)}
    for turn in range(ROUNDS):
        now = turns | large if turn % (ROUNDS // LARGE_ROUNDS) == 0 else turns
        for name, take in now.items():
            taken[name].append(take())
    return {name: _middle(times) for name, times in taken.items()}


def _middle(times: list[Spent]) -> Spent:
    return median(wall for wall, _ in times), median(cpu for _, cpu in times)


class Bench:
    """A home with many checkpoints in its index, and made-up sessions beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.small, self.large = folder / "5mb.jsonl", folder / "100mb.jsonl"
        self.longer, self.project = folder / "longer.jsonl", folder / "project"
        self.project.mkdir()
        git = ["git", "-C", str(self.project), "-c", "user.name=s", "-c", "user.email=s@localhost"]
        for words in (["init", "--quiet"], ["commit", "--quiet", "--allow-empty", "-m", "Begin"]):
            subprocess.run([*git, *words], check=True)  # a save asks git
        os.environ["HOLDFAST_HOME"] = str(folder / "home")
        made_up.write(self.large, 100 * MB)
        self.rounds = made_up.write(self.small, 5 * MB)
        index.save(_others(folder))
        noted = Path(index.own_path())  # as of any checkpoint that was made on this machine
        noted.write_text("".join(f"{one.content_hash}\n" for one in _others(folder)))
        self.index = Path(index.path()).read_bytes()
        self.shared = shared_work.of_a_store(self.project, ROWS)
        self.count = 0

    def save(self, transcript: Path) -> Spent:
        """A session never seen before, in a project with nothing saved yet."""
        self._clear()
        return self._hook("PreCompact", transcript)

    def save_since(self) -> Spent:
        """One checkpoint is there; then the session went on for 1 MB."""
        self._clear()
        shutil.copyfile(self.small, self.longer)
        self._hook("PreCompact", self.longer)
        made_up.write(self.longer, MB, first_round=self.rounds, append=True)
        return self._hook("PreCompact", self.longer)

    def give_back(self, *, read_before: bool = True) -> Spent:
        self._clear()
        if read_before:
            self._hook("PreCompact", self.small)
        return self._hook("SessionStart", self.small)

    def chain(self, script: str, event: str, transcript: Path) -> Spent:
        own = {"SNAPSHOT": str(self.folder / "snapshot.json")}
        return spent(["bash", "-c", script], self._payload(event, transcript), own)

    def _clear(self) -> None:
        """A window of its own each time, with what the store knows; the index as it was."""
        self.count += 1
        Path(index.path()).write_bytes(self.index)
        shutil.rmtree(self.project / ".claude", ignore_errors=True)
        shutil.rmtree(places.windows(), ignore_errors=True)
        window = places.window(self._session)
        Path(window).mkdir(parents=True)
        projection_file.write(window, {**self.shared, "at_ms": int(time.time() * 1000)})

    @property
    def _session(self) -> str:
        return f"bench{self.count}"

    def _hook(self, event: str, transcript: Path) -> Spent:
        return spent(HOOK, self._payload(event, transcript), self._environ())

    def _environ(self) -> dict[str, str]:
        return {"CLAUDE_PROJECT_DIR": str(self.project), "HOLDFAST_RAISE": "1"}

    def _payload(self, event: str, transcript: Path) -> bytes:
        sent = sample_payloads.make_payload(
            event,
            session_id=self._session,
            transcript=str(transcript),
            cwd=str(self.project),
        )
        return json.dumps(sent | ({"source": "compact"} if "Start" in event else {})).encode()


def _others(folder: Path) -> Iterator[CheckpointEntry]:
    """Checkpoints of fifty other projects: the index knows them, nobody opens them."""
    for number in range(OTHERS):
        project = str(folder / f"other-{number % 50}")
        stamp = f"2026-01-{1 + number % 28:02}_{number % 24:02}{number % 60:02}{number // 24:02}"
        yield CheckpointEntry(
            id=stamp,
            path=f"{project}/.claude/checkpoints/{stamp}.md",
            project=project,
            created=f"2026-01-{1 + number % 28:02}T{number % 24:02}:00:00Z",
            trigger="auto",
            verified=True,
            iteration=number // 50,
            summary="Teach the parser to read gauge files with two headings",
            session_id=f"other-{number % 90}",
            agent_id="",
            parent="",
            content_hash=f"{number:064x}",
            state_hash=f"{number:064x}",
        )


def spent(command: list[str], data: bytes, own: dict[str, str]) -> Spent:
    """Of one process and whatever it started; one that errs or says nothing is no measure."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run = subprocess.run(command, input=data, capture_output=True, check=True, env=os.environ | own)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    hook = command is HOOK
    if run.stderr or (hook and not run.stdout):
        raise RuntimeError(f"it was not well: {run.stderr!r}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu


if __name__ == "__main__":
    for title, figure, wanted in rows():
        print(f"{title:64} {figure:28} {wanted}", flush=True)
    sys.exit(0)
