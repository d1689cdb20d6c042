"""The laws of our share in a settings text: in and out is nothing, whatever happens around it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.setup import settings_text, wiring
from holdfast.setup.errors import SettingsBroken
from holdfast.setup.install_parts import command_to_wrap
from holdfast.setup.json_text import add, find, raw, read

from .json_drafts import documents, edits

pytestmark = pytest.mark.requirement("U1")

TABLE = wiring.hook_table()
OURS = frozenset((wiring.this_program().package,))


def line_for(text: str) -> dict[str, Any]:
    return wiring.status_line(command_to_wrap(read(text), (), OURS))


def joined(text: str) -> str:
    return settings_text.join(text, TABLE, line_for(text))


@pytest.mark.slow
@given(documents())
def test_joining_and_leaving_is_nothing(text: str) -> None:
    assert settings_text.leave(joined(text), text, OURS) == text


@pytest.mark.slow
@given(documents())
def test_joining_adds_ours_and_loses_nothing(text: str) -> None:
    before, after = json.loads(text), json.loads(joined(text))
    assert settings_text.has_all(joined(text), TABLE, line_for(text), OURS)
    assert not settings_text.has_all(text, TABLE, line_for(text), OURS)
    assert settings_text.commands(before) == []
    for event, groups in before.pop("hooks", {}).items():
        assert after["hooks"][event] == groups + TABLE.get(event, [])
    line = before.pop("statusLine", None)
    if isinstance(line, dict) and settings_text.status_command_in({"statusLine": line}) is not None:
        assert after["statusLine"] == {**line, "command": line_for(text)["command"]}
    assert before.items() <= after.items()


@pytest.mark.slow
@given(st.data())
def test_leaving_after_edits_leaves_exactly_the_edits(data: st.DataObject) -> None:
    text = data.draw(documents())
    ours, theirs = joined(text), text
    for number in range(data.draw(st.integers(1, 4))):
        edit = data.draw(edits(theirs, number))
        ours, theirs = edit(ours), edit(theirs)
    assert settings_text.has_all(ours, TABLE, line_for(text), OURS)
    assert settings_text.leave(ours, text, OURS) == theirs


@pytest.mark.slow
@given(documents())
def test_without_a_receipt_only_containers_that_we_emptied_go(text: str) -> None:
    left = json.loads(settings_text.leave(joined(text), None, OURS))
    before = json.loads(text)
    hooks = before.pop("hooks", {})
    kept = {event: groups for event, groups in hooks.items() if groups or event not in TABLE}
    if line_for(text) == wiring.status_line():  # nothing was wrapped that could come back
        before.pop("statusLine", None)
    assert left == ({**before, "hooks": kept} if kept else before)


@given(documents())
def test_reading_agrees_with_json(text: str) -> None:
    assert read(text) == json.loads(text)
    for key, value in json.loads(text).items():
        written = raw(text, (key,))
        assert written is not None
        assert json.loads(written) == value
    assert find(text, ("not there", 0)) is None


def test_our_share_is_laid_out_as_its_neighbours_are() -> None:
    tabs = add('{\n\t"a": {\n\t\t"b": 1\n\t}\n}', ("a",), [1, {}], key="c")
    assert tabs == '{\n\t"a": {\n\t\t"b": 1,\n\t\t"c": [\n\t\t\t1,\n\t\t\t{}\n\t\t]\n\t}\n}'
    assert add('{"a":[1]}', ("a",), {"b": 2}) == '{"a":[1,{"b":2}]}'
    assert add('{"a": [1]}', ("a",), {"b": 2}) == '{"a": [1, {"b": 2}]}'
    assert add('{\r\n  "a": []\r\n}', ("a",), 1) == '{\r\n  "a": [\r\n    1\r\n  ]\r\n}'
    assert add("{}", (), 1, key="a") == '{\n  "a": 1\n}'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{"a": 1,}',
            "line 1, column [89]",
        ),  # from Python 3.13 on the comma, before it what follows
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
        ('\ufeff{"a" 1}', "line 1, column 6"),
        ('{\r\n"a": tru\r\n}', "line 2, column 6"),
        ('{"a": 1} x', "line 1, column 10"),
        ('{"a": NaN}', "NaN"),
        ('{"a": "\t"}', "control character"),
        ("// a comment\n{}", "line 1, column 1"),
        ("[" * 100_000, "deep"),
        ("[1]", "not an object"),
        ('"hooks"', "not an object"),
        ('{"hooks": {}, "hooks": {}}', "`hooks` is given twice"),
        ('{"hooks": {"Stop": [], "St\\u006fp": []}}', "`hooks.Stop` is given twice"),
    ],
)
def test_what_is_broken_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(SettingsBroken, match=said.replace("`", ".")) as caught:
        settings_text.check(text)
    assert caught.value.hint


@pytest.mark.parametrize("hooks", ['"x"', "[1]", '{"Stop": {}}', '{"Stop": [1, {"hooks": 2}]}'])
def test_leaving_copes_with_hooks_of_any_shape(hooks: str) -> None:
    text = f'{{"hooks": {hooks}}}'
    assert settings_text.leave(text, None, OURS) == text


@pytest.mark.parametrize(
    "command",
    [
        "ruff check src/holdfast/hook/__main__.py",
        "cat /x/holdfast/hook/__main__.py",
        "python -I -S /x/holdfast/hook/__main__.py | tee log",
        "nice python -I -S /x/holdfast/hook/__main__.py",
        "python -I -S /x/other/hook/__main__.py",
        "python -I -S",
        "python -I -S /x/holdfast/hook/__main__.py statusline --wraps",
        "python -I -S /x/holdfast/hook/__main__.py statusline --wraps a b",
        "python -I -S /x/holdfast/hook/__main__.py statusline --wraps a;b",
        "python -I -S /x/holdfast/hook/__main__.py statusline --wraps $HOME/line.sh",
        "python -I -S /x/holdfast/hook/__main__.py statusline --wraps 'a' | tee log",
        "python -I -S /x/holdfast/hook/__main__.py --wraps a",
        "python -I -S /x/holdfast/hook/__main__.py || : || tee log",
        "python -I -S /x/holdfast/hook/__main__.py '||' :",
        "python -I -S /x/holdfast/hook/__main__.py || exit 1",
        "set -- a ; python -I -S /x/holdfast/hook/__main__.py statusline || eval a",
        "set -- a ; python -I -S /x/holdfast/hook/__main__.py statusline --wraps $1 || eval $1",
        "set -- a",
        "'",
        "",
    ],
)
def test_commands_of_others_are_not_taken_for_ours(command: str) -> None:
    assert wiring.read_command(command) is None
    assert not wiring.is_ours(command, ["/x/holdfast"])


def test_ours_is_known_whatever_its_python_and_another_package_is_not_ours() -> None:
    program = wiring.Program("/opt/it's here/bin/python3.14", "/opt/it's here/holdfast")
    assert "'" in wiring.hook_command(program)
    for command in (wiring.hook_command(program), wiring.status_command("a b", program)):
        assert wiring.is_ours(command, [program.package])
        assert not wiring.is_ours(command, OURS)
    assert not wiring.is_ours(None, OURS)


def test_the_hooks_are_those_the_client_documents() -> None:
    table = wiring.hook_table()
    hooks = [(event, one["hooks"][0]) for event, groups in table.items() for one in groups]
    asynchronous = {event for event, hook in hooks if hook.get("async")}
    assert asynchronous == {"PostToolUse", "PostToolUseFailure"}
    assert all(0 < hook["timeout"] <= 30 for _, hook in hooks)  # seconds
    matchers = [one["matcher"] for groups in table.values() for one in groups if "matcher" in one]
    assert matchers == ["compact"]
    of_start = [hook["command"] for event, hook in hooks if event == "SessionStart"]
    assert len(set(of_start)) == 2, "the client runs hooks with the same command once"
