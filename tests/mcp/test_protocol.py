"""Both generations of the protocol, without a process around them."""

from __future__ import annotations

import os
import threading
from typing import Any

import msgspec
import pytest

from holdfast.mcp import protocol
from holdfast.mcp.active_calls import Calls
from holdfast.mcp.call_tool import Said
from holdfast.mcp.protocol import Message, ProtocolError, Request
from holdfast.mcp.stdio import Server

ENVELOPE = {"_meta": {protocol.VERSION_KEY: "2026-07-28"}}


def _ask(method: str, **params: Any) -> Message:
    return protocol.answer(Request(1, method, params, True), lambda: [{"name": "status"}])


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
    request = Request("a", "tools/list", ENVELOPE, True)
    sent = protocol.success(request, listed)
    assert (sent["id"], sent["result"]["resultType"]) == ("a", "complete")
    assert sent["result"]["_meta"][protocol.SERVER_KEY]["name"] == "holdfast"
    assert _ask("server/discover", **ENVELOPE)["supportedVersions"] == ["2026-07-28"]


@pytest.mark.requirement("U6")
def test_the_older_generation_gets_none_of_the_newer_fields() -> None:
    request = Request(1, "tools/list", {"_meta": {"progressToken": 3}}, True)
    sent = protocol.success(request, protocol.answer(request, list))
    assert sent == {"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}


@pytest.mark.requirement("U6")
def test_a_version_of_the_future_is_told_which_we_speak() -> None:
    with pytest.raises(ProtocolError) as slip:
        _ask("tools/list", _meta={protocol.VERSION_KEY: "2031-01-01"})
    assert slip.value.code == protocol.UNSUPPORTED_VERSION
    assert slip.value.data == {"supported": ["2026-07-28"], "requested": "2031-01-01"}


@pytest.mark.requirement("U6")
def test_a_method_we_do_not_serve_is_named_in_the_error() -> None:
    with pytest.raises(ProtocolError) as slip:
        _ask("resources/list")
    assert (slip.value.code, slip.value.data) == (protocol.UNKNOWN_METHOD, "resources/list")


@pytest.mark.requirement("U6")
@pytest.mark.parametrize("params", [{}, {"name": 7}, {"name": "status", "arguments": [1]}])
def test_a_call_without_a_name_or_with_odd_arguments_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError) as slip:
        protocol.tool_call(Request(1, "tools/call", params, True))
    assert slip.value.code == protocol.INVALID_PARAMS


@pytest.mark.requirement("U6")
def test_a_cancelled_call_gets_no_answer_and_the_next_one_does() -> None:
    reading, writing = os.pipe()
    calls, cancelled = Calls(), threading.Event()

    def wait_for_it(_pages: object, name: str, _arguments: object) -> Said:
        assert cancelled.wait(30)
        return Said(name)

    server = Server(writing, calls, lambda: None, wait_for_it)
    server.take(_line("tools/call", 7, name="first"))
    server.take(_line("notifications/cancelled", None, requestId=7))
    server.take(_line("tools/call", 8, name="second"))
    cancelled.set()
    with os.fdopen(reading, "rb") as answers:
        assert msgspec.json.decode(answers.readline())["id"] == 8
        assert calls.idle.wait(30)
        os.close(writing)
        assert answers.read() == b""


def _line(method: str, number: int | None, **params: Any) -> bytes:
    id_ = {} if number is None else {"id": number}
    return msgspec.json.encode({"jsonrpc": "2.0", **id_, "method": method, "params": params})
