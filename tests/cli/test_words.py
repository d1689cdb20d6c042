"""Words on the command line that are not UTF-8: refused at the border, by every command."""

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from holdfast.cli.main import NAMES, holdfast_command
from tests.builders import a_prompt, a_transcript, an_answer

NOT_UTF8 = os.fsdecode(b"gr\xf6sse")


def _commands(command: click.Command, *way: str) -> Iterator[tuple[click.Command, tuple[str, ...]]]:
    yield command, way
    for name, below in command.commands.items() if isinstance(command, click.Group) else ():
        yield from _commands(below, *way, name)


def _all() -> Iterator[tuple[click.Command, tuple[str, ...]]]:
    context = click.Context(holdfast_command)
    for name in NAMES:
        command = holdfast_command.get_command(context, name)
        assert command is not None
        yield from _commands(command, name)


@pytest.mark.store  # every command is imported, and with two of them the database
@pytest.mark.requirement("U3", "X7")
def test_no_command_takes_words_that_cannot_be_written_down() -> None:
    asked = [
        (way, param)
        for command, way in _all()
        for param in command.params
        if param.type.name == "text" and param.type is not click.UNPROCESSED  # for another program
    ]
    assert len(asked) > 20
    for way, param in asked:
        with pytest.raises(click.BadParameter) as error:
            param.type_cast_value(click.Context(holdfast_command), _given(param))
        assert "is not UTF-8" in str(error.value), way
        assert error.value.exit_code == 2


def _given(param: click.Parameter) -> str | list[str]:
    return [NOT_UTF8] if param.multiple or param.nargs != 1 else NOT_UTF8


@pytest.mark.requirement("U3", "X7")
@pytest.mark.parametrize(
    "words",
    [
        ["pin", NOT_UTF8],
        ["memory", "add", "x", "--description", "d", "--body", NOT_UTF8],
        ["search", NOT_UTF8],
        pytest.param(["board", "post", "task.created", NOT_UTF8], marks=pytest.mark.store),
    ],
)
def test_it_says_which_and_keeps_nothing(words: list[str], own_home: Path) -> None:
    run = CliRunner().invoke(holdfast_command, words)
    assert run.exit_code == 2
    assert "'gr\\udcf6sse' is not UTF-8" in run.output
    assert not (own_home / ".holdfast/budget").exists()
    assert not list(own_home.rglob("*.md"))


@pytest.mark.requirement("U3", "X7")
def test_the_name_of_a_file_may_be_any_bytes(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/gr\xf6sse.jsonl")
    a_transcript(Path(path), a_prompt("Count boats."), an_answer(20_000))
    run = CliRunner().invoke(holdfast_command, ["brief", path])
    assert run.exit_code == 0 and "Count boats." in run.output
