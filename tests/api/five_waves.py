"""One session of five waves, built over HTTP: four agents and their leader, a failing test, work
that waits, and results that came back."""

from typing import Any

from starlette.testclient import TestClient

from tests.api.trees import post

SESSION, ROOT = "harbour-1", "/w/harbour"
AGENTS = {
    "orchestrator": ("lead-1", "tech-lead"),
    "developer": ("be-1", "backend-developer"),
    "specialist": ("db-1", "database-specialist"),
    "validator": ("qa-1", "qa-reviewer"),
}
FAILED = """FAIL tests/berths.test.ts
  ✗ refuses a second ship at the same berth (14 ms)
    AssertionError: expected 201 to equal 409
      at tests/berths.test.ts:48:23
Tests: 1 failed, 11 passed"""
REQUESTS = (
    "Build a berth booking service for the harbour: ships, berths, bookings. Postgres, TypeScript.",
    "Tides matter: a ship with more than 9 m draught may only enter at high water.",
    "Never delete a booking; cancel it, because the port authority audits us.",
    "Two ships got the same berth in the demo. Fix the double booking before anything else.",
)


class Session:
    """The calls of the session; ids of subtasks by their agent and number."""

    def __init__(self, api: TestClient) -> None:
        self.api = api
        self.project = post(api, "project", path=ROOT, name="harbour")
        self.requests = [self._ask(words) for words in REQUESTS]
        self._plan()
        self._work()
        self._talk()

    def _ask(self, words: str) -> Any:
        given = {"project_id": self.project["id"], "session_id": SESSION}
        return post(self.api, "request", prompt=words, **given)

    def wave(self, number: int, *names: str) -> list[Any]:
        given = {"request_id": self.requests[-1]["id"], "wave_number": number}
        return [post(self.api, "task", name=name, **given) for name in names]

    def subtask(self, task: Any, role: str, words: str, **more: Any) -> Any:
        agent_id, kind = AGENTS[role]
        given = {"task_id": task["id"], "agent_id": agent_id, "agent_type": kind}
        return post(self.api, "subtask", description=words, **given, **more)

    def _end(self, subtask: Any, status: str, **result: Any) -> None:
        body = {"status": status, "result": result}
        assert self.api.patch(f"/api/subtasks/{subtask['id']}", json=body).status_code == 200

    def _plan(self) -> None:
        """Two waves are over; the third runs; two are to come."""
        [schema] = self.wave(1, "schema")
        done = self.subtask(schema, "specialist", "Design ships, berths and bookings")
        self._end(done, "completed", summary="Three tables; bookings has a tstzrange `during`")
        [routes] = self.wave(2, "routes")
        done = self.subtask(routes, "developer", "Write POST /bookings and GET /berths")
        self._end(done, "completed", summary="Both routes answer; no overlap check yet")
        broken = self.subtask(routes, "validator", "Load test with 200 ships")
        self._end(broken, "failed", error="k6 is not installed on the runner")
        for wave in (schema, routes):
            self.api.patch(f"/api/tasks/{wave['id']}", json={"status": "completed"})
        constraint, check, review = self.wave(3, "constraint", "overlap check", "review")
        lock = self.subtask(
            constraint, "specialist", "Exclusion constraint on berth and `during`", status="running"
        )
        fix = self.subtask(
            check, "developer", "Answer 409 when the constraint refuses", status="running"
        )
        blocked = {"status": "blocked", "blocked_by": [fix["id"], lock["id"]]}
        self.subtask(review, "validator", "Review the double booking fix", **blocked)
        self.wave(4, "tide table import", "draught rule")
        self.wave(5, "audit log of cancellations")
        self.subtasks = {"specialist": lock["id"], "developer": fix["id"]}

    def _act(self, agent: str, tool: str, *paths: str, **more: Any) -> None:
        whole = [f"{ROOT}/{path}" for path in paths]
        call = {"session_id": SESSION, "project_path": ROOT, "agent_id": AGENTS[agent][0]}
        more = {"file_paths": whole, **more}
        post(self.api, "action", tool_name=tool, tool_type="builtin", **call, **more)

    def _work(self) -> None:
        self._act("specialist", "Write", "db/003_bookings.sql")
        self._act("specialist", "Bash", input="psql -f db/003_bookings.sql", output="CREATE TABLE")
        self._act("developer", "Edit", "src/routes/bookings.ts")
        self._act("developer", "Bash", input="npm run build", output="built in 2.1 s")
        self._act("developer", "Edit", "src/routes/berths.ts")
        self._act("validator", "Write", "tests/berths.test.ts")
        self._act("validator", "Bash", input="npm test", output=FAILED, exit_code=1)
        self._act("specialist", "Write", "db/004_no_overlap.sql")
        self._act(
            "specialist",
            "Bash",
            input="psql -f db/004_no_overlap.sql",
            output="ERROR:  btree_gist is missing\nHINT:  CREATE EXTENSION btree_gist",
            exit_code=3,
        )
        self._act("developer", "Edit", "src/errors.ts")
        self._act("developer", "Read", "db/003_bookings.sql")

    def _talk(self) -> None:
        says = {"from_agent": "db-1", "to_agent": "be-1", "topic": "context.response"}
        says |= {"content": "The constraint raises 23P01, not 23505"}
        post(self.api, "message", project_id=self.project["id"], **says)
        wait = {"blocked_by": "db-1", "blocked_agent": "be-1", "reason": "needs the constraint"}
        assert self.api.post("/api/blocking", json=wait).status_code == 201
        save = {
            "session_id": SESSION,
            "context_summary": "The service books berths; two ships can still get the same one.",
            "key_decisions": ["An exclusion constraint, not a lock in the service"],
            "modified_files": [f"{ROOT}/src/routes/bookings.ts", "README.md"],
        }
        assert self.api.post("/api/compact/save", json=save).status_code == 201

    def brief(self, role: str, max_tokens: int = 2000) -> str:
        """What an agent of this role gets; of no role, the main session."""
        agent_id, kind = AGENTS.get(role, ("main", None))
        body = {"session_id": SESSION, "agent_id": agent_id, "agent_type": kind}
        answer = self.api.post("/api/compact/restore", json={**body, "max_tokens": max_tokens})
        return str(answer.json()["brief"])
