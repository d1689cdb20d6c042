"""Where we are wired in already: found in settings of every scope, and in plugins."""

import json
from pathlib import Path

import pytest

from holdfast.setup import wiring
from holdfast.setup.errors import InstallError
from holdfast.setup.installs import find_installs
from holdfast.setup.receipts import our_packages
from holdfast.setup.settings_text import installed_commands

from .machine import Desk, all_hooks

pytestmark = pytest.mark.requirement("U1")


def scopes(desk: Desk) -> list[str]:
    return [
        install.scope for install in find_installs(desk.home, desk.project, our_packages(desk.ours))
    ]


def register(desk: Desk, **more: str) -> Path:
    """installed_plugins.json as the client writes it."""
    plugin = desk.home / "cache" / "holdfast"
    (plugin / "hooks").mkdir(parents=True)
    hooks = plugin / "hooks" / "hooks.json"
    hooks.write_text(json.dumps({"hooks": wiring.hook_table()}))
    entry = {"scope": "user", "installPath": str(plugin), "version": "0.1.0", **more}
    path = desk.home / ".claude" / "plugins" / "installed_plugins.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"version": 2, "plugins": {"holdfast@mk": [entry]}}))
    return hooks


@pytest.mark.parametrize("scope", ["user", "project", "local"])
def test_settings_of_each_scope_are_found_with_their_commands(desk: Desk, scope: str) -> None:
    desk.install(scope)
    [install] = find_installs(desk.home, desk.project, our_packages(desk.ours))
    assert (install.scope, install.path) == (scope, desk.target(scope).anchor)
    assert list(install.commands) == installed_commands(install.path) == all_hooks()


def test_the_portable_plugin_is_found_with_its_folder_in_its_commands(desk: Desk) -> None:
    hooks = register(desk)
    hooks.write_text(json.dumps({"hooks": wiring.plugin_table()}))
    [install] = find_installs(desk.home, desk.project, our_packages(desk.ours))
    launcher = f'sh "{hooks.parents[1]}/bin/holdfast" hook'
    wanted = [
        (event, command.replace(wiring.hook_command().removesuffix(wiring.OR_NOTHING), launcher))
        for event, command in all_hooks()
    ]
    assert list(install.commands) == wanted
    assert any(wiring.prints_second_half(command) for _, command in install.commands)


def test_an_installed_plugin_is_found_with_its_commands(desk: Desk) -> None:
    hooks = register(desk)
    [install] = find_installs(desk.home, desk.project, our_packages(desk.ours))
    assert (install.scope, install.path) == ("plugin", hooks)
    assert list(install.commands) == all_hooks()
    with pytest.raises(InstallError, match="already installed in plugin") as caught:
        desk.install()
    assert "claude plugin uninstall" in caught.value.hint


def test_a_plugin_that_is_only_enabled_is_found(desk: Desk) -> None:
    desk.write(b'{"enabledPlugins": {"holdfast@mk": true, "other@mk": true}}')
    assert scopes(desk) == ["plugin"]


def test_installs_in_other_projects_are_said_as_long_as_they_stand(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.install("local")
    monkeypatch.chdir(desk.home)
    said = f"also installed in project {desk.project}: hooks run twice there"
    assert said in desk.install().notes
    assert said in desk.install().notes
    desk.uninstall()
    (desk.project / ".claude" / "settings.local.json").write_text("{}")
    assert said not in desk.install().notes
