"""What `holdfast --help` and its relatives say, and what a shell completes."""

from __future__ import annotations

import os
import pty
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
from holdfast.cli import pages
from holdfast.cli.help import FIRST_STEPS, HEADINGS, PLUMBING, TOPICS, commands_under
from holdfast.cli.main import holdfast_command
from holdfast.cli.status import HOW_KNOWN
from holdfast.cli.terminal import ALERT_PAINT
from holdfast.settings import load as settings_load
from holdfast.wire.errors import HoldfastError
from tests.builders import a_transcript, an_answer
from tests.hot.hooks import fire

ROOT = Path(__file__).parents[2]
DIALECT = re.compile(r"\b(anew|edge|roll|mended?|let go|given? back|kept|said again|ops?)\b")


def _run(*words: str) -> Result:
    return CliRunner().invoke(holdfast_command, words, prog_name="holdfast")


@pytest.mark.requirement("U3")
def test_every_command_is_listed_once_under_a_heading_and_plumbing_is_not() -> None:
    listing = _run("--help").stdout
    assert [one for one in HEADINGS if f"\n{one}:\n" not in listing] == []
    for name, topic in TOPICS.items():
        shown = len(re.findall(rf"^  {name} ", listing, re.MULTILINE))
        assert shown == (topic.heading != PLUMBING), name
        assert topic.sentence in " ".join(listing.split()) or topic.heading == PLUMBING


@pytest.mark.requirement("U3")
def test_the_list_fits_a_terminal_of_80_columns_with_a_line_for_each_command() -> None:
    listing = _run("--help").stdout.splitlines()
    assert max(map(len, listing)) <= 80
    for heading in HEADINGS:
        start = listing.index(f"{heading}:") + 1
        assert len(commands_under(heading)) == listing[start:].index(""), heading


@pytest.mark.requirement("U3")
@pytest.mark.parametrize("name", TOPICS)
def test_a_topic_is_a_sentence_in_words_that_users_meet(name: str) -> None:
    topic = TOPICS[name]
    assert re.fullmatch(r"[A-Z].*\.", topic.sentence)
    assert topic.page and (ROOT / f"docs/{topic.page}.md").exists()
    words = f"{topic.sentence} {topic.details} {[one.meaning for one in topic.examples]}"
    assert not DIALECT.search(words), words


@pytest.mark.store  # every command is imported, and with two of them the database
@pytest.mark.requirement("U3")
@pytest.mark.parametrize("name", TOPICS)
def test_the_help_of_a_command_begins_with_its_sentence_and_ends_with_examples(name: str) -> None:
    shown, topic = _run(name, "--help").stdout, TOPICS[name]
    assert _run("help", name).stdout.startswith(shown)
    assert topic.sentence in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 80
    assert "..." not in shown.partition("Commands:")[2], "no sentence in the list is cut"
    for one in topic.examples:
        assert one.line in shown
    assert shown.endswith(f"More: holdfast help {topic.page}\n")


@pytest.mark.store
@pytest.mark.requirement("U3")
def test_every_option_and_every_command_below_is_explained_in_a_sentence() -> None:
    for words, command in _commands(holdfast_command, ()):
        assert re.match(r"[A-Z]", command.help or ""), words
        assert not DIALECT.search(command.help or ""), words
        for option in command.params:
            if isinstance(option, click.Option):
                assert re.match(r"[A-Z]|sqlite:", option.help or ""), (words, option.name)
                assert not DIALECT.search(option.help or ""), (words, option.name)


def _commands(
    command: click.Command, words: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if words:
        yield words, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _commands(below, (*words, name))


@pytest.mark.requirement("U3")
def test_every_example_belongs_to_its_command() -> None:
    for name, topic in TOPICS.items():
        for one in topic.examples:
            words = shlex.split(one.line.replace("$(", " ").replace(")", " ").replace('"', " "))
            assert words[words.index("holdfast") + 1] == name, one
    assert {shlex.split(one.line)[1] for one in FIRST_STEPS} <= TOPICS.keys()


@pytest.mark.requirement("U3")
def test_help_follows_the_words_down_and_names_what_is_not_there() -> None:
    assert _run("help").stdout.startswith(_run("--help").stdout)
    below = _run("help", "segments", "show")
    assert below.stdout == _run("segments", "show", "--help").stdout
    wrong = _run("help", "segments", "sing")
    assert wrong.exit_code == 2
    assert "There is no command `holdfast segments sing`. " in wrong.stderr
    assert "no page 'serch'. Did you mean 'search'?" in _run("help", "serch").stderr


@pytest.mark.requirement("U3")
def test_help_lists_every_page_once_and_prints_each() -> None:
    listing = _run("help").stdout.partition("\nPages")[2]
    for page in sorted(ROOT.glob("docs/*.md")):
        if page.name == pages.LIST:
            continue
        assert len(re.findall(rf"^  {page.stem} ", listing, re.MULTILINE)) == 1, page.stem
        title = page.read_text(encoding="utf-8").partition("\n")[0]
        assert f"{title}\n" in _run("help", page.stem).stdout


@pytest.mark.requirement("U3")
def test_a_page_names_the_command_that_prints_another_one_and_has_no_dead_link() -> None:
    names = set(pages.names())
    for name in names:
        shown = pages.text_of(name)
        assert re.findall(r"\]\((?!https?:)", shown) == [], name
        named = set(re.findall(r"`holdfast help ([a-z-]+)`", shown))
        assert named <= names | TOPICS.keys(), name
    assert "(`holdfast help checkpoints`)" in pages.text_of("what-happens-at-a-compaction")
    assert "all pages (`holdfast help`)" in pages.text_of("tutorial")


@pytest.mark.requirement("U3")
def test_the_lines_of_a_paragraph_are_joined_and_those_of_code_and_tables_are_not() -> None:
    source = "# T\nOne\ntwo.\n\n- a\n  b\n- c\n\n| x |\n|---|\n| y |\n\n```sh\nd\ne\n```\nf\n"
    joined = "# T\nOne two.\n\n- a b\n- c\n\n| x |\n|---|\n| y |\n\n```sh\nd\ne\n```\nf"
    assert pages.join_lines(source) == joined


@pytest.mark.requirement("U3")
def test_a_page_is_printed_without_the_comments_of_its_source() -> None:
    for name in pages.names():
        assert "<!--" not in pages.text_of(name), name


@pytest.mark.slow
@pytest.mark.requirement("U3")
def test_on_a_terminal_a_page_is_drawn_with_its_tables_as_columns() -> None:
    line = [sys.executable, "-m", "holdfast.cli", "help", "privacy"]
    env = os.environ | {"PAGER": "cat", "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "100"}
    ours, theirs = pty.openpty()
    with subprocess.Popen(line, env=env, stdin=theirs, stdout=theirs):
        os.close(theirs)
        drawn = b"".join(iter(lambda: _read_screen(ours), b"")).decode()
    os.close(ours)
    assert "every session 136 for the names" in re.sub("[ │]+", " ", drawn)  # rich 14 draws lines
    assert "|---|" not in drawn and max(map(len, drawn.splitlines())) <= 100
    assert "So a session below 75 % pays 136 tokens" in " ".join(drawn.split())


def _read_screen(screen: int) -> bytes:
    try:
        return os.read(screen, 1 << 16)
    except OSError:  # the program has ended
        return b""


@pytest.mark.requirement("U3")
def test_a_name_that_is_nearly_a_page_is_answered_with_the_page() -> None:
    wrong = _run("help", "tutoral")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "no page 'tutoral'. Did you mean 'tutorial'?" in wrong.stderr


@pytest.mark.slow
@pytest.mark.requirement("U3")
def test_a_long_page_is_paged_on_a_terminal_and_only_there(tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\ncat >/dev/null\necho paged\n")
    pager.chmod(0o700)
    line = [sys.executable, "-m", "holdfast.cli", "help", "tutorial"]
    env = os.environ | {"PAGER": str(pager), "TERM": "xterm"}
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as screen:
        subprocess.run(line, env=env, stdin=theirs, stdout=theirs, check=True)
        os.close(theirs)
        assert screen.read(100).split() == [b"paged"]
    piped = subprocess.run(line, env=env, capture_output=True, text=True, check=True)
    assert piped.stdout == f"{pages.text_of('tutorial').rstrip()}\n"


@pytest.mark.requirement("U3")
def test_version_is_a_command_and_an_option() -> None:
    assert _run("version").stdout == _run("--version").stdout
    assert holdfast.__version__ in _run("version").stdout


@pytest.mark.requirement("U3")
def test_compress_and_its_older_name_are_the_same_command() -> None:
    context = click.Context(holdfast_command)
    new, old = (holdfast_command.get_command(context, one) for one in ("compress", "roll"))
    assert new is not None and old is not None
    assert new.callback is old.callback
    assert [one.opts for one in new.params] == [one.opts for one in old.params]


def _completed(*words: str) -> list[str]:
    """What bash is told at a Tab behind these words, by the program that it would start."""
    env = os.environ | {
        "_HOLDFAST_COMPLETE": "bash_complete",
        "COMP_WORDS": shlex.join(["holdfast", *words]),
        "COMP_CWORD": str(len(words)),
    }
    program = "import sys; sys.argv[0] = 'holdfast'; from holdfast.cli.start import main; main()"
    line = [sys.executable, "-c", program]
    run = subprocess.run(line, env=env, capture_output=True, text=True, check=True)
    return [one.partition(",")[2] for one in run.stdout.splitlines() if one]


@pytest.mark.slow
@pytest.mark.requirement("U3")
def test_a_shell_completes_commands_but_no_plumbing() -> None:
    assert _completed("sta") == ["status", "statusline"]
    assert _completed("ro") == []
    assert _completed("settings", "zone_y") == ["zone_yellow"]


@pytest.mark.slow  # each Tab is a process
@pytest.mark.requirement("U3")
def test_a_shell_completes_the_ids_of_sessions_and_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = a_transcript(tmp_path / "alpha-1.jsonl", an_answer(20_000))
    fire("SessionStart", path, session="alpha-1")
    assert _completed("status", "--session", "al") == ["alpha-1"]
    saved = _run("checkpoint", "--transcript", str(path), "--project", str(Path.cwd()), "--json")
    assert saved.exit_code == 0, saved.output
    [made] = Path(".claude/checkpoints").glob("*.md")
    assert _completed("resume", "20") == [made.stem]
    assert _completed("diff", "pre") == ["previous"]


@pytest.mark.requirement("U3")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_the_script_of_a_shell(shell: str) -> None:
    found = _run("completion", shell)
    assert found.exit_code == 0
    assert f"_HOLDFAST_COMPLETE={shell}_complete" in found.stdout


@pytest.mark.requirement("U3")
def test_a_usage_line_is_not_broken_inside_a_word_and_a_folder_is_called_one() -> None:
    assert "COMPARTMENT SHARE" in _run("budget", "allot", "--help").stdout
    assert "--project DIR" in _run("rebuild", "--help").stdout
    assert "fish > ~/.config/" in _run("completion", "--help").stdout
    assert "holdfast statusline --preview" in " ".join(_run("status", "--help").stdout.split())


@pytest.mark.requirement("U3")
def test_a_wrong_word_is_answered_with_what_to_try() -> None:
    assert "`holdfast help` lists the commands and pages" in _run("help", "nosuch").stderr
    assert "Did you mean 'set'?" in _run("settings", "sett", "preset", "default").stderr
    assert "one of minimal, default, full" in _run("settings", "status_line").stdout


@pytest.mark.requirement("U3")
@pytest.mark.parametrize("command", ["replay", "status", "lost", "brief", "budget"])
def test_without_any_session_the_recorded_one_is_offered(command: str) -> None:
    error = _run(command).exception
    assert isinstance(error, HoldfastError)
    assert f"holdfast {command} --demo" in error.hint


@pytest.mark.requirement("U3")
def test_the_budget_of_the_recorded_session_leaves_nothing_behind(own_home: Path) -> None:
    assert "active_task" in _run("budget", "--demo").stdout
    assert not list(own_home.iterdir())


@pytest.mark.requirement("U3", "G1")
def test_status_says_in_words_how_a_reading_of_every_basis_is_known() -> None:
    table = (ROOT / "docs" / "status.md").read_text().partition("## How a reading is known")[2]
    assert set(re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)) == HOW_KNOWN.keys()


@pytest.mark.requirement("U3")
def test_the_help_of_status_explains_every_zone_and_alert() -> None:
    shown = " ".join(_run("status", "--help").stdout.split())
    zones = {
        name: settings_load.load().share(f"zone_{name}") for name in ("yellow", "orange", "red")
    }
    for name, share in zones.items():
        assert f"{name} from {share:.0%}".replace("%", " %") in shown
    left = {name: settings_load.load().share(f"{name}_left") for name in ALERT_PAINT}
    for name, share in left.items():
        assert f"{name} at {share:.0%}".replace("%", " %") in shown


@pytest.mark.requirement("U3")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("budget", "estimate", "a"), "1 token (1 character)"),
        (("budget", "estimate", "tide" * 7), "8 tokens (28 characters)"),
    ],
)
def test_one_is_not_many(words: tuple[str, ...], said: str) -> None:
    assert _run(*words).stdout.splitlines()[0] == said


@pytest.mark.requirement("U3", "B4")
def test_a_share_that_does_not_fit_is_answered_with_one_that_does(tmp_path: Path) -> None:
    def allot(share: str) -> HoldfastError:
        line = ("budget", "allot", "active_task", share, "--project", str(tmp_path))
        error = _run(*line).exception
        assert isinstance(error, HoldfastError)
        return error

    assert str(allot("a lot")) == "'a lot' is not a share"
    assert str(allot("1.4")) == "1.4 is not a share: it must be between 0 and 1"
    assert "40%" in allot("1.4").hint
    most = str(allot("100%")).partition("at most ")[2].partition(":")[0]
    assert _run("budget", "allot", "active_task", most, "--project", str(tmp_path)).exit_code == 0


@pytest.mark.requirement("U3")
def test_an_empty_watch_is_one_line() -> None:
    assert _run("watch", "--once").stdout == (
        "No session is running. Start Claude Code in a project.\n"
    )


@pytest.mark.slow
@pytest.mark.requirement("U3")
def test_empty_lists_say_what_to_do(tmp_path: Path) -> None:
    there = ("--project", str(tmp_path))
    assert "CLAUDE.md" in _run("memory", "rules", *there).stderr
    assert "holdfast board post" in _run("board", "list", *there).stderr


@pytest.mark.requirement("U3")
def test_pinning_the_same_text_again_says_so(tmp_path: Path) -> None:
    line = ("budget", "pin", "Never paint the pier.", "--project", str(tmp_path))
    assert _run(*line).stdout.startswith("pinned ")
    assert _run(*line).stdout.startswith("already pinned ")
    assert _run(*line, "--compartment", "active_task").stdout.startswith("pinned ")
