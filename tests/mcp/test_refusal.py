"""What is no message is answered all the same: whoever sent it waits for something."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.mcp.protocol import Request, parse

PARSE, INVALID = -32700, -32600
ASKED: dict[str, Any] = {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}


def _told(line: str) -> list[tuple[int, object]]:
    found = parse(line.encode(errors="surrogatepass"))
    return (
        [] if isinstance(found, Request) else [(one["error"]["code"], one["id"]) for one in found]
    )


@pytest.mark.requirement("U6", "X7")
@pytest.mark.parametrize("line", ["", " \n", json.dumps(ASKED), '{"jsonrpc":"2.0","method":"x"}'])
def test_a_message_is_not_refused_nor_is_silence(line: str) -> None:
    assert _told(line) == []


@pytest.mark.requirement("U6", "X7")
def test_a_lone_surrogate_is_no_json_and_who_asked_is_known() -> None:
    assert _told(json.dumps(ASKED | {"params": {"x": "\ud800"}})) == [(PARSE, 7)]
    assert _told(json.dumps(ASKED | {"id": "a\udfff"})) == [(PARSE, None)]


@pytest.mark.requirement("U6", "X7")
@pytest.mark.parametrize(
    "line", ["hello", "{", '{"id":7,', "[" * 99_999, "9" * 9_000, "\ufffd\ufffd"]
)
def test_what_is_no_json_is_answered_to_nobody(line: str) -> None:
    assert _told(line) == [(PARSE, None)]


@pytest.mark.requirement("U6", "X7")
@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ({}, None), ([], None), (7, None), (None, None), ({"jsonrpc": "2.0"}, None),
        ({**ASKED, "jsonrpc": "1.0"}, 7), ({"id": "a", "method": "x"}, "a"),
        ({**ASKED, "method": 7}, 7), ({**ASKED, "params": [1]}, 7), ({"id": 7}, 7),
        ({**ASKED, "id": None}, None), ({**ASKED, "id": 1.5}, None), ({**ASKED, "id": True}, None),
    ],
)  # fmt: skip
def test_what_is_no_json_rpc_is_answered_with_its_id(message: object, asked: object) -> None:
    assert _told(json.dumps(message)) == [(INVALID, asked)]


@pytest.mark.requirement("U6", "X7")
def test_each_question_of_a_batch_is_answered() -> None:
    batch = [ASKED, ASKED | {"id": 8}, {"jsonrpc": "2.0", "method": "x"}]
    assert _told(json.dumps(batch)) == [(INVALID, 7), (INVALID, 8)]


@pytest.mark.requirement("U6", "X7")
def test_a_broken_answer_is_not_answered_lest_it_be_taken_for_one_of_ours() -> None:
    for answer in ({"result": 7}, {"error": "no"}):
        assert _told(json.dumps({"jsonrpc": "2.0", "id": 7} | answer)) == []


@pytest.mark.requirement("U6", "X7")
@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_whatever_is_refused_is_refused_in_words_that_can_be_sent(line: str) -> None:
    found = parse(line.encode(errors="surrogatepass"))
    for one in [] if isinstance(found, Request) else found:
        assert json.loads(msgspec.json.encode(one))["jsonrpc"] == "2.0"


@pytest.mark.requirement("U6")
def test_a_message_is_read_with_what_it_asks() -> None:
    assert parse(json.dumps(ASKED).encode()) == Request(7, "tools/list", {}, True)
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert parse(json.dumps(told).encode()) == Request(None, told["method"], {}, False)
