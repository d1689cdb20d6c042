"""What the briefs of rows say, and that they say what they leave out."""

import re
import time
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.api.trees import a_request, post, restored

CALL = {"tool_name": "Bash", "tool_type": "builtin", "session_id": "s1", "project_path": "/w/app"}


def _cut(brief: str) -> int:
    """How many items the brief says that it leaves out."""
    return sum(map(int, re.findall(r"\((\d+) more (?:items|messages)", brief)))


def _save(api: TestClient, **fields: Any) -> None:
    assert api.post("/api/compact/save", json={"session_id": "s1", **fields}).status_code == 201


@pytest.mark.requirement("B4", "S2")
@pytest.mark.parametrize(
    ("chars", "most"), [(300, 100), (500, 150), (700, 250), (900, 250), (1300, 350)]
)
@pytest.mark.parametrize("mark", ["x", "🧭"])
def test_a_request_without_room_is_cut_and_never_left_out(
    api: TestClient, chars: int, most: int, mark: str
) -> None:
    prompt = "Move the gauge " + f"{mark * 7} " * (chars // 8)
    a_request(api, prompt="Draw the quay")
    a_request(api, prompt=prompt)
    _save(api, context_summary="Nine gauges are in the file. " * 9)
    post(api, "action", input="npm test", output="FAIL tide.ts:3", exit_code=1, **CALL)
    for kind in (None, "backend", "qa", "planner", "expert"):
        brief = restored(api, max_tokens=most, agent_type=kind)
        assert "“Move the gauge " in brief and "About" not in brief
        assert len(brief.encode("utf-16-le")) // 2 <= most * 3.5


@pytest.mark.requirement("S2")
def test_a_long_name_of_a_session_leaves_room_for_the_request(api: TestClient) -> None:
    name = "release " * 60
    a_request(api, session_id=name, prompt="Draw the quay")
    assert "“Draw the quay”" in restored(api, session_id=name, max_tokens=100)


@pytest.mark.requirement("S2", "C1")
def test_the_newest_summary_comes_first_and_the_one_before_it_stays(api: TestClient) -> None:
    _save(api, trigger="proactive", context_summary="OLD words", key_decisions=["keep it"])
    _save(api, trigger="proactive", context_summary="NEW words")
    found = api.get("/api/compact/snapshot/s1").json()
    assert found["summary"] == found["snapshot"]["context_summary"] == "NEW words"
    brief = restored(api)
    assert brief.index("Z: “NEW words”") < brief.index("Z: “OLD words”") < brief.index("keep it")


@pytest.mark.requirement("B4", "A2")
def test_the_newest_messages_are_shown_and_the_others_counted(api: TestClient) -> None:
    a_request(api)
    for number in range(60):
        told = f"news {number:02} " + "of the tide gauge " * 6
        sent = {"from_agent": "be-1", "to_agent": "main", "topic": "task.completed"}
        post(api, "message", content=told, **sent)
    brief = restored(api, max_tokens=1000)
    shown = re.findall(r"news (\d\d)", brief)
    assert shown == [f"{number:02}" for number in range(60 - len(shown), 60)]
    assert 5 < len(shown) < 60 and _cut(brief) == 60 - len(shown)


@pytest.mark.requirement("B4", "S2")
def test_every_request_is_shown_or_counted(api: TestClient) -> None:
    for number in range(80):
        a_request(api, prompt=f"Part {number:02} of the harbour " + "and its quay " * 6)
    for most in (250, 8000):
        brief = restored(api, max_tokens=most)
        shown = len(re.findall(r"Part \d\d", brief))
        assert "Part 79" in brief and shown + _cut(brief) == 80 and (most == 250 or shown == 80)


@pytest.mark.requirement("B4", "S2")
def test_every_saved_file_is_shown_or_counted(api: TestClient) -> None:
    _save(api, modified_files=[f"/w/src/part_{number:02}/module.py" for number in range(53)])
    brief = restored(api)
    assert len(re.findall(r"part_\d\d", brief)) + _cut(brief) == 53


@pytest.mark.requirement("B4", "A2")
def test_every_failed_subtask_is_shown_or_counted(api: TestClient) -> None:
    task = post(api, "task", request_id=a_request(api)["id"])
    for number in range(40):
        given = {"task_id": task["id"], "status": "failed", "agent_id": f"be-{number}"}
        post(api, "subtask", description=f"Lay stone {number:02} of the quay", **given)
    for most in (500, 8000):
        brief = restored(api, max_tokens=most, agent_type="orchestrator")
        shown = len(set(re.findall(r"stone \d\d", brief)))
        assert shown + _cut(brief) == 40 and (most == 500 or shown == 40)


@pytest.mark.requirement("B4", "S2")
def test_every_failing_command_is_called_failed_or_counted(api: TestClient) -> None:
    for number in range(40):
        failed = {"output": "no such tide", "exit_code": 1}
        post(api, "action", input=f"make chart{number:02}", **failed, **CALL)
    brief = restored(api, agent_type="qa", max_tokens=2000)
    lines = [line for line in brief.splitlines() if line.startswith("- `make")]
    assert len(lines) > 11 and len(lines) + _cut(brief) == 40
    assert " printed at " not in brief


@pytest.mark.requirement("B2", "A2")
def test_an_orchestrator_is_told_of_a_finished_subtask_without_a_result(api: TestClient) -> None:
    task = post(api, "task", request_id=a_request(api)["id"])
    post(api, "subtask", task_id=task["id"], description="Dredge the basin", status="completed")
    brief = restored(api, agent_type="orchestrator")
    assert "Dredge the basin" in brief.partition("## Returned by agents")[2]


@pytest.mark.requirement("S2", "B3")
@pytest.mark.parametrize("kind", [None, "planner", "backend", "expert", "qa"])
def test_saved_tasks_and_states_are_told_to_every_role(api: TestClient, kind: str | None) -> None:
    tasks = [("1", "Dig the basin", "running"), ("2", "Lay the quay", "blocked")]
    tasks.append(("3", "Light the tower", "failed"))
    named = [dict(zip(("id", "description", "status"), task, strict=True)) for task in tasks]
    states = [{"agent_id": "be-1", "status": "waiting"}]
    _save(api, active_tasks=named, agent_states=states)
    brief = restored(api, agent_type=kind)
    for words in ("running: Dig the basin", "blocked: Lay the quay", "failed: Light the tower"):
        assert words in brief
    assert "be-1, waiting" in brief
    _save(api, agent_states={"frontend": "waiting for the pilot"})
    assert "- frontend, waiting for the pilot" in restored(api, agent_type=kind)


@pytest.mark.requirement("S2", "A2")
def test_of_a_saved_state_and_a_row_the_newer_one_holds(api: TestClient) -> None:
    task = post(api, "task", request_id=a_request(api)["id"])
    state = {"agent_id": "be-1", "status": "failed", "summary": "the crane broke"}
    _save(api, agent_states=[state], wave_state={"current": 0})
    time.sleep(0.002)
    part = {"task_id": task["id"], "description": "Lay the quay", "agent_id": "be-1"}
    post(api, "subtask", status="running", agent_type="backend", **part)
    [context] = api.get("/api/agent-contexts?agent_id=be-1").json()["contexts"]
    api.patch(f"/api/agent-contexts/{context['id']}", json={"progress": 60})
    brief = restored(api, agent_type="planner")
    assert "be-1, failed" not in brief and "running: summary: the crane broke" in brief
    assert "progress: 60" in brief
    assert "current: 0" not in brief
    time.sleep(0.002)
    _save(api, agent_states=[{**state, "summary": "the crane fell"}], wave_state={"current": 1})
    brief = restored(api, agent_type="planner")
    assert "backend be-1, failed" in brief.partition("## Failed or blocked")[2]
    assert "running" not in brief and "failed: summary: the crane fell" in brief
    assert "current: 1" in brief


@pytest.mark.requirement("A1", "B3")
def test_an_agent_is_not_told_its_own_name_and_status(api: TestClient) -> None:
    name = "6b6b6b6b-0000-4000-8000-000000000000"
    a_request(api)
    _save(api, agent_states=[{"agent_id": name, "agent_type": "main", "status": "running"}])
    assert name not in restored(api, agent_id=name)
    _save(api, agent_states=[{"agent_id": name, "status": "running", "summary": "two of three"}])
    brief = restored(api, agent_id=name)
    assert name not in brief and "two of three" in brief.partition("## Your own task")[2]


@pytest.mark.requirement("B3", "A1")
def test_an_agents_own_failure_comes_first(api: TestClient) -> None:
    for agent, line in (("be-1", "pytest own"), *(("fe-1", f"make {n}") for n in range(4))):
        failed = {"output": "E ValueError: tide.py:3", "exit_code": 1, "agent_id": agent}
        post(api, "action", input=line, **failed, **CALL)
    brief = restored(api, agent_id="be-1", agent_type="backend", max_tokens=250)
    assert brief.partition("since\n- ")[2].startswith("`pytest own`")


@pytest.mark.requirement("A6", "B3")
def test_the_waves_of_two_requests_do_not_mix(api: TestClient) -> None:
    first = a_request(api, prompt="Build the quay")
    for number in range(3):
        task = post(api, "task", request_id=first["id"], wave_number=number)
        api.patch(f"/api/tasks/{task['id']}", json={"status": "completed"})
    second = a_request(api, prompt="Paint the crane")
    for name in ("sand it", "paint it"):
        task = post(api, "task", request_id=second["id"], name=name)
    current = api.get("/api/waves/s1/current").json()["wave"]
    assert (current["wave_number"], current["status"]) == (0, "pending")
    brief = restored(api)
    assert "wave 0 pending: 0 of 1 tasks done (sand it); 0 of 2 waves are over" in brief
    assert "next: wave 1 pending" in brief
    assert api.get("/api/waves/s1/history").json()["total"] == 5
    for found in api.get(f"/api/requests/{second['id']}").json()["request"]["tasks"]:
        api.patch(f"/api/tasks/{found['id']}", json={"status": "completed"})
    assert api.get("/api/waves/s1/current").status_code == 404


@pytest.mark.requirement("B3", "S2")
def test_an_agent_that_names_no_type_gets_the_brief_of_its_rows(api: TestClient) -> None:
    task = post(api, "task", request_id=a_request(api)["id"])
    for agent, kind in (("be-1", "backend"), ("fe-1", "frontend")):
        given = {"task_id": task["id"], "agent_id": agent, "agent_type": kind}
        post(api, "subtask", description=f"Lay the {agent} quay", status="running", **given)
    others = "Lay the fe-1 quay"
    assert others not in restored(api, agent_id="be-1")
    assert restored(api, agent_id="be-1") == restored(api, agent_id="be-1", agent_type="backend")
    for main in ("s1", "nobody"):
        assert others in restored(api, agent_id=main)
    assert others in api.get("/api/context/s1").json()["brief"]["content"]
