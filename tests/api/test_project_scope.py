"""What one project says does not reach another through a brief or the context of an agent."""

from collections.abc import Callable

import pytest
from starlette.testclient import TestClient

from tests.api.trees import post

pytestmark = pytest.mark.requirement("S2", "X4")
AGENT = "developer"  # the same name works on both projects
Ask = Callable[[TestClient, str], str]


def _restore(api: TestClient, session_id: str) -> str:
    body = {"session_id": session_id, "agent_id": AGENT}
    return api.post("/api/compact/restore", json=body).text


def _context(api: TestClient, session_id: str) -> str:
    return api.get(f"/api/context/{AGENT}", params={"session_id": session_id}).text


def _raw(api: TestClient, session_id: str) -> str:
    query = {"session_id": session_id, "format": "raw"}
    return api.get(f"/api/context/{AGENT}", params=query).text


def _generate(api: TestClient, session_id: str) -> str:
    body = {"session_id": session_id, "agent_id": AGENT}
    return api.post("/api/context/generate", json=body).text


ROUTES: list[Ask] = [_restore, _context, _raw, _generate]


@pytest.fixture
def two_projects(api: TestClient) -> None:
    """Project `one` has a broadcast, a message to the agent and a task of the agent; `two` has a
    session; a broadcast of no project is for both."""
    ids = {name: post(api, "project", path=f"/p/{name}")["id"] for name in ("one", "two")}
    for name, project_id in ids.items():
        api.post("/api/sessions", json={"id": f"session-{name}", "project_id": project_id})
    says = {"from_agent": "lead", "topic": "task.created"}
    words = {"broadcast": None, "direct": AGENT}
    for kind, to_agent in words.items():
        body = {**says, "to_agent": to_agent, "content": {"text": f"{kind} of one"}}
        post(api, "message", project_id=ids["one"], **body)
    post(api, "message", **says, content={"text": "for everybody"})
    request = post(
        api, "request", project_id=ids["one"], session_id="session-one-before", prompt="build"
    )
    task = post(api, "task", request_id=request["id"], name="wave")
    part = {"task_id": task["id"], "session_id": "session-one-before", "agent_id": AGENT}
    post(api, "subtask", **part, description="subtask of one", status="running")


WORDS = ("broadcast of one", "direct of one", "subtask of one")


@pytest.mark.usefixtures("two_projects")
@pytest.mark.parametrize("ask", ROUTES)
@pytest.mark.parametrize("session_id", ["never-seen", "session-two"])
def test_words_of_another_project_are_in_no_answer(
    api: TestClient, ask: Ask, session_id: str
) -> None:
    answer = ask(api, session_id)
    assert not [words for words in WORDS if words in answer]
    assert "for everybody" in answer


@pytest.mark.usefixtures("two_projects")
@pytest.mark.parametrize("ask", ROUTES)
def test_words_of_its_own_project_are_in_the_answer(api: TestClient, ask: Ask) -> None:
    answer = ask(api, "session-one")
    assert [words for words in WORDS if words in answer] == list(WORDS)
