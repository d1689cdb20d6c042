"""`holdfast board` through its public door."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from holdfast.cli.main import holdfast_command
from holdfast.hub import row_times
from holdfast.hub.errors import Refused
from holdfast.window.state import lock_state
from holdfast.wire import places

pytestmark = pytest.mark.store


def _invoke(*arguments: str) -> Result:
    return CliRunner().invoke(holdfast_command, ["board", *arguments])


def _ok(*arguments: str) -> str:
    found = _invoke(*arguments)
    assert found.exit_code == 0, found.output
    return found.stdout


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.requirement("A2", "U3")
def test_what_is_posted_is_listed_and_read_once() -> None:
    assert "every agent of this project" in _ok("post", "workflow.progress", "half done")
    _ok("post", "task.created", "for you", "--from", "a", "--to", "b")
    assert "for you" in _ok("read", "b", "--peek")
    first, second = sorted(line.partition("  ")[2] for line in _ok("read", "b").splitlines())
    assert first == 'task.created agent "a" to b: for you'
    assert second == 'workflow.progress agent "user" to all: half done'
    assert _ok("read", "b") == ""
    listed = _ok("list").splitlines()
    assert [line.endswith(" (confirmed), read by b") for line in listed] == [True, True]
    states = json.loads(_ok("list", "--json"))["states"]
    assert states == {"waiting": 0, "said": 0, "confirmed": 2, "expired": 0}


@pytest.mark.requirement("U3", "X4")
def test_a_secret_is_not_posted() -> None:
    _ok("post", "task.failed", "it is ghp_0123456789abcdefghijABCDEFGHIJ012345")
    assert "it is [redacted" in _ok("list")


@pytest.mark.requirement("A2", "U3")
def test_an_unknown_topic_is_refused_with_those_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _invoke("post", "deploy_done", "x")
    assert isinstance(found.exception, Refused)
    assert "workflow.progress" in str(found.exception)
    assert found.exception.hint == "workflow.progress suits a plain message"
    monkeypatch.setenv("HOLDFAST_TOPICS", "deploy_done")
    _ok("post", "deploy_done", "x")
    assert "deploy_done" in _ok("list")


@pytest.mark.requirement("A3", "U3")
def test_whoever_posts_is_told_at_once_who_hears_it(tmp_path: Path) -> None:
    session = "0f3c2b1a-0000-4000-8000-000000000001"
    _window(session, project=tmp_path)
    _window(session, "a1", project=tmp_path)
    post = ("post", "workflow.progress", "half done", "--to")
    assert "delivered by the session's next hook" in _ok(*post, session)
    assert f"posted to {session};" in _ok(*post, session[:8]), "the start of an id will do"
    assert "delivered when the subagent ends" in _ok(*post, "a1")
    assert "no agent at work on this machine" in _ok(*post, "backend")
    _window(session[:-1] + "2", project=tmp_path)
    refused = _invoke(*post, session[:8])
    assert isinstance(refused.exception, Refused)
    assert "the start of 2 ids" in str(refused.exception)


@pytest.mark.requirement("U3", "X6")
@pytest.mark.parametrize(
    "arguments",
    [
        ("post", "workflow.progress", "\udcff"),
        ("post", "workflow.progress", " "),
        ("post", "workflow.progress", "x" * 200_001),
        ("post", "workflow.progress", "x", "--to", ""),
        ("post", "workflow.progress", "x", "--to", "\udcff"),
        ("post", "workflow.progress", "x", "--to", "n" * 257),
        ("post", "workflow.progress", "x", "--from", ""),
        ("read", "\udcff"),
    ],
)
def test_words_and_names_that_are_none_are_refused_in_words(arguments: tuple[str, ...]) -> None:
    refused = _invoke(*arguments)
    assert refused.exit_code == 2 or isinstance(refused.exception, Refused), refused.output
    assert re.search("must |is not UTF-8", f"{refused.exception}{refused.output}")


def _window(session: str, agent: str = "", *, project: Path) -> None:
    with lock_state(places.window(session, agent)) as state:
        state.session_id, state.agent_id = session, agent
        state.project, state.at_ms = str(project), row_times.now_ms()
        state.started_ms = state.at_ms
