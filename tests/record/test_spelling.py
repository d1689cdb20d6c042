"""A transcript says the same whether its JSON is compact, as the client writes it, or has blanks
behind `:` and `,`."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from holdfast.record.reader import read_record
from tests.checkpoint.sessions import UNMARKING, Session
from tests.transcript import builders as b

WHY = "The user doesn't want to proceed with this tool use. the user said:\nLeave the quay alone."
DENIED = "Permission for this tool use was denied. The user said:\nNever dredge by night."


def spelled_with_blanks(session: Session) -> Session:
    spelled = Session(UNMARKING)
    spelled.lines = [json.dumps(json.loads(line)).encode() for line in session.data().splitlines()]
    return spelled


def busy() -> Session:
    session = Session(UNMARKING).user("Print the tides.", gitBranch="ebb")
    session.calls("TaskCreate", "Task #1", subject="Write the parser")
    patch = [{"oldStart": 3, "oldLines": 2, "newStart": 3, "newLines": 5}]
    session.starts("Edit", file_path="/work/project/tide.py", old_string="a", new_string="b")
    back = b.tool_result("ok", "toolu_msg_2")
    session.lines.append(b.result(back, copy={"structuredPatch": patch}, gitBranch="flood"))
    session.calls("Edit", WHY, error=True, copy=f"Error: {WHY}", file_path="/work/project/quay.py")
    session.calls("Bash", DENIED, error=True, copy=f"Error: {DENIED}", command="make dredge")
    form = {"answers": {"Which store?": "SQLite"}}
    session.calls("AskUserQuestion", "ok", copy=form, questions=[{"question": "Which store?"}])
    session.calls("Read", "ok", file_path="/y.py")
    session.lines[-1] = b.result(b.tool_result("ok", "toolu_msg_6"), b.text("Not that buoy."))
    session.queues("And the moon.").unqueues().works(2)
    session.lines.append(
        {**b.attachment(), "attachment": {"type": "queued_command", "prompt": "And the moon."}}
    )
    session.lines.append(
        {
            **b.ENVELOPE,
            "type": "system",
            "subtype": "local_command",
            "content": "<command-name>/model</command-name>\n<command-args>opus</command-args>",
        }
    )
    return session.user("Forget the store.").compacts().works(40).runs("make all")


def without_offsets(found: Any) -> Any:
    """All that was found, without its bytes in the file: the one with blanks is longer."""
    if isinstance(found, msgspec.Struct):
        fields = msgspec.structs.asdict(found).items()
        return {key: without_offsets(one) for key, one in fields if key != "offset"}
    if isinstance(found, dict):
        return {key: without_offsets(one) for key, one in found.items()}
    return [without_offsets(one) for one in found] if isinstance(found, list) else found


@pytest.mark.requirement("B11", "C2")
def test_blanks_in_the_json_change_nothing_in_the_record(tmp_path: Path) -> None:
    record = busy().record(tmp_path)
    spelled = spelled_with_blanks(busy()).record(tmp_path)
    assert [turn.asked for turn in spelled.turns] == [
        "Print the tides.",
        "Leave the quay alone.",
        "Never dredge by night.",
        "Not that buoy.",
        "And the moon.",
        "/model opus",
        "Forget the store.",
    ]
    assert spelled.branch == "flood" and "tide.py" in spelled.files
    assert without_offsets(spelled) == without_offsets(record)


@pytest.mark.requirement("C2")
def test_edits_of_a_subagent_are_read_however_its_file_is_spelled(tmp_path: Path) -> None:
    folder = tmp_path / "s-1" / "subagents"
    folder.mkdir(parents=True)
    edit = b.tool_use("Edit", "toolu_a", file_path="/work/project/buoy.py")
    missed = b.tool_use("Edit", "toolu_b", file_path="/work/project/mole.py")
    lines = [
        b.answer("m1", edit, isSidechain=True),
        b.answer("m2", missed, isSidechain=True),
        b.result(b.tool_result("no", "toolu_b", is_error=True), isSidechain=True),
    ]
    written = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    (folder / "agent-a1.jsonl").write_bytes(written)
    session = Session(UNMARKING).user("Go.").calls("Task", "Done.", description="Mend the buoy")
    record = read_record(session.written(tmp_path))
    assert "buoy.py" in record.files and "mole.py" not in record.files
