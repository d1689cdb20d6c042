"""`holdfast settings set` and `unset`: one line of a file, checked before it is written."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from holdfast.cli.main import holdfast_command
from holdfast.settings import load
from holdfast.settings.table import TABLE
from holdfast.wire.errors import HoldfastError


def _run(*words: str, **environ: str) -> Result:
    return CliRunner().invoke(holdfast_command, ["settings", *words], env=environ)


def _file(text: str) -> Path:
    path = load.user_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.requirement("U3")
def test_a_setting_is_written_and_holds_from_then_on() -> None:
    found = _run("set", "zone_orange", "0.7")
    assert found.exit_code == 0, found.output
    assert f"{load.user_file()}: zone_orange = 0.7" in found.stdout
    assert load.load().values["zone_orange"] == 0.7
    assert load.user_file().stat().st_mode & 0o077 == 0


@pytest.mark.requirement("U3")
def test_every_other_line_of_the_file_stays_as_it_is() -> None:
    path = _file("# mine\ncheck_interval = 10\npreset = 'aggressive' # loud\n\n[other]\nx = 1\n")
    assert _run("set", "preset", "conservative").exit_code == 0
    assert _run("set", "stop_guard", "on").exit_code == 0
    expected = '# mine\ncheck_interval = 10\npreset = "conservative"\n\nstop_guard = "on"\n'
    assert path.read_text() == f"{expected}[other]\nx = 1\n"
    assert _run("unset", "preset").exit_code == 0
    assert _run("unset", "stop_guard").exit_code == 0
    assert path.read_text() == "# mine\ncheck_interval = 10\n\n[other]\nx = 1\n"


@pytest.mark.requirement("U3")
@pytest.mark.parametrize("before", ["", 'embedder = "off"\n'])
def test_the_line_that_undoes_a_change_undoes_it(before: str) -> None:
    path = _file(before)
    done = _run("set", "embedder", "a folder with 'quotes'").stdout
    assert load.load().word("embedder") == "a folder with 'quotes'"
    undo = re.search(r"undo: holdfast settings (\w+) (\w+) ?(\w*)", done)
    assert undo is not None, done
    assert _run(*filter(None, undo.groups())).exit_code == 0
    assert path.read_text() == before


@pytest.mark.requirement("U3")
@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("zone_orange", "many", "zone_orange = 'many' is not valid (0 to 1)"),
        (
            "zone_orange",
            "0.2",
            "zone_yellow, zone_orange, zone_red must each be at least the one before",
        ),
        ("preset", "bold", "one of default, conservative, aggressive"),
        ("zone_orang", "1", "there is no setting zone_orang; did you mean zone_orange?"),
    ],
)
def test_an_invalid_value_is_refused_and_nothing_is_written(
    name: str, value: str, reason: str
) -> None:
    found = _run("set", name, value)
    assert found.exit_code != 0
    assert reason in f"{found.stderr}{found.exception}"
    assert not load.user_file().exists()


@pytest.mark.requirement("U3", "X7")
def test_a_project_gets_only_what_a_project_may_set(tmp_path: Path) -> None:
    there = ("--project", str(tmp_path))
    assert _run("set", "zone_orange", "0.7", *there).exit_code == 0
    assert load.load(str(tmp_path)).values["zone_orange"] == 0.7
    assert load.load().values["zone_orange"] == 0.75
    refused = _run("set", "server", "https://example.org", *there)
    assert "a project may not set server" in str(refused.exception)
    assert _run("unset", "zone_orange", *there).exit_code == 0
    assert load.load(str(tmp_path)).values["zone_orange"] == 0.75


@pytest.mark.requirement("U3")
@pytest.mark.parametrize("text", ["zone_red = ", 'embedder = """\nx\n"""\n'])
def test_a_file_that_no_line_editor_understands_is_left_alone(text: str) -> None:
    path = _file(text)
    found = _run("set", "embedder", "off")
    assert found.exit_code != 0
    assert "was left as it is" in str(found.exception)
    assert isinstance(found.exception, HoldfastError) and found.exception.hint
    assert path.read_text() == text


@pytest.mark.slow
@pytest.mark.requirement("U3")
def test_every_default_can_be_set_by_its_own_words() -> None:
    for setting in TABLE:
        found = _run("set", setting.name, str(setting.default))
        assert found.exit_code == 0, found.output
    assert load.load(environ={}).values == {one.name: one.default for one in TABLE}
