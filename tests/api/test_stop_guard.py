"""The stop guard hears of work that was posted through the API, as `status` does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from holdfast.cli.main import holdfast_command
from holdfast.hub import projection
from holdfast.hub.ingest.sync import sync
from holdfast.hub.store.store import Store
from tests.api.trees import post
from tests.builders import a_prompt, a_result, a_transcript, an_answer
from tests.hot.hooks import fire

ON = {"HOLDFAST_STOP_GUARD": "on"}


@pytest.mark.slow  # several hook processes
@pytest.mark.requirement("G7")
def test_a_running_subtask_posted_through_the_api_holds_a_stop_up(
    api: TestClient, store: Store, tmp_path: Path
) -> None:
    answer = an_answer(20_000, id="m1", calls=("t1",))
    path = a_transcript(tmp_path / "t.jsonl", a_prompt("go"), answer, a_result("t1", "fine"))
    environ = {**ON, "CLAUDE_PROJECT_DIR": str(tmp_path)}
    fire("SessionStart", path, environ=environ)
    fire("PostToolUse", path, environ=environ, tool_use_id="t1", tool_name="Bash")
    sync(store)
    followed = projection.follow(store, 0)
    assert fire("Stop", path, environ=environ) == {}
    [project] = api.get("/api/projects").json()["projects"]
    asked = post(api, "request", project_id=project["id"], session_id="s1", prompt="p")
    task = post(api, "task", request_id=asked["id"])
    own = {"task_id": task["id"], "description": "d", "agent_type": "writer", "status": "running"}
    part = post(api, "subtask", **own)
    followed = projection.follow(store, followed)
    said = fire("Stop", path, environ=environ)
    ran = CliRunner().invoke(holdfast_command, ["status", "s1", "--json"])
    assert "Still running: writer" in said["reason"]
    assert said["reason"] == json.loads(ran.stdout)["stop_guard"]["reason"]
    api.patch(f"/api/subtasks/{part['id']}", json={"status": "completed"})
    projection.follow(store, followed)
    assert fire("Stop", path, environ=environ) == {}
