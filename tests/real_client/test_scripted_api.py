"""The scripted API alone, asked as the client asks it."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.trial.script import Acts, ScriptedAnswer, ScriptedError, Step, bash, usage_of
from tests.trial.scripted_api import ScriptedApi, kind_of

TOOLS = [{"name": "Bash"}]
SUMMARY = "Your task is to create a detailed summary of the conversation so far, paying attention"
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _body(text: str = "Hello.", **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": [{"type": "text", "text": text}]}]
    return {"model": "m", "messages": messages, "tools": TOOLS, **more}


def _post(api: ScriptedApi, body: dict[str, Any], path: str = "/v1/messages?beta=true") -> str:
    data = json.dumps(body).encode()
    request = urllib.request.Request(api.url + path, data, {"content-type": "application/json"})
    with _direct.open(request, timeout=10) as answer:
        return str(answer.read().decode())


def _answered(step: Step, **more: Any) -> str:
    with ScriptedApi(Acts([step])) as api:
        return _post(api, _body(**more))


def test_a_plain_request_is_answered_as_one_message() -> None:
    message = json.loads(_answered(ScriptedAnswer("Hi.", (bash("ls"),), usage_of(5_000))))
    assert [block["type"] for block in message["content"]] == ["text", "tool_use"]
    assert message["stop_reason"] == "tool_use"
    assert sum(message["usage"].values()) == 5_000


def test_a_streamed_answer_says_the_same_in_events() -> None:
    text = _answered(ScriptedAnswer("Hi.", (bash("ls"),), usage_of(5_000)), stream=True)
    events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
    assert (events[0]["type"], events[-1]["type"]) == ("message_start", "message_stop")
    assert events[-2]["delta"]["stop_reason"] == "tool_use"
    assert sum(events[-2]["usage"].values()) == 5_000
    parts = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    assert json.loads(parts[1]["partial_json"])["command"] == "ls"


def test_a_refusal_is_an_error_in_the_apis_own_form() -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        _answered(ScriptedError())
    error = json.loads(caught.value.read())
    caught.value.close()
    assert caught.value.code == 400
    assert "prompt is too long" in error["error"]["message"]


def test_tokens_can_be_counted() -> None:
    with ScriptedApi(Acts([])) as api:
        answer = json.loads(_post(api, _body(), "/v1/messages/count_tokens"))
        assert answer["input_tokens"] > 0
        assert api.received == []


def test_each_kind_of_request_has_steps_of_its_own() -> None:
    script = Acts(
        [ScriptedAnswer("main")], summary=[ScriptedAnswer("summary")], side=[ScriptedAnswer("side")]
    )
    with ScriptedApi(script) as api:
        said = [
            json.loads(_post(api, body))["content"][0]["text"]
            for body in (_body(SUMMARY), _body(tools=[]), _body(), _body())
        ]
        assert said == ["summary", "side", "main", "Done."]
        assert [request.kind for request in api.received] == ["summary", "side", "main", "main"]


def test_a_subagent_is_known_by_its_header_or_its_system_prompt() -> None:
    assert kind_of(_body(), agent_id="a1") == "agent"
    assert kind_of(_body(system=[{"type": "text", "text": "x; cc_is_subagent=true;"}])) == "agent"


def test_a_tool_result_that_quotes_the_summary_prompt_is_no_summary() -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": SUMMARY}
    messages = [{"role": "user", "content": [result]}]
    assert kind_of({"messages": messages, "tools": TOOLS}) == "main"


def test_what_was_asked_is_kept_as_json_lines(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    with ScriptedApi(Acts([]), log=log) as api:
        _post(api, _body("First."))
        _post(api, _body("Second."))
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["messages"][0]["content"][0]["text"] for line in lines] == ["First.", "Second."]
    assert [line["kind"] for line in lines] == ["main", "main"]


def test_a_spent_script_does_not_empty_the_window() -> None:
    with ScriptedApi(Acts([ScriptedAnswer("One.", usage=usage_of(90_000))])) as api:
        totals = [sum(json.loads(_post(api, _body()))["usage"].values()) for _ in range(2)]
    assert totals == [90_000, 90_000]
