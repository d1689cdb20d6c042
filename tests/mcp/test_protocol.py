"""The protocol: what each request is answered, and what a line that is no request is answered."""

import json
import os
import threading
from typing import Any

import msgspec
import pytest

from holdfast.mcp import protocol
from holdfast.mcp.protocol import Message, ProtocolError, RpcRequest, parse
from holdfast.mcp.server import CallResult, McpServer

ENVELOPE = {"_meta": {protocol.VERSION_KEY: "2026-07-28"}}
PARSE, INVALID = -32700, -32600
ASKED: dict[str, Any] = {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}


def _ask(method: str, **params: Any) -> Message:
    return protocol.answer(RpcRequest(1, method, params, True), lambda: [{"name": "status"}])


@pytest.mark.requirement("U6")
@pytest.mark.parametrize("version", protocol.HANDSHAKE_VERSIONS)
def test_a_greeting_is_answered_in_the_version_of_the_client(version: str) -> None:
    found = _ask("initialize", protocolVersion=version)
    assert (found["protocolVersion"], found["serverInfo"]["name"]) == (version, "holdfast")
    assert found["capabilities"] == {"tools": {"listChanged": False}}


@pytest.mark.requirement("U6")
@pytest.mark.parametrize("version", ["1999-01-01", None, 7, "2026-07-28"])
def test_a_greeting_in_an_unknown_version_is_offered_our_newest(version: object) -> None:
    assert _ask("initialize", protocolVersion=version)["protocolVersion"] == "2025-11-25"


@pytest.mark.requirement("U6")
def test_a_client_that_greets_nobody_gets_what_its_generation_asks_for() -> None:
    listed = _ask("tools/list", **ENVELOPE)
    assert listed == {"cacheScope": "private", "ttlMs": 0, "tools": [{"name": "status"}]}
    request = RpcRequest("a", "tools/list", ENVELOPE, True)
    sent = protocol.success(request, listed)
    assert (sent["id"], sent["result"]["resultType"]) == ("a", "complete")
    assert sent["result"]["_meta"][protocol.SERVER_KEY]["name"] == "holdfast"
    assert _ask("server/discover", **ENVELOPE)["supportedVersions"] == ["2026-07-28"]


@pytest.mark.requirement("U6")
def test_a_version_of_the_future_is_told_which_we_speak() -> None:
    with pytest.raises(ProtocolError) as error:
        _ask("tools/list", _meta={protocol.VERSION_KEY: "2031-01-01"})
    assert error.value.code == protocol.UNSUPPORTED_VERSION
    assert error.value.data == {"supported": ["2026-07-28"], "requested": "2031-01-01"}


@pytest.mark.requirement("U6")
def test_a_method_we_do_not_serve_is_named_in_the_error() -> None:
    with pytest.raises(ProtocolError) as error:
        _ask("resources/list")
    assert (error.value.code, error.value.data) == (protocol.UNKNOWN_METHOD, "resources/list")


@pytest.mark.requirement("U6")
@pytest.mark.parametrize("params", [{}, {"name": 7}, {"name": "status", "arguments": [1]}])
def test_a_call_without_a_name_or_with_odd_arguments_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError) as error:
        protocol.tool_call(RpcRequest(1, "tools/call", params, True))
    assert error.value.code == protocol.INVALID_PARAMS


@pytest.mark.requirement("U6")
def test_a_cancelled_call_gets_no_answer_and_the_next_one_does() -> None:
    reading, writing = os.pipe()
    idle, cancelled = threading.Event(), threading.Event()

    def wait_for_it(_pages: object, name: str, _arguments: object) -> CallResult:
        assert cancelled.wait(30)
        return CallResult(name)

    server = McpServer(writing, idle, lambda: None, wait_for_it)
    server.handle(_line("tools/call", 7, name="first"))
    server.handle(_line("notifications/cancelled", None, requestId=7))
    server.handle(_line("tools/call", 8, name="second"))
    assert not idle.is_set(), "background work waits while a call runs"
    cancelled.set()
    with os.fdopen(reading, "rb") as answers:
        assert msgspec.json.decode(answers.readline())["id"] == 8
        assert idle.wait(30)
        os.close(writing)
        assert answers.read() == b""


def _line(method: str, number: int | None, **params: Any) -> bytes:
    id_ = {} if number is None else {"id": number}
    return msgspec.json.encode({"jsonrpc": "2.0", **id_, "method": method, "params": params})


def _told(line: str | bytes) -> list[tuple[int, object]]:
    data = line if isinstance(line, bytes) else line.encode(errors="surrogatepass")
    found = parse(data)
    return (
        []
        if isinstance(found, RpcRequest)
        else [(one["error"]["code"], one["id"]) for one in found]
    )


@pytest.mark.requirement("U6", "X7")
@pytest.mark.parametrize("line", ["", " \n", json.dumps(ASKED), '{"jsonrpc":"2.0","method":"x"}'])
def test_a_message_is_not_refused_nor_is_silence(line: str) -> None:
    assert _told(line) == []


@pytest.mark.requirement("U6", "X7")
def test_bytes_that_are_no_text_are_no_json_and_who_asked_is_known() -> None:
    line = json.dumps(ASKED).encode().replace(b"list", b"list\xff\xfe")
    assert _told(line) == [(PARSE, 7)]


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
def test_a_batch_is_refused_once() -> None:
    assert _told(json.dumps([ASKED, ASKED | {"id": 8}])) == [(INVALID, None)]


@pytest.mark.requirement("U6", "X7")
def test_a_broken_answer_is_not_answered_lest_it_be_taken_for_one_of_ours() -> None:
    for answer in ({"result": 7}, {"error": "no"}):
        assert _told(json.dumps({"jsonrpc": "2.0", "id": 7} | answer)) == []
