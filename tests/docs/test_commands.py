"""Every command in README and docs exists with its options; every screen is what it prints."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from holdfast.cli.main import holdfast_command
from holdfast.settings.table import TABLE
from tests.docs.pages import PAGES, ROOT, Shown, blocks, command_lines, screens

ELSEWHERE = ("make ", "uv ", "pipx ", "pip ", "claude")  # need an index, an account, or minutes
WITH_SCREENS = [page for page in PAGES if screens(page)]
FROM_DEMO = [page for page in PAGES if blocks(page, "demo")]
END = "\x1e"
SETTINGS = {setting.name for setting in TABLE}  # `holdfast settings NAME`


@pytest.mark.store  # every command is imported, and with two of them the database
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_page_exists_with_its_options(page: Path) -> None:
    for words in command_lines(page):
        _check(holdfast_command, click.Context(holdfast_command), words[1:], words)


def _check(command: click.Command, above: click.Context, words: list[str], line: list[str]) -> None:
    """Follow the words into the commands below; each option must be one of the command's."""
    options = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    options |= {"--help", "-h", "--version"}
    while words:
        word = words.pop(0)
        if word == "--":
            return
        if word.startswith("-") and word != "-":
            assert word.partition("=")[0] in options, line
        elif isinstance(command, click.Group) and word.islower():  # not COMMAND
            below = command.get_command(above, word)
            if below is None and word not in SETTINGS:
                pytest.fail(f"no such command: {line}")
            if below is not None:
                return _check(below, click.Context(below, parent=above), words, line)


@pytest.mark.store
def test_every_address_in_an_example_is_a_route() -> None:
    from fastapi.routing import APIRoute

    from holdfast.api.app import ROUTES

    routes = [one for one in ROUTES if isinstance(one, APIRoute)]
    for page in PAGES:
        for block in blocks(page):
            for path in re.findall(r"(?:127\.0\.0\.1:3847|\$at)(/[\w/.-]+)", block):
                whole = path if path.startswith(("/api", "/health", "/openapi")) else f"/api{path}"
                known = any(one.path_regex.match(whole) for one in routes)
                assert known or whole in ("/api", "/openapi.json"), f"{page.name}: {whole}"


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_SCREENS, ids=lambda page: page.stem)
def test_every_screen_of_a_page_is_what_its_command_prints(page: Path, tmp_path: Path) -> None:
    (tmp_path / "demo").symlink_to(ROOT / "demo")
    shown = [one for one in screens(page) if not one.command.startswith(ELSEWHERE)]
    for one, (printed, code) in zip(shown, _run(shown, tmp_path), strict=True):
        assert code == one.exit_code, f"$ {one.command}\n{printed}"
        for line in one.output:
            for piece in filter(None, map(_masked, line.split("…"))):
                assert piece in _masked(printed), f"$ {one.command}\n{line!r} is not in\n{printed}"


@pytest.mark.slow
def test_the_tokens_restored_in_the_demo_are_one_figure_and_the_right_one() -> None:
    """A change of a word in the brief may move it by a few tokens, and needs no change of pages."""
    stated = [
        int(found.replace(",", ""))
        for page in PAGES
        for found in re.findall(
            r"Holdfast restores all of it, in ([\d,]+) tokens", page.read_text()
        )
    ]
    run = CliRunner().invoke(holdfast_command, ["replay", "--demo", "--json"])
    [compaction] = json.loads(run.stdout)["compactions"]
    assert len(stated) == 2
    assert len(set(stated)) == 1
    assert stated[0] == pytest.approx(compaction["brief_tokens"], rel=0.05)


@pytest.fixture(scope="session")
def demo_prints() -> str:
    line = [sys.executable, str(ROOT / "demo" / "play.py")]
    run = subprocess.run(line, capture_output=True, text=True, check=True, timeout=110)
    return _masked(run.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("page", FROM_DEMO, ids=lambda page: page.stem)
def test_every_demo_block_is_what_the_demo_prints(page: Path, demo_prints: str) -> None:
    for block in blocks(page, "demo"):
        for line in block.splitlines():
            for piece in filter(None, map(_masked, line.split("…"))):
                assert piece in demo_prints, line


def _run(shown: list[Shown], folder: Path) -> list[tuple[str, int]]:
    """All of a page's commands, one after the other, in one shell: a `cd` holds for the next."""
    script = "".join(f"{one.command}\nprintf '{END}%s{END}' $?\n" for one in shown)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=os.environ | {"PATH": path, "COLUMNS": "80"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=110,
    )
    parts = run.stdout.split(END)
    return [(out, int(code)) for out, code in zip(parts[::2], parts[1::2], strict=False)]


def _masked(text: str) -> str:
    """Numbers, homes and white space differ from run to run; words do not."""
    text = text.replace(os.environ["HOME"], "~")
    return re.sub(r"\s+", " ", re.sub(r"\d+", "0", text)).strip()
