"""What the session's own commands did with git, as git printed it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.checkpoint.sections import sections_of
from holdfast.record import open_items, read_record
from holdfast.record.model import load, save
from tests.checkpoint.sessions import Session
from tests.transcript import builders as b

MADE = "[fix/ebb 1a2b3c4] Mend the ebb\n 1 file changed"
HERE = "git add -A && git commit {0} <<'EOF'\nMend the ebb\n\nBecause; it's broken.\nEOF\n{1}"


def told(session: Session, folder: Path) -> str:
    found = sections_of(session.record(folder))["In Progress"]
    return next((one for one in found if one.startswith("git, by this session: ")), "")[22:]


def edited() -> Session:
    return Session().user("Mend it, please.").edits("/work/project/tide.py")


@pytest.mark.requirement("C14")
def test_changes_without_a_commit_are_said_to_be_so(tmp_path: Path) -> None:
    assert told(edited(), tmp_path) == "no commit was made in this session"
    session = edited().runs("git commit -m 'Mend the ebb'", "error: hook failed", fails=True)
    refused = "no commit was made in this session; the last git commit did not succeed"
    assert told(session, tmp_path) == refused
    session.runs("git commit --dry-run").runs("echo git commit -m x")
    session.runs(
        "cd /tmp && mkdir try && cd try && git commit -m 'Try it'", "[main 1a2b3c4] Try it"
    )
    session.runs("git init lab && cd lab && git commit -m 'Try it'", "[main 1a2b3c4] Try it")
    assert told(session, tmp_path) == refused
    assert told(Session().user("Look.").runs("ls"), tmp_path) == "", "nothing was changed"


@pytest.mark.requirement("C14")
@pytest.mark.parametrize(
    ("command", "output", "last"),
    [
        ("git commit -m 'Mend the ebb'", MADE, "1a2b3c4 “Mend the ebb”"),
        ('git commit -qm "Mend the ebb"', "", "“Mend the ebb”"),
        ("rtk git commit -m 'Mend the ebb'", "ok", "“Mend the ebb”"),
        (
            "git commit -qm 'Mend the ebb' && git log -1 --oneline",
            "1a2b3c4 Mend the ebb",
            "1a2b3c4 “Mend the ebb”",
        ),
        (HERE.format("-q -F -", ""), "", "“Mend the ebb”"),
        (
            HERE.format("-q -F -", "git log --oneline -1"),
            "1a2b3c4 Mend the ebb",
            "1a2b3c4 “Mend the ebb”",
        ),
        (HERE.format('-m "$(cat', ')"'), MADE, "1a2b3c4 “Mend the ebb”"),
    ],
)
def test_the_last_commit_is_named(command: str, output: str, last: str, tmp_path: Path) -> None:
    session = edited().runs(command, output)
    on = "on branch fix/ebb; " if output == MADE else ""
    assert told(session, tmp_path) == (f"{on}1 commit, the last {last}, no git push after it")


@pytest.mark.requirement("C14")
def test_pushes_requests_and_later_changes_are_told(tmp_path: Path) -> None:
    session = edited().runs("git commit -m x && git push", f"{MADE}\n main -> main")
    last = "on branch fix/ebb; 1 commit, the last 1a2b3c4 “Mend the ebb”"
    assert told(session, tmp_path) == f"{last}, pushed"
    session.runs("gh pr create --fill", "Warning\nhttps://git.example.org/quay/pull/31")
    assert told(session, tmp_path) == f"{last}, pushed; pull request #31 created"
    session.runs("gh pr merge 31 --squash --auto").runs("gh pr merge 31", "X not", fails=True)
    assert told(session, tmp_path) == f"{last}, pushed; pull request #31 created"
    session.runs("gh pr merge 31 --squash --delete-branch", "Merged.")
    session.edits("/work/project/moon.py").edits("/tmp/notes.md")
    merged = "pull request #31 merged; changed after that commit: moon.py"
    assert told(session, tmp_path) == f"{last}, pushed; {merged}"
    session.runs("git commit --amend --no-edit", MADE).runs("git push", "[rejected]", fails=True)
    refused = "pull request #31 merged; the last git push did not succeed"
    assert told(session, tmp_path) == f"{last}, no git push after it; {refused}"
    steps = sections_of(session.record(tmp_path))["Next Steps"]
    assert "git push did not succeed, and was not repeated" in steps


@pytest.mark.requirement("C14")
def test_a_request_that_a_server_created_is_known(tmp_path: Path) -> None:
    session = edited().calls(
        "mcp__github__create_pull_request", '{"url": "https://git.example.org/quay/pull/7"}'
    )
    assert told(session, tmp_path).endswith("; pull request #7 created")


@pytest.mark.requirement("C14")
def test_a_long_past_commit_is_known(tmp_path: Path) -> None:
    session = edited().runs("git commit -m x", MADE)
    session.calls("Read", "tide " * 800_000, file_path="/work/project/long.txt").says("Done.")
    assert "1a2b3c4 “Mend the ebb”" in told(session, tmp_path)


REJECTED = "hint: Updates were rejected because the tip is behind\nhint: See the note"


@pytest.mark.requirement("C14")
@pytest.mark.parametrize(
    ("command", "output", "is_pushed"),
    [
        ("git push", "To quay:tides\n   1a2b3c4..5d6e7f8  main -> main", True),
        ("git push -q", "", True),
        ("git push origin HEAD 2>&1 | tail -1", " * [new branch]  fix/ebb -> fix/ebb", True),
        ("git push | tail -3", REJECTED, False),
        ("git push 2>&1 | tail -1", "remote: the door is closed", False),
        ("git push 2>&1 | tail -1", "Everything up-to-date", True),
        ("quay open --all", "Pushed branch fix/ebb to origin", True),
        ("quay open --all", "To quay:tides\n * [new branch]      fix/ebb -> fix/ebb", True),
        ("git log", "pushed to the limit", False),
        ("git fetch", "From quay:tides\n   1a2b3c4..5d6e7f8  main -> origin/main", False),
    ],
)
def test_a_push_is_believed_by_what_was_printed(
    command: str, output: str, is_pushed: bool, tmp_path: Path
) -> None:
    session = edited().runs("git commit -m x", MADE).runs(command, output)
    assert ("no git push after it" not in told(session, tmp_path)) is is_pushed


@pytest.mark.requirement("C14")
@pytest.mark.parametrize(
    ("output", "is_made"),
    [
        ("black....................Failed\n- hook id: black", False),
        ("FAILED tests/test_tide.py::test_ebb\n1 failed", False),
        (" 2 files changed, 3 insertions(+)", True),
        ("On branch fix/ebb", True),
    ],
)
def test_a_commit_that_a_hook_stopped_was_not_made(
    output: str, is_made: bool, tmp_path: Path
) -> None:
    session = edited().runs("git commit -m 'Mend the ebb' | tail -3", output)
    assert (session.record(tmp_path).git.commits == 1) is is_made


@pytest.mark.requirement("C14")
def test_branches_and_repositories_are_told_apart(tmp_path: Path) -> None:
    session = edited().runs("git commit -m x", MADE).runs("git commit -m y", MADE)
    session.runs("git switch -c fix/flood && git commit -m z", "[fix/flood 2b3c4d5] Mend the flood")
    session.runs("git -C /work/moon commit -m m", "[main 3c4d5e6] Draw the moon")
    session.runs("cd /work/moon && git push", "To quay:moon\n   1a2b3c4..3c4d5e6  main -> main")
    found = [one for one in sections_of(session.record(tmp_path))["In Progress"] if "git," in one]
    ebb = "2 commits, the last 1a2b3c4 “Mend the ebb”, no git push after it"
    flood = "1 commit, the last 2b3c4d5 “Mend the flood”, no git push after it"
    moon = "1 commit, the last 3c4d5e6 “Draw the moon”, pushed"
    assert found == [
        f"git, by this session: in /work/moon; on branch main; {moon}",
        f"git, earlier, on branch fix/ebb in /work/project: {ebb}",
        f"git, earlier, on branch fix/flood in /work/project: {flood}",
    ]
    session.runs("git push -u origin fix/flood", "To quay:tides\n * [new branch] x -> x")
    assert "2b3c4d5 “Mend the flood”, pushed" in "".join(
        sections_of(session.record(tmp_path))["In Progress"]
    )


@pytest.mark.requirement("C14")
def test_a_clean_tree_leaves_nothing_to_commit(tmp_path: Path) -> None:
    session = edited().runs("git commit -m x", MADE).edits("/work/project/moon.py")
    session.runs("git commit -m y", "husky - pre-commit hook exited", fails=True)
    assert "moon.py; " not in told(session, tmp_path)
    assert told(session, tmp_path).endswith("changed after that commit: moon.py")
    session.runs("git status", "On branch fix/ebb\nnothing to commit, working tree clean")
    assert told(session, tmp_path).endswith("no git push after it")


def next_steps(session: Session, folder: Path) -> str:
    return "\n".join(sections_of(session.record(folder))["Next Steps"])


ASKED = "asked for in turn 1, none seen since: "


@pytest.mark.requirement("B13", "C14")
@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ("Mend the ebb, then commit and push.", "commit, push"),
        ("Mend it and open a pull request", "pull request"),
        ("Behebe das, dann push", "push"),
        ("Mend it, but do not commit. Never push!", ""),
        ("Look at the commit of Friday and the PR.", ""),
        ("Commit this rule to your memory.", ""),
    ],
)
def test_what_was_asked_of_git_is_open_until_it_is_seen(
    words: str, missing: str, tmp_path: Path
) -> None:
    session = Session().user(words).edits("/work/project/tide.py").says("The ebb is mended.")
    steps = next_steps(session, tmp_path)
    assert (ASKED in steps) is bool(missing)
    assert all(one in steps for one in missing.split(", "))
    session.runs("git commit -m x && git push", f"{MADE}\n 1a2b3c4..5d6e7f8 main -> main")
    session.runs("gh pr create --fill", "https://git.example.org/quay/pull/31").says("Done.")
    assert ASKED not in next_steps(session, tmp_path)


@pytest.mark.requirement("B13", "C14")
def test_what_the_user_did_or_a_subagent_may_have_done_is_not_missed(tmp_path: Path) -> None:
    session = Session().user("Commit and push.").says("I cannot push.")
    assert ASKED in next_steps(session, tmp_path)
    session.user("I committed and pushed it.").says("Fine.")
    assert ASKED not in next_steps(session, tmp_path)
    session = Session().user("Commit it.").calls("Agent", "Done.", description="commit")
    assert ASKED not in next_steps(session.says("Done."), tmp_path)
    session = Session().user("Commit it.").runs("git log -1", "18345cf Draw the moon")
    assert ASKED not in next_steps(session.says("A hook has made commit `18345cf`."), tmp_path)
    session = Session().user("Commit it.").runs("git status -s", "?? notes.md")
    assert ASKED not in next_steps(session.says("Nothing to commit."), tmp_path)


def brief_line(session: Session, folder: Path) -> str:
    lines = compose(session.record(folder)).text.splitlines()
    return next((one for one in lines if one.startswith("- git: ")), "")[7:]


@pytest.mark.requirement("B13", "C14")
def test_the_brief_tells_what_is_neither_committed_nor_pushed(tmp_path: Path) -> None:
    assert brief_line(Session().user("Look.").runs("ls"), tmp_path) == ""
    session = edited().runs("git commit -m x", MADE).edits("/work/project/moon.py")
    last = "on branch fix/ebb; last commit 1a2b3c4 “Mend the ebb”"
    assert brief_line(session, tmp_path) == f"{last}, not pushed; not committed: moon.py"
    text = compose(session.record(tmp_path)).text
    assert text.count("1a2b3c4") == text.count("fix/ebb") == 1, "told once"
    session.edits("/work/project/.gitignore").edits("/work/project/.claude/plans/a.md")
    assert brief_line(session, tmp_path).endswith("not committed: moon.py, .gitignore")
    session.runs("git push", "To quay:tides\n   0a1b2c3..1a2b3c4  fix/ebb -> fix/ebb")
    session.runs("git -C /work/moon commit -m m", "[main 3c4d5e6] Draw the moon")
    session.runs("git -C /work/moon push", "To quay:moon\n   1a2b3c4..3c4d5e6  main -> main")
    session.runs("git switch -c fix/flood && git commit -m z", "[fix/flood 2b3c4d5] Mend it")
    told = "on branch fix/flood; last commit 2b3c4d5 “Mend it”, not pushed"
    assert brief_line(session, tmp_path) == told


@pytest.mark.requirement("C14")
def test_what_something_else_committed_is_not_told_as_left_over(tmp_path: Path) -> None:
    session = edited().runs("git commit -m x", MADE).edits("/work/project/moon.py")
    session.runs("git commit -m y", "On branch fix/ebb\nnothing to commit, working tree clean")
    session.runs("git push", "To quay:tides\n   1a2b3c4..9f8e7d6  fix/ebb -> fix/ebb")
    assert told(session, tmp_path) == "on branch fix/ebb; 1 commit, the last 9f8e7d6, pushed"


@pytest.mark.requirement("C14")
def test_a_branch_without_a_name_is_called_by_what_was_pushed(tmp_path: Path) -> None:
    session = edited().runs("git commit -qm 'Mend the ebb'", "")
    session.runs("git push -u origin fix/ebb", "To quay:tides\n * [new branch] x -> fix/ebb")
    assert brief_line(session, tmp_path) == "on branch fix/ebb; last commit “Mend the ebb”, pushed"


def test_a_file_that_was_made_and_removed_is_not_left_to_commit(tmp_path: Path) -> None:
    session = Session().user("Go.").edits("/work/project/tide.py")
    session.calls(
        "Write", "File created successfully", file_path="/work/project/try.py", content=""
    )
    session.runs("rm try.py").says("Done.")
    assert open_items.uncommitted(session.record(tmp_path)) == ["tide.py"]


def sends(
    session: Session, folder: Path, *edits: tuple[str, str], more: Sequence[b.Line] = ()
) -> Session:
    """A subagent ran, and its own transcript tells of these edits: (time, path)."""
    lines = [
        b.answer(
            f"a{at}",
            b.tool_use("Edit", f"toolu_a{at}", file_path=path, old_string="a", new_string="b"),
            timestamp=f"2026-11-15T06:{when}:00.000Z",
            isSidechain=True,
        )
        for at, (when, path) in enumerate(edits)
    ]
    place = folder / "session" / "subagents" / "agent-a1b2c3.jsonl"
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("ab") as file:
        file.write(b.jsonl(*lines, *more))
    return session.calls("Task", "Mended.", subagent_type="general-purpose", description="Mend it")


def uncommitted(session: Session, folder: Path) -> list[str]:
    path = folder / "session.jsonl"
    path.write_bytes(session.data())
    return open_items.uncommitted(read_record(path))


@pytest.mark.requirement("C14")
def test_what_subagents_edited_is_not_committed_either(tmp_path: Path) -> None:
    session = edited().runs("git commit -am 'Mend the ebb'", MADE)
    session = sends(
        session, tmp_path, ("20", "/work/project/old.py"), ("40", "/work/project/ebb.py")
    )
    assert uncommitted(session, tmp_path) == ["ebb.py"]
    found = sections_of(read_record(tmp_path / "session.jsonl"))
    assert "ebb.py - changed by a subagent" in found["What Changed"]
    assert any("changed after that commit: ebb.py" in one for one in found["In Progress"])


@pytest.mark.requirement("C14")
def test_an_edit_of_a_subagent_that_failed_or_was_committed_does_not_count(tmp_path: Path) -> None:
    refused = b.result(b.tool_result("no", "toolu_a1", is_error=True))
    session = sends(
        *(edited(), tmp_path, ("40", "/work/project/ebb.py"), ("41", "/work/project/low.py")),
        more=[refused],
    )
    assert uncommitted(session, tmp_path) == ["tide.py", "ebb.py"]
    commit = b.answer("a9", b.tool_use("Bash", "toolu_a9", command="git commit -am 'Mend'"))
    session = sends(edited(), tmp_path / "b", ("40", "/work/project/ebb.py"), more=[commit])
    assert uncommitted(session, tmp_path / "b") == ["tide.py"]


@pytest.mark.requirement("C14", "B12")
def test_a_subagents_transcript_is_read_on_where_it_was_left(tmp_path: Path) -> None:
    session = sends(edited(), tmp_path, ("40", "/work/project/ebb.py"))
    path = tmp_path / "session.jsonl"
    path.write_bytes(session.data())
    state = load(save(read_record(path)))
    assert state is not None and list(state.looked) == ["agent-a1b2c3.jsonl"]
    path.write_bytes(sends(session, tmp_path, ("45", "/work/project/low.py")).data())
    again = read_record(path, state=state)
    assert open_items.uncommitted(again) == ["tide.py", "ebb.py", "low.py"]
    assert again.files["ebb.py"].by_agents == 1


@pytest.mark.requirement("C14")
@pytest.mark.parametrize(
    "command",
    [
        "cd /work/moon && git status",
        "git -C ../moon status",
        "git -C /work/moon commit -m x",
        "(cd ../moon && git add -A && git commit -m x)",
        "git worktree add -b ebb ../ebb main && cd ../ebb && git status",
        "cd .worktrees/ebb && git commit -am x",
        "git -C $MOON commit -am x",
        "git status && git -C ../moon status",
    ],
)
def test_another_repository_or_worktree_tells_nothing_of_this_one(
    command: str, tmp_path: Path
) -> None:
    clean = "nothing to commit, working tree clean"
    record = edited().runs(command, clean).record(tmp_path)
    assert open_items.uncommitted(record) == ["tide.py"]
    made = edited().runs(command.replace("status", "commit -m x"), "[ebb 1a2b3c4] Mend it")
    left = open_items.uncommitted_by_tree(made.record(tmp_path))
    is_both = command.startswith("git status")
    assert left == ({} if is_both else {"/work/project": ["tide.py"]})


@pytest.mark.requirement("C14", "B4")
def test_the_state_of_git_is_told_of_the_tree_it_belongs_to(tmp_path: Path) -> None:
    session = edited().runs("git worktree add ../ebb -b fix/ebb", "Preparing worktree")
    session.calls("Edit", file_path="/work/ebb/low.py", old_string="a", new_string="b")
    session.runs("cd ../ebb && git commit -am 'Mend the ebb'", MADE)
    text = compose(session.record(tmp_path)).text
    line = next(one for one in text.splitlines() if one.startswith("- git"))
    assert line.startswith("- git in work/ebb: on branch fix/ebb; last commit 1a2b3c4 ")
    assert "not committed in work/project: 1" in line and "now on branch" not in line


@pytest.mark.requirement("C14")
def test_files_of_one_name_in_two_repositories_are_told_apart(tmp_path: Path) -> None:
    session = edited()
    for line in Session().user("Now the moon.").edits("/work/moon/tide.py").lines:
        assert isinstance(line, dict)
        session.lines.append({**line, "cwd": "/work/moon"})
    session.edits("/work/project/ebb.py").runs("git -C /work/moon commit -am x", MADE)
    record = session.record(tmp_path)
    assert open_items.uncommitted_by_tree(record) == {"/work/project": ["ebb.py"]}
    assert open_items.uncommitted(record) == []


@pytest.mark.requirement("C14")
def test_a_folder_below_the_users_home_is_the_one_it_stands_for(tmp_path: Path) -> None:
    session = Session().user("Mend it.", cwd="/home/ann/tides")
    for line in Session().edits("/home/ann/tides/tide.py").lines:
        assert isinstance(line, dict)
        session.lines.append({**line, "cwd": "/home/ann/tides"})
    made = Session().runs("cd ~/tides && git commit -am x", MADE).lines[0]
    assert isinstance(made, dict)
    session.lines.append({**made, "cwd": "/home/ann/tides"})
    session.lines.append(b.result(b.tool_result(MADE, "toolu_msg_1"), cwd="/home/ann/tides"))
    assert open_items.uncommitted_by_tree(session.record(tmp_path)) == {}


@pytest.mark.requirement("C14")
def test_a_push_or_a_request_elsewhere_is_none_of_this_repository(tmp_path: Path) -> None:
    session = edited().runs("git commit -am 'Mend the ebb'", MADE)
    session.runs("git -C ../moon push", "To quay:moon\n   1a2b3c4..3c4d5e6  main -> main")
    session.runs("cd ../moon && gh pr create --fill", "https://github.com/quay/moon/pull/7")
    work = session.record(tmp_path).git
    assert (work.pushed, work.request) == (-1, "")


MERGING = (
    "Auto-merging tide.py\nCONFLICT (content): Merge conflict in tide.py\n"
    "CONFLICT (modify/delete): quay/moor.py deleted in HEAD and modified in main.\n"
    "Automatic merge failed; fix conflicts and then commit the result."
)


@pytest.mark.requirement("C14", "B13")
@pytest.mark.parametrize(
    ("ends", "printed"),
    [
        ("git commit -m 'Merge main'", "[fix/ebb 1a2b3c4] Merge main"),
        ("git merge --continue", "[fix/ebb 1a2b3c4] Merge branch 'main'"),
        ("git merge --abort", ""),
        ("git rebase --continue", "Successfully rebased and updated refs/heads/fix/ebb."),
        ("git status", "On branch fix/ebb\nnothing to commit, working tree clean"),
    ],
)
def test_a_merge_that_stopped_at_conflicts_is_open_until_git_tells_its_end(
    ends: str, printed: str, tmp_path: Path
) -> None:
    session = Session().user("Merge main.").runs("git merge main", MERGING, fails=True)
    record = session.edits("/work/project/tide.py").record(tmp_path)
    stopped = "stopped by conflicts in tide.py, quay/moor.py"
    assert stopped in compose(record).text
    assert f"git {stopped}" in sections_of(record)["Next Steps"]
    assert "conflicts" not in compose(session.runs(ends, printed).record(tmp_path)).text
