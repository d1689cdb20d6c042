"""The recorded session, played through the real hooks and taken in: one row for everything."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from holdfast.hub.ingest.sync import sync
from holdfast.hub.store.store import Store
from tests.contracts.session_script import emptied, rows_of
from tests.hot.hooks import run

DEMO = Path(__file__).parents[2] / "demo"


def _play(folder: Path) -> list[dict[str, Any]]:
    """Each hook sees the transcript as long as it was then."""
    whole = (DEMO / "session.jsonl").read_bytes()
    transcript = folder / "session.jsonl"
    lines = (DEMO / "payloads.jsonl").read_text(encoding="utf-8").splitlines()
    sent = [json.loads(line) for line in lines]
    for payload in sent:
        transcript.write_bytes(whole[: payload.pop("_transcript_bytes", len(whole))])
        payload |= {"transcript_path": str(transcript), "cwd": str(folder)}
        run(json.dumps(payload).encode(), environ={"CLAUDE_PROJECT_DIR": str(folder)})
    transcript.write_bytes(whole)
    return sent


@pytest.mark.slow
@pytest.mark.requirement("A1", "C3", "X6")
def test_a_recorded_session_is_one_tree(store: Store, tmp_path: Path) -> None:
    sent = _play(tmp_path)
    sync(store)
    found = rows_of(store)
    calls = [one for one in sent if one["hook_event_name"].startswith("PostToolUse")]
    assert len(found["actions"]) == len(calls)
    assert Counter(row["tool_name"] for row in found["actions"]) == Counter(
        one["tool_name"] for one in calls
    )
    failed = [row for row in found["actions"] if row["exit_code"]]
    assert len(failed) == sum(one["hook_event_name"] == "PostToolUseFailure" for one in calls)
    assert all(row["duration_ms"] is not None and row["input"] for row in found["actions"])
    edits = [row for row in found["actions"] if row["tool_name"] in ("Edit", "Write", "Read")]
    assert edits
    assert all(row["file_paths"] for row in edits)
    [request] = found["requests"]
    assert request["prompt"].startswith("Please build tide-tables")
    assert request["status"] == "completed"
    [session] = found["sessions"]
    assert (session["compact_count"], session["total_errors"]) == (1, len(failed))
    assert session["ended_ms"] is not None
    snapshots = [row for row in found["agent_contexts"] if row["agent_type"] == "compact-snapshot"]
    assert snapshots
    assert any(row["role_context"]["recent_actions"] for row in snapshots)
    emptied(store)
    sync(store)
    assert rows_of(store) == found
