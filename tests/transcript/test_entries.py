"""What each kind of line becomes."""

from pathlib import Path

from holdfast.transcript.blocks import OtherBlock, Text, Thinking, ToolUse
from holdfast.transcript.entries import Answer, Boundary, Prompt
from tests.transcript.builders import answer, boundary, entries_of, prompt, text, tool_use


def test_an_answer_carries_its_usage_and_where_it_came_from(tmp_path: Path) -> None:
    line = answer("msg_7", agentId="a1")
    [_, entry] = entries_of(tmp_path, prompt(), line)
    assert isinstance(entry, Answer)
    assert (entry.message_id, entry.model) == ("msg_7", "claude-sonnet-4-6")
    assert entry.stop_reason == "end_turn"
    assert (entry.line.session_id, entry.line.cwd, entry.line.version) == (
        "s-1",
        "/work/project",
        "2.1.325",
    )
    assert (entry.line.uuid, entry.line.agent_id, entry.is_sidechain) == ("u-1", "a1", False)
    assert entry.offset == (tmp_path / "s-1.jsonl").read_bytes().index(b"\n") + 1


def test_blocks_are_typed_and_unknown_ones_are_kept_by_name(tmp_path: Path) -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "x"}
    odd = {"type": "server_tool_use", "id": 5}
    [entry] = entries_of(tmp_path, answer("m", text("a"), thought, tool_use(command="ls"), odd))
    assert isinstance(entry, Answer)
    said, thinking, call, other = entry.blocks
    assert said == Text("a")
    assert thinking == Thinking("hm")
    assert isinstance(call, ToolUse)
    assert (call.id, call.name, call.input) == ("toolu_1", "Bash", {"command": "ls"})
    assert other == OtherBlock("server_tool_use")


def test_a_prompt_is_text_and_images(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    [plain, rich, meta] = entries_of(
        tmp_path, prompt("do it"), prompt([image, text("see"), image]), prompt("x", isMeta=True)
    )
    assert isinstance(plain, Prompt)
    assert (plain.text, plain.is_meta) == ("do it", False)
    assert isinstance(rich, Prompt)
    assert rich.text == "see"
    assert isinstance(meta, Prompt)
    assert meta.is_meta


def test_a_boundary_says_what_the_client_counted(tmp_path: Path) -> None:
    [new, old] = entries_of(tmp_path, boundary(), boundary(postTokens=None))
    assert isinstance(new, Boundary)
    assert (new.kind, new.trigger) == ("compact", "auto")
    assert (new.pre_tokens, new.post_tokens) == (170_553, 3_729)
    assert new.resets_window
    assert isinstance(old, Boundary)
    assert old.post_tokens is None
