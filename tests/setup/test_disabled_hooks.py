"""Whatever silences us is said, with the place that says it; a stronger place can take it back."""

import pytest

from holdfast.setup.installs import settings_against_hooks

from .machine import Desk

pytestmark = pytest.mark.requirement("U2")


def local(desk: Desk, data: bytes) -> None:
    (desk.project / ".claude").mkdir(exist_ok=True)
    (desk.project / ".claude" / "settings.local.json").write_bytes(data)


def test_nothing_silences_by_default(desk: Desk) -> None:
    desk.write(b'{"disableAllHooks": false, "env": {"A": "1", "HOLDFAST_DISABLE": "0"}}')
    assert list(settings_against_hooks(desk.project)) == []


@pytest.mark.parametrize(
    ("data", "undone"),
    [
        (b'{"disableAllHooks": true}', b'{"disableAllHooks": false}'),
        (b'{"env": {"HOLDFAST_DISABLE": "1"}}', b'{"env": {"HOLDFAST_DISABLE": "0"}}'),
        (b'{"env": {"HOLDFAST_DISABLE": 1}}', b'{"env": {"HOLDFAST_DISABLE": ""}}'),
        (b'{"env": {"DISABLE_AUTO_CONTEXT_MANAGER": "0"}}', b""),
    ],
)
def test_a_settings_file_silences_until_a_stronger_one_says_no(
    desk: Desk, data: bytes, undone: bytes
) -> None:
    desk.write(data)
    [said] = settings_against_hooks(desk.project)
    assert str(desk.settings) in said
    assert "remove that" in said
    if undone:
        local(desk, undone)
        assert list(settings_against_hooks(desk.project)) == []


@pytest.mark.parametrize("name", ["HOLDFAST_DISABLE", "DISABLE_AUTO_CONTEXT_MANAGER"])
def test_the_environment_silences(desk: Desk, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "1")
    [said] = settings_against_hooks(desk.project)
    assert f"{name} is set in the environment" in said
