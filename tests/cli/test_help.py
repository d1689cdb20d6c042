"""What `holdfast help` and its relatives say, and what a shell completes."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import holdfast
from holdfast.cli.main import EVERYDAY, GROUPS, NAMES, holdfast_command
from holdfast.cli.terminal import ALERT_PAINT
from holdfast.settings import load as settings_load
from holdfast.settings.table import PRESETS, TABLE
from holdfast.wire.errors import HoldfastError

LIST = "README.md"
ROOT = Path(__file__).parents[2]
DIALECT = re.compile(r"\b(anew|edge|roll|mended?|let go|given? back|said again|ops?)\b")
TWELVE = (
    *("status", "lost", "brief", "search", "replay", "checkpoint"),
    *("resume", "pin", "ui", "install", "uninstall", "doctor"),
)
OF_TABLES = ("zone_", "warning_", "segment_", "checkpoint_")  # numbers of G, R and C
NUMBERS_OF_G = {
    *("advisory_left", "urgent_left", "critical_left", "fast_climb", "check_interval"),
    *("cooldown_seconds", "capacity_threshold", "active_minutes"),
}


def _run(*words: str) -> Result:
    return CliRunner().invoke(holdfast_command, words, prog_name="holdfast")


def _commands(command: click.Command, *words: str) -> Iterator[tuple[str, click.Command]]:
    """Every listed command that is run by itself."""
    below = (
        command.list_commands(click.Context(command)) if isinstance(command, click.Group) else []
    )
    if words:
        yield " ".join(words), command
    for name in below:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None
        yield from _commands(found, *words, name)


@pytest.mark.requirement("U3")
def test_the_first_screen_has_the_twelve_everyday_commands_and_the_names_of_groups() -> None:
    listing = _run("--help").stdout
    assert max(map(len, listing.splitlines())) <= 80 and len(listing.splitlines()) <= 34
    named = re.findall(r"^  ([a-z]+)  ", listing.partition("Every day:")[2], re.MULTILINE)
    assert named == [*TWELVE, *GROUPS]
    assert EVERYDAY == TWELVE


@pytest.mark.store  # every command is imported, and with two of them the database
@pytest.mark.requirement("U3")
def test_there_are_few_commands_options_and_settings() -> None:
    known = list(_commands(holdfast_command))
    leaves = [name for name, command in known if not isinstance(command, click.Group)]
    shown = [
        param
        for _, command in [*known, ("", holdfast_command)]
        for param in command.params
        if isinstance(param, click.Option) and not param.hidden
    ]
    assert len(leaves) <= 42 and len(shown) <= 130
    others = [row for row in TABLE if not row.name.startswith(OF_TABLES)]
    assert len([row for row in others if row.name not in NUMBERS_OF_G]) <= 25


@pytest.mark.store
@pytest.mark.requirement("U3")
def test_a_group_lists_its_commands_with_a_sentence_each() -> None:
    for group, names in GROUPS.items():
        printed = _run("help", group).stdout
        for name in names:
            assert re.search(rf"^  {name} +[A-Z]", printed, re.MULTILINE), name
        assert "..." not in printed


@pytest.mark.store
@pytest.mark.requirement("U3")
@pytest.mark.parametrize("name", NAMES)
def test_the_help_of_a_command_begins_with_its_sentence_in_words_that_users_meet(name: str) -> None:
    printed = _run(name, "--help").stdout
    assert _run("help", name).stdout.startswith(printed)
    assert not DIALECT.search(printed.partition("Options:")[0].replace(f"holdfast {name}", ""))
    assert max(map(len, printed.splitlines())) <= 80
    for line in re.findall(r"^    (?:\w+ \"\$\()?(holdfast .*?)(?:  .*)?$", printed, re.MULTILINE):
        words = shlex.split(line.replace(')"', ""))
        assert words[1] in (name, "settings", "compress"), line


@pytest.mark.store
@pytest.mark.requirement("U3")
def test_every_option_and_every_command_below_is_explained_in_a_sentence() -> None:
    for words, command in _commands(holdfast_command):
        assert re.match(r"[A-Z]", command.help or ""), words
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert re.match(r"[A-Z]|sqlite:", option.help or ""), (words, option.name)
                assert not DIALECT.search(option.help or ""), (words, option.name)


@pytest.mark.requirement("U3")
def test_help_follows_the_words_down_and_names_what_is_not_there() -> None:
    assert _run("help").stdout.startswith(_run("--help").stdout)
    assert _run("help", "segments", "show").stdout == _run("segments", "show", "--help").stdout
    wrong = _run("help", "segments", "sing")
    assert wrong.exit_code == 2
    assert "There is no command `holdfast segments` 'sing'. " in wrong.stderr
    assert "no page 'serch'. Did you mean 'search'?" in _run("help", "serch").stderr
    assert "`holdfast help` lists what there is" in _run("help", "nosuch").stderr
    assert "Did you mean 'status'?" in _run("statu").stderr


@pytest.mark.requirement("U3")
def test_help_lists_every_page_and_prints_each_without_the_comments_of_its_source() -> None:
    listing = _run("help").stdout.partition("\nPages: ")[2]
    for page in ROOT.glob("docs/*.md"):
        if page.name != LIST:
            assert re.search(rf"\b{page.stem}\b", listing), page.stem
            printed = _run("help", page.stem).stdout
            assert page.read_text(encoding="utf-8").partition("\n")[0] in printed
            assert "<!--" not in printed


@pytest.mark.requirement("U3")
def test_older_names_work_and_are_not_listed() -> None:
    assert holdfast.__version__ in _run("--version").stdout
    context = click.Context(holdfast_command)
    new, old = (holdfast_command.get_command(context, name) for name in ("compress", "roll"))
    assert new is not None and new is old
    listed = holdfast_command.list_commands(context)
    assert not {"expand", "roll", "statusline", "help"} & {*listed}


@pytest.mark.slow  # each Tab is a process
@pytest.mark.requirement("U3")
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["sta"], ["status"]),
        (["ro"], []),
        (["settings", "set", "stat"], ["status_line"]),
        (["settings", "set", "preset", ""], [*PRESETS]),
        (["settings", "set", "preset", "default", ""], []),
    ],
)
def test_a_shell_completes_commands(words: list[str], completed: list[str]) -> None:
    env = os.environ | {
        "_HOLDFAST_COMPLETE": "bash_complete",
        "COMP_WORDS": shlex.join(["holdfast", *words]),
        "COMP_CWORD": str(len(words)),
    }
    program = "import sys; sys.argv[0] = 'holdfast'; from holdfast.cli.start import main; main()"
    line = [sys.executable, "-c", program]
    run = subprocess.run(line, env=env, capture_output=True, text=True, check=True)
    assert [item.partition(",")[2] for item in run.stdout.split()] == completed


@pytest.mark.requirement("U3")
@pytest.mark.parametrize("command", ["replay", "status", "lost", "brief"])
def test_without_any_session_the_recorded_one_is_offered(command: str, own_home: Path) -> None:
    error = _run(command).exception
    assert isinstance(error, HoldfastError)
    assert "holdfast replay --demo" in error.hint
    assert _run(command, "--demo").exit_code == 0
    assert not list(own_home.iterdir()), "it leaves nothing behind"


@pytest.mark.requirement("U3")
def test_the_help_of_status_explains_every_zone_and_alert() -> None:
    printed = " ".join(_run("status", "--help").stdout.split())
    settings = settings_load.load()
    for name in ("yellow", "orange", "red"):
        assert f"{name} from {settings.share(f'zone_{name}'):.0%}" in printed
    for name in ALERT_PAINT:
        assert f"{name} at {settings.share(f'{name}_left'):.0%}" in printed
