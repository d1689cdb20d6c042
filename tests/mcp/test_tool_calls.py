"""What the list of tools costs, and what becomes of words that do not fit."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.mcp.answers import PAGE_CHARS, AnswerPages, ToolAnswer
from holdfast.mcp.server import MAX_ERROR_CHARS, call
from holdfast.mcp.tool_table import TOOLS
from holdfast.wire.mark import CHARS_PER_TOKEN

MOST_TOOLS, MOST_TOKENS = 12, 1_500
FIGURES = Path(__file__).parents[2] / "docs" / "figures.md"


def asks_the_store(*given: object) -> Any:
    """Refused by what imports SQLAlchemy."""
    return pytest.param(*given, marks=pytest.mark.store)


@pytest.mark.requirement("U6")
def test_the_list_of_tools_is_short() -> None:
    listed = [tool.listed for tool in TOOLS.values()]
    assert len(listed) <= MOST_TOOLS
    length = len(json.dumps(listed, separators=(",", ":"), ensure_ascii=False))
    assert length / CHARS_PER_TOKEN <= MOST_TOKENS
    told = f"{length / CHARS_PER_TOKEN:,.0f} tokens of {len(listed)} tools"
    assert told in FIGURES.read_text(encoding="utf-8"), told


@pytest.mark.requirement("U6")
def test_each_tool_says_what_it_takes_gives_and_changes() -> None:
    listed = [tool.listed for tool in TOOLS.values()]
    for tool in listed:
        assert tool["description"]
        assert tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object"
    readers = {one["name"] for one in listed if one.get("annotations", {}).get("readOnlyHint")}
    assert {"status", "resume", "expand", "plan"} <= readers
    assert not readers & {"checkpoint", "board", "remember", "forget"}


@pytest.mark.requirement("U6")
@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("status", {"task_tokens": "many"}, "task_tokens"),
        ("status", {"task_tokens": -1}, "task_tokens"),
        ("status", {"task_tokens": 10**30}, "task_tokens"),
        ("status", {"surprise": 1}, "unknown field `surprise`; it takes task_tokens"),
        ("plan", {"tasks": ["a"]}, "`tasks`; it takes text, path"),
        ("checkpoint", {"now": 1}, "`now`; it takes what, why, decided, next"),
        ("resume", {"which": ["latest"]}, "which"),
        ("resume", {"which": "2026-01-01-000000"}, "no checkpoint"),
        ("resume", {"which": "../../etc/passwd"}, "no"),
        ("board", {"op": "destroy"}, "it takes op (claim, claims, post, read, settle), topic"),
        ("board", {}, "`op`; it takes op (claim"),
        asks_the_store("board", {"op": "post", "topic": "gossip", "text": "x"}, "topic"),
        asks_the_store("board", {"op": "claim"}, "work is needed"),
        ("expand", {"id": ""}, ""),
        ("expand", {"id": "a/../../b"}, ""),
        asks_the_store(
            "board", {"op": "post", "topic": "task.created", "text": "x" * (1 << 20)}, "longer than"
        ),
        ("tides", {}, "no tool"),
    ],
)
def test_words_that_do_not_fit_are_refused_in_words(
    tool: str, arguments: dict[str, Any], words: str
) -> None:
    said = call(AnswerPages(), tool, arguments)
    assert said.found is None
    assert words in said.words
    assert len(said.words) <= MAX_ERROR_CHARS


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMED = st.sampled_from(["task_tokens", "which", "op", "id", "text", "query", "offset", "more"])


@pytest.mark.slow
@pytest.mark.requirement("X7", "U6")
@given(st.sampled_from(sorted(TOOLS)), st.dictionaries(NAMED | st.text(), JSON, max_size=4))
def test_whatever_is_asked_there_is_an_answer(tool: str, arguments: dict[str, Any]) -> None:
    said = call(AnswerPages(), tool, arguments)
    assert said.found is not None or 0 < len(said.words) <= MAX_ERROR_CHARS
    json.dumps(said.found)


@pytest.mark.requirement("U6")
@given(
    st.lists(st.dictionaries(st.sampled_from("abc"), st.text(max_size=900)), max_size=40),
    st.text(max_size=20_000),
)
def test_pages_together_hold_every_row_once_and_every_word(
    rows: list[dict[str, str]], text: str
) -> None:
    text = "".join(c if c.isprintable() and c != "<" else "\n" for c in text)
    pages = AnswerPages()
    page = pages.first(ToolAnswer("", {}, "rows", rows, text))
    seen, said = list(page["rows"]), page.get("text", "")
    while "more" in page:
        assert len(json.dumps(page, ensure_ascii=False)) < 3 * PAGE_CHARS
        page = pages.more(page["more"])
        seen += page["rows"]
        said += page.get("text", "")
    assert len(seen) == len(rows)
    assert said.replace("\n", "") == text.replace("\n", "")
