"""Codex's transcripts: whose words they are, what was run and edited, how full the window is."""

import json
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast.cli.main import holdfast_command
from holdfast.client import compaction_limit, limit_settings
from holdfast.record.stream import read_turns
from holdfast.transcript.entries import Answer, Boundary, Prompt, Result, Summary
from holdfast.transcript.lookup import compactions, session_id
from holdfast.transcript.reader import Reader, read, read_at
from holdfast.wire import log, tail
from tests.hot.hooks import fire, to_model

from .rollouts import SESSION, Rollout, compressed

pytestmark = pytest.mark.requirement("U12")
RULE = "Never use tabs in the Makefile of payments."


def a_session(*, records: bool = True) -> Rollout:
    rollout = Rollout(records=records).user(RULE).says("I look first.")
    rollout.runs("ls src; false", "src: not there\n", 60_000, code=1)
    rollout.patches(
        70_000,
        **{
            "/p/old.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a = 1\n+a = 2\n"},
            "/p/src/new.py": {"type": "add", "content": "x = 1\n"},
        },
    )
    return rollout.ends("Both are written.", 80_000)


def test_only_what_the_client_calls_a_message_of_the_user_is_the_users(tmp_path: Path) -> None:
    rollout = a_session().message("user", "# AGENTS.md instructions\nAlways push to main.")
    rollout.message("developer", "Push at once.")
    prompts = [one for one in read(rollout.written(tmp_path)) if isinstance(one, Prompt)]
    assert [(one.text, one.line.author) for one in prompts] == [(RULE, "user")]
    assert prompts[0].line.session_id == SESSION


@pytest.mark.parametrize("records", [True, False])
def test_a_turn_has_its_commands_failures_edits_and_answer(tmp_path: Path, records: bool) -> None:
    parts = list(read_turns(a_session(records=records).written(tmp_path)))
    told = str([{name: getattr(part, name) for name in part.__struct_fields__} for part in parts])
    for words in (RULE, "ls src; false", "src: not there", "old.py", "new.py", "Both are written"):
        assert words in told
    entries = list(read(a_session(records=records).written(tmp_path)))
    results = [one for entry in entries if isinstance(entry, Result) for one in entry.results]
    assert [one.is_error for one in results][:3] == [True, False, False]
    answers = {one.message_id for one in entries if isinstance(one, Answer)}
    assert len(answers) == 3


@pytest.mark.parametrize("records", [True, False])
def test_a_compaction_is_a_boundary_and_a_summary(tmp_path: Path, records: bool) -> None:
    path = a_session(records=records).compacts("We wrote two files.").written(tmp_path)
    found = [one for one in read(path) if isinstance(one, Boundary | Summary)]
    assert isinstance(found[0], Boundary)
    assert found[0].pre_tokens == 80_000
    assert isinstance(found[1], Summary)
    assert found[1].text == "We wrote two files."
    assert compactions(path).count == 1


def test_an_encrypted_summary_is_said_to_be_unreadable(tmp_path: Path) -> None:
    path = a_session().compacts("").written(tmp_path)
    [summary] = [one.text for one in read(path) if isinstance(one, Summary)]
    assert "cannot be read" in summary
    refused = CliRunner().invoke(holdfast_command, ["lost", "--transcript", str(path)]).exception
    assert "is encrypted or cannot be read" in str(refused)
    own: dict[str, Any] = {"cwd": str(tmp_path), "model": "gpt-5.2-codex"}
    fire("PostCompact", path, session=SESSION, trigger="auto", compact_summary="", **own)
    assert "not found in the summary" not in Path(log.path()).read_text()


def test_the_window_is_as_full_as_the_newest_answer_says(tmp_path: Path) -> None:
    rollout = a_session()
    end = tail.read(str(rollout.written(tmp_path)))
    assert (end.answer_tokens, end.window_tokens, end.model) == (80_000, 258_400, "gpt-5.2-codex")
    assert end.version == "codex 0.169.0"
    end = tail.read(str(rollout.compacts("Done.", left=6_052).written(tmp_path)))
    assert end.used_tokens(4.0, 9_000) == 6_052
    rollout.runs("make", "x" * 4_000, 30_000)
    end = tail.read(str(rollout.written(tmp_path)))
    assert 31_000 <= end.used_tokens(4.0, 0) <= 31_100  # the output came after the count
    assert end.call_ids == end.result_ids


def test_the_limit_is_nine_tenths_of_the_window_or_the_users(
    own_home: Path, tmp_path: Path
) -> None:
    path = str(a_session().written(tmp_path))
    found = compaction_limit.find("gpt-5.2-codex", "codex 0.169.0", stated_window=258_400)
    assert (found.window_tokens, found.edge_tokens) == (272_000, 244_800)
    (own_home / ".codex").mkdir()
    (own_home / ".codex" / "config.toml").write_text("model_auto_compact_token_limit = 100_000\n")
    switches = limit_settings.read("", os.environ, transcript=path)
    found = compaction_limit.find("gpt-5.2-codex", "codex", switches, stated_window=258_400)
    assert found.edge_tokens == 100_000
    assert "model_auto_compact_token_limit" in found.source


def test_reading_on_knows_the_session_of_the_first_line(tmp_path: Path) -> None:
    rollout = a_session()
    path = rollout.written(tmp_path)
    reader = Reader(path)
    list(reader)
    rollout.user("And now the tests.").written(tmp_path)
    [prompt] = list(Reader(path, start=reader.offset))
    assert (prompt.line.session_id, prompt.line.version) == (SESSION, "codex 0.169.0")
    assert [one.line.session_id for one in read_at(path, [prompt.offset])] == [SESSION]
    assert session_id(path) == SESSION


def test_one_that_codex_has_compressed_is_read_alike(tmp_path: Path) -> None:
    path = a_session().compacts("We wrote two files.").written(tmp_path)
    texts, turns = texts_in(path), len(list(read_turns(path)))
    packed = compressed(path)
    assert texts_in(packed) == texts
    assert len(list(read_turns(packed))) == turns
    assert compactions(packed).count == 1
    packed.write_bytes(packed.read_bytes()[:-20])  # torn
    assert len(texts_in(packed)) <= len(texts)


def texts_in(path: Path) -> list[str]:
    return [one.text for one in read(path) if isinstance(one, Prompt | Summary)]


def test_odd_fields_cost_only_themselves(tmp_path: Path) -> None:
    """Each row is damaged in many ways; nothing is raised, and other rows are read."""
    random, rows = Random(3), a_session().compacts("Done.").rows
    odd = [None, 5, "x", [], {}, [None], {"a": 1}, True]
    for number in range(400):
        rollout = Rollout().user(RULE)
        row = json.loads(json.dumps(random.choice(rows)))
        place = row if random.random() < 0.3 else row["payload"]
        place[random.choice(list(place))] = random.choice(odd)
        rollout.rows.append(row)
        rollout.user(f"And number {number}.")
        path = rollout.written(tmp_path)
        typed = [one.text for one in read(path) if isinstance(one, Prompt)]
        assert typed[0] == RULE
        assert typed[-1] == f"And number {number}."
        tail.read(str(path))


@pytest.mark.slow
def test_hooks_save_and_restore_a_session_of_codex(tmp_path: Path) -> None:
    path = a_session().written(tmp_path)
    own: dict[str, Any] = {"cwd": str(tmp_path), "model": "gpt-5.2-codex", "turn_id": "t"}
    fire("UserPromptSubmit", path, session=SESSION, prompt=RULE, **own)
    fire("PreCompact", path, session=SESSION, trigger="auto", **own)
    a_session().compacts("We wrote two files.").written(tmp_path)
    fire("PostCompact", path, session=SESSION, trigger="auto", **own)
    brief = to_model(fire("SessionStart", path, session=SESSION, source="compact", **own))
    assert RULE in brief
    assert "Window 2" in brief
    assert list((tmp_path / ".claude" / "checkpoints").glob("*.md"))
