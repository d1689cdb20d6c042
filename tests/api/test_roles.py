"""Four roles read one session, each what it works with; and what a brief of rows keeps."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.api.five_waves import AGENTS, REQUESTS, SESSION, Session
from tests.api.trees import a_request, post, restored

MOST_SHARED = 0.4
CALL = {"tool_name": "Bash", "tool_type": "builtin", "session_id": "s1", "project_path": "/w/app"}


@pytest.fixture
def session(api: TestClient) -> Session:
    return Session(api)


@pytest.mark.requirement("B3", "S2")
@pytest.mark.parametrize("most", [500, 2000])
def test_few_lines_are_in_the_briefs_of_all_four_roles(session: Session, most: int) -> None:
    lines = [set(session.brief(role, most).splitlines()) for role in AGENTS]
    shared = set.intersection(*lines)
    assert len(shared) <= MOST_SHARED * sum(map(len, lines)) / len(lines)


@pytest.mark.requirement("B3", "A2")
def test_an_orchestrator_reads_who_is_stuck_what_came_back_and_what_is_next(
    session: Session,
) -> None:
    brief = session.brief("orchestrator")
    assert "Review the double booking fix; waits for be-1, db-1" in brief
    assert "k6 is not installed on the runner" in brief
    assert "bookings has a tstzrange `during`" in brief
    assert "next: wave 4 pending: 0 of 2 tasks done (tide table import, draught rule)" in brief
    assert "Answer 409 when the constraint refuses; waits for db-1: needs the constraint" in brief
    assert '- agent "db-1": `psql -f db/004_no_overlap.sql`' in brief, "with the name of who ran it"


@pytest.mark.requirement("B3")
def test_a_developer_reads_the_request_the_failing_command_and_the_files(session: Session) -> None:
    brief = session.brief("developer")
    assert all(words in brief for words in REQUESTS)
    assert "`npm test`" in brief and "AssertionError: expected 201 to equal 409" in brief
    assert "berths.ts*" in brief and "bookings.ts*" in brief
    assert "k6" not in brief and "next: wave" not in brief, "that is the orchestrator's"
    assert "Review the double booking fix; waits for be-1" in brief
    files = brief.partition("## Files")[2].partition("##")[0]
    assert ".sql*" not in files and "README.md" not in files, "others changed these"
    assert 'agent "db-1" to agent "be-1", context.response' in brief


@pytest.mark.requirement("B3")
def test_a_specialist_reads_its_own_task_its_own_files_and_its_own_findings(
    session: Session,
) -> None:
    brief = session.brief("specialist")
    assert ": Exclusion constraint on berth and `during`" in brief
    assert "db/ 004_no_overlap.sql*, 003_bookings.sql*" in brief
    assert "btree_gist is missing" in brief and "tstzrange" in brief
    assert not any(name in brief for name in (".ts", "README.md")), "it never touched these"


@pytest.mark.requirement("B3")
def test_a_validator_reads_what_fails_and_what_no_run_has_checked(session: Session) -> None:
    brief = session.brief("validator")
    assert "✗ refuses a second ship at the same berth" in brief
    unchecked = brief.partition("## Changed, and no command has passed since")[2].partition("##")[0]
    assert "since `npm run build` passed at step 4: " in unchecked
    assert "src/errors.ts (step 10)" in unchecked
    assert "src/routes/bookings.ts" not in unchecked, "it was built after that edit"
    assert "last calls: Write `tests/berths.test.ts`; Bash `npm test` (failed)" in brief


@pytest.mark.requirement("B3", "A2")
def test_each_of_two_tasks_of_one_agent_that_somebody_waits_for_is_named(session: Session) -> None:
    [task] = session.wave(6, "release")
    ids = [
        session.subtask(task, "developer", words, status="running")["id"]
        for words in ("Write the notes", "Tag the commit")
    ]
    blocked = {"status": "blocked", "blocked_by": ids}
    session.subtask(task, "validator", "Read the notes", **blocked)
    brief = session.brief("validator")
    assert "be-1 (running: Write the notes), be-1 (running: Tag the commit)" in brief


@pytest.mark.requirement("B3", "B4")
@pytest.mark.parametrize("role", AGENTS)
def test_a_role_reads_the_beginning_of_each_request_where_not_all_fit(
    session: Session, role: str
) -> None:
    for number in range(2):
        words = f"Standing rule {number}: the harbour master signs whatever leaves the quay. " * 2
        a_request(session.api, session_id=SESSION, prompt=words)
    brief = session.brief(role, 500)
    assert [words for words in REQUESTS if words[:30] not in brief] == []
    assert all(f"Standing rule {number}" in brief for number in range(2))


@pytest.mark.requirement("B3")
def test_a_users_own_template_decides_over_http_too(session: Session, own_home: Path) -> None:
    folder = own_home / ".holdfast" / "templates"
    folder.mkdir(parents=True)
    (folder / "validator.txt").write_text("messages 50 Heard\n")
    brief = session.brief("validator")
    assert "npm test" not in brief and REQUESTS[-1] in brief


@pytest.mark.requirement("B3", "B4")
@pytest.mark.parametrize("most", [250, 350])
def test_after_the_request_a_small_brief_tells_what_the_role_is_for(
    session: Session, most: int
) -> None:
    wanted = {
        "orchestrator": ("Failed or blocked, and who waits for whom", "Returned by agents"),
        "developer": ("Your own task", "Failed, and not seen to succeed since"),
        "specialist": ("Your own task", "Files (* edited)"),
        "validator": ("Your own task", "Failed, and not seen to succeed since"),
    }
    for role, headings in wanted.items():
        lines = session.brief(role, most).splitlines()
        shown = [line[3:] for line in lines if line.startswith("## ")]
        assert shown[0].endswith("said last") and tuple(shown[1 : 1 + len(headings)]) == headings


@pytest.mark.requirement("B4")
def test_a_saved_summary_does_not_give_way_to_names_of_files(api: TestClient) -> None:
    summary = " ".join(f"Finding {n} of the tide gauge." for n in range(22))
    names = [f"/w/app/src/module_{n}.py" for n in range(53)]
    save = {"session_id": "s1", "context_summary": summary, "modified_files": names}
    assert api.post("/api/compact/save", json=save).status_code == 201
    assert summary in restored(api, max_tokens=500)


@pytest.mark.requirement("B2", "S2")
def test_a_command_is_told_as_it_was_typed_with_what_it_printed(api: TestClient) -> None:
    printed = "FAIL src/tide.test.ts\n  Error: expected 3 to be 4\n    at src/tide.ts:12:3"
    post(api, "action", input="npm test", output=printed, exit_code=1, **CALL)
    for role in ("backend", "qa"):
        brief = restored(api, agent_type=role)
        assert "`npm test`" in brief and "Error: expected 3 to be 4" in brief
    post(api, "action", input="npm test", output="ok", exit_code=0, **CALL)
    assert "expected 3 to be 4" not in restored(api), "it has passed since"


@pytest.mark.requirement("S2")
def test_a_file_stands_once_however_its_path_is_written(api: TestClient) -> None:
    wrote = {**CALL, "tool_name": "Edit", "file_paths": ["/w/app/src/tide.py"]}
    a_request(api)
    post(api, "action", **wrote)
    save = {"session_id": "s1", "modified_files": ["src//tide.py", "/w/app/./src/tide.py"]}
    api.post("/api/compact/save", json=save)
    assert restored(api).partition("## Files")[2].partition("##")[0].count("tide.py") == 1


@pytest.mark.requirement("A1", "B3", "S2")
def test_an_agent_reports_its_progress_and_its_brief_tells_it(session: Session) -> None:
    api = session.api
    [context] = api.get("/api/agent-contexts", params={"agent_id": "db-1"}).json()["contexts"]
    role = context["role_context"]
    assert role["current_task"] == "Exclusion constraint on berth and `during`"
    assert role["spawned_at"].endswith("Z") and role["blockers"] == []
    assert (role["tool_counts"], context["tools_used"]) == (
        {"Bash": 2, "Write": 2},
        ["Bash", "Write"],
    )
    told = {"progress": 60, "next_steps": ["create btree_gist"], "language": "SQL"}
    path = f"/api/agent-contexts/{context['id']}"
    changed = api.patch(path, json={**told, "framework": "none", "unknown": 1})
    assert changed.status_code == 200
    assert told.items() <= changed.json()["context"]["role_context"].items()
    brief = session.brief("specialist")
    for words in ("progress: 60", "next steps: create btree_gist", "language: SQL"):
        assert words in brief
    assert api.patch(path, json={}).status_code == 400
    assert api.patch(path, json={"progress": 101}).status_code == 400
    nowhere = "00000000-0000-4000-8000-000000000000"
    assert api.patch(f"/api/agent-contexts/{nowhere}", json=told).status_code == 404


@pytest.mark.requirement("S2", "C1")
def test_a_poor_automatic_save_hides_nothing_of_a_rich_one(api: TestClient) -> None:
    project = post(api, "project", path="/w/app")
    rich = {"context_summary": "The parser reads two headings", "key_decisions": ["keep it"]}
    whole = {"session_id": "s1", "project_id": project["id"], **rich}
    assert api.post("/api/compact/save", json=whole).status_code == 201
    poor = {"trigger": "proactive", "context_summary": "Guardian proactive save at 1050KB"}
    assert api.post("/api/compact/save", json={"session_id": "s1", **poor}).status_code == 201
    brief = restored(api)
    assert "The parser reads two headings" in brief and "keep it" in brief
    query = {"agent_type": "compact-snapshot", "project_id": project["id"]}
    page = api.get("/api/agent-contexts", params=query).json()
    assert {one["trigger"] for one in page["contexts"]} == {"auto", "proactive"}


@pytest.mark.requirement("A6", "B3")
def test_the_interface_and_the_brief_number_the_waves_alike(
    session: Session, api: TestClient
) -> None:
    current = api.get(f"/api/waves/{SESSION}/current").json()["wave"]
    assert (current["wave_number"], current["status"]) == (3, "running")
    assert "- wave 3 running: " in session.brief("orchestrator")


@pytest.mark.requirement("S2")
def test_whoever_saves_by_itself_is_called_proactive_among_the_contexts(api: TestClient) -> None:
    api.post("/api/compact/save", json={"session_id": "s1", "trigger": "guard"})
    [context] = api.get("/api/agent-contexts?agent_type=compact-snapshot").json()["contexts"]
    assert context["trigger"] == context["role_context"]["trigger"] == "proactive"
