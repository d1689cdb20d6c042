"""Settings: who wins, and that a typo never silences the guard."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast.cli.main import holdfast_command
from holdfast.redact.find import redact, use_patterns
from holdfast.settings import load as settings_load
from holdfast.settings.table import PRESETS, PROJECT, TABLE, USER, Setting, Value
from holdfast.wire import places
from tests.checkpoint.sessions import Session
from tests.hot.hooks import fire


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.requirement("G1")
def test_variables_win_over_the_project_and_the_project_over_the_user(tmp_path: Path) -> None:
    _write(settings_load.user_file(), "zone_yellow = 0.3\nzone_orange = 0.6\ncheck_interval = 7")
    _write(settings_load.project_file(str(tmp_path)), "zone_yellow = 0.35")
    found = settings_load.load(str(tmp_path), {"HOLDFAST_CHECK_INTERVAL": "9"})
    assert (found.share("zone_yellow"), found.share("zone_orange")) == (0.35, 0.6)
    assert found.whole("check_interval") == 9
    assert found.origins["zone_yellow"].endswith("holdfast.toml")
    assert found.origins["check_interval"] == "$HOLDFAST_CHECK_INTERVAL"
    assert found.origins["zone_red"] == "default"


def _another(setting: Setting) -> Value:
    """A valid value that is not the default, close enough to it to keep zones in order."""
    if setting.choices:
        return next(one for one in setting.choices if one != setting.default)
    if setting.is_text or setting.is_names:
        return "another"
    return (
        setting.default + 1 if isinstance(setting.default, int) else float(setting.default) * 0.99
    )


@pytest.mark.slow
@pytest.mark.requirement("X7")
@pytest.mark.parametrize("setting", TABLE, ids=lambda setting: setting.name)
def test_a_project_sets_only_what_the_table_allows_it(setting: Setting, tmp_path: Path) -> None:
    path = settings_load.project_file(str(tmp_path))
    value = _another(setting)
    _write(path, f"{setting.name} = {json.dumps(value)}\n")
    found = settings_load.load(str(tmp_path), {})
    if setting.set_by == PROJECT:
        assert (found.values[setting.name], found.errors) == (value, ())
    else:
        assert found.values[setting.name] == setting.default
        assert found.origins[setting.name] == "default"
        assert [setting.name in error and str(path) in error for error in found.errors] == [True]
    own = settings_load.load(str(tmp_path), {setting.variable: str(value)})
    assert own.values[setting.name] == value, "the user may always"


def test_free_text_is_never_set_by_a_project() -> None:
    """Places, programs and servers are free text; a project has choices, names and numbers."""
    assert {setting.set_by for setting in TABLE if setting.is_text} == {USER}


@pytest.mark.requirement("G1")
def test_a_single_value_wins_over_its_preset() -> None:
    _write(settings_load.user_file(), 'preset = "aggressive"\nzone_yellow = 0.5')
    found = settings_load.load(environ={})
    assert (found.share("zone_yellow"), found.share("zone_red")) == (0.5, 0.95)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("zone_red = 7", "is not valid"),
        ("zone_purple = 0.5", "no setting zone_purple"),
        ("zone_red = [", "was not read"),
        ("zone_red = 0.2", "must each be at least the one before"),
        ("\0", "was not read"),
        ('topics = "Build Done"', "build_done or build.done"),
    ],
)
def test_what_does_not_fit_is_said_and_the_default_holds(text: str, said: str) -> None:
    _write(settings_load.user_file(), text)
    found = settings_load.load(environ={})
    assert said in found.errors[0]
    assert found.share("zone_red") == 0.90


def test_every_default_fits_its_own_bounds_and_every_preset_its_settings() -> None:
    for setting in TABLE:
        environ = {setting.variable: str(setting.default)}
        assert not settings_load.load(environ=environ).errors
    for preset in PRESETS:
        assert not settings_load.load(environ={"HOLDFAST_PRESET": preset}).errors


@pytest.mark.requirement("G7")
@pytest.mark.parametrize(
    ("word", "meant"), [("1", "on"), ("ON", "on"), ("true", "on"), ("No", "off"), ("0", "off")]
)
def test_a_switch_is_understood_as_people_write_it(word: str, meant: str) -> None:
    found = settings_load.load("", {"HOLDFAST_STOP_GUARD": word})
    assert (found.word("stop_guard"), found.errors) == (meant, ())


@pytest.mark.requirement("X4")
def test_own_patterns_are_a_list_and_an_invalid_one_is_reported_and_ignored() -> None:
    _write(
        settings_load.user_file(), "secret_patterns = ['ACME-[0-9]{6}', '(unclosed', 'pin=(\\d+)']"
    )
    found = settings_load.load(environ={})
    assert found.word("secret_patterns").splitlines() == ["ACME-[0-9]{6}", r"pin=(\d+)"]
    assert ["(unclosed" in error and "secret_patterns" in error for error in found.errors] == [True]
    by_variable = settings_load.load(environ={"HOLDFAST_SECRET_PATTERNS": "a+\nb+"})
    assert by_variable.word("secret_patterns") == "a+\nb+"


@pytest.mark.requirement("X4")
def test_commands_and_hooks_search_for_own_patterns(tmp_path: Path) -> None:
    text = "the order ACME-123456 is open"
    _write(settings_load.user_file(), "secret_patterns = ['ACME-[0-9]{6}']")
    try:
        assert CliRunner().invoke(holdfast_command, ["settings"]).exit_code == 0
        assert redact(text) == "the order [redacted: own pattern] is open"
    finally:
        use_patterns([])
    fire("PreCompact", Session().user(f"Rule: {text}").says("Noted.").written(tmp_path))
    saved = [path.read_text() for path in Path(places.home()).rglob("*.md")]
    assert any("own pattern" in one for one in saved)
    assert not any("ACME-123456" in one for one in saved)


@pytest.mark.requirement("G7")
def test_a_variable_that_any_program_may_use_changes_nothing() -> None:
    """Only names with our prefix count, and those of two older tools, which are capitals."""
    others = {setting.name: "1" for setting in TABLE} | {"max_tokens": "120"}
    assert settings_load.load("", others).values == settings_load.load("", {}).values
    assert all(not setting.also or setting.also.isupper() for setting in TABLE)
