"""The portable plugin: what it holds, its launcher, and how it builds its environment."""

import filecmp
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

import holdfast
from holdfast.files import plugin_environment

pytestmark = [pytest.mark.slow, pytest.mark.requirement("U11")]
ROOT = Path(__file__).resolve().parents[2]
NO_INDEX = {"PIP_NO_INDEX": "1", "UV_OFFLINE": "1"}


def launch(
    plugin: Path, home: Path, *words: str, sent: bytes = b"", more: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The launcher, as a client starts it."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), **NO_INDEX}
    env["CLAUDE_PLUGIN_ROOT"] = str(plugin)
    env["CLAUDE_PLUGIN_DATA"] = str(home / "data of plugins")
    env |= more or {}
    done = subprocess.run(
        ["/bin/sh", str(plugin / "bin" / "holdfast"), *words],
        input=sent,
        env=env,
        capture_output=True,
        check=False,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def message(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stderr) == (0, "")
    return str(json.loads(done.stdout)["systemMessage"]) if done.stdout else ""


def until_built(data: Path, seconds: float = 60) -> dict[str, object]:
    """The state once no build runs."""
    ends = time.monotonic() + seconds
    while plugin_environment.state(data).get("state", "building") == "building":
        assert time.monotonic() < ends
        time.sleep(0.05)
    return plugin_environment.state(data)


def files_of(plugin: Path) -> list[Path]:
    """Without bytecode, which other tests may have written."""
    return [path for path in plugin.rglob("*") if path.is_file() and path.suffix != ".pyc"]


def test_the_same_sources_give_the_same_plugin(
    builder: ModuleType, plugin: Path, tmp_path: Path
) -> None:
    builder.build(tmp_path / "again")
    compared = filecmp.dircmp(plugin, tmp_path / "again")
    assert not (compared.left_only or compared.right_only)
    for path in files_of(plugin):
        assert (tmp_path / "again" / path.relative_to(plugin)).read_bytes() == path.read_bytes()


def test_it_names_no_place_of_the_machine_that_built_it(plugin: Path) -> None:
    places = [str(ROOT), sys.prefix, str(Path.home()), str(plugin)]
    for path in files_of(plugin):
        data = path.read_bytes()
        assert not [place for place in places if place.encode() in data], path


def test_its_lock_has_a_hash_for_every_package_that_the_wheel_needs(plugin: Path) -> None:
    lock = (plugin / "requirements.lock").read_text()
    locked = {line.split("==")[0] for line in lock.splitlines() if line[:1].isalpha()}
    assert lock.count("--hash=sha256:") >= len(locked)
    stated = (ROOT / "pyproject.toml").read_text()
    needed = stated.split("\ndependencies = [")[1].split("\n]")[0]
    names = {line.strip(' "').split(">=")[0] for line in needed.splitlines() if ">=" in line}
    assert names <= locked
    manifest = json.loads((plugin / ".claude-plugin" / "plugin.json").read_text())
    assert manifest["version"] == holdfast.__version__


def test_without_python_it_says_so_once_and_stops_nobody(plugin: Path, own_home: Path) -> None:
    tools = own_home / "tools"
    tools.mkdir()
    (tools / "mkdir").symlink_to(str(shutil.which("mkdir")))
    bare = {"PATH": str(tools)}
    found = [
        launch(plugin, own_home, "environment", "start", more=bare),
        launch(plugin, own_home, "environment", "start", more=bare),
        launch(plugin, own_home, "hook", more=bare, sent=b"{}"),
    ]
    assert [done.returncode for done in found] == [0, 0, 0]
    assert "needs Python 3.11" in message(found[0])
    assert [done.stdout for done in found[1:]] == ["", ""]


def test_a_build_that_fails_is_announced_and_reported_once(plugin: Path, own_home: Path) -> None:
    data = own_home / "data of plugins"
    begun = message(launch(plugin, own_home, "environment", "start"))
    assert "from your package index" in begun
    assert str(data) in begun
    known = until_built(data)
    assert known["state"] == "failed"
    told = message(launch(plugin, own_home, "environment", "tell"))
    assert str(known["words"]) in told
    assert "still restores your words" in told
    assert launch(plugin, own_home, "environment", "tell").stdout == ""
    assert not [path for path in data.glob("env-*") if path.is_dir()]
    refused = launch(plugin, own_home, "status")
    assert refused.returncode == 1
    assert str(known["words"]) in refused.stderr
    assert refused.stderr.startswith("Holdfast could not build its environment")


def test_a_session_after_a_failed_build_tries_again_at_once_and_says_so(
    plugin: Path, own_home: Path
) -> None:
    data = own_home / "data of plugins"
    launch(plugin, own_home, "environment", "start")
    failed = until_built(data)
    log = data / "environment.log"
    ways = log.read_text().count("'venv'")
    again = message(launch(plugin, own_home, "environment", "start"))
    assert "builds it again now" in again
    assert str(failed["words"]) in again
    until_built(data)
    assert log.read_text().count("'venv'") == 2 * ways


def test_a_failed_build_is_reported_with_its_cause(plugin: Path, own_home: Path) -> None:
    data = own_home / "data of plugins"
    refusing = {"PIP_NO_INDEX": "0", "PIP_INDEX_URL": "http://127.0.0.1:1/simple"}
    refusing |= {"PIP_RETRIES": "1", "PIP_CONFIG_FILE": os.devnull}
    launch(plugin, own_home, "environment", "start", more=refusing)
    until_built(data)
    told = message(launch(plugin, own_home, "environment", "tell"))
    assert "Connection refused" in told
    assert "No matching distribution found" in told


def test_without_its_environment_the_server_answers_and_has_no_tools(
    plugin: Path, own_home: Path
) -> None:
    questions: list[dict[str, object]] = [
        {"method": "initialize", "params": {"protocolVersion": "2025-06-18"}, "id": 1},
        {"method": "notifications/initialized"},
        {"method": "tools/list", "id": 2},
        {"method": "tools/call", "params": {"name": "recall", "arguments": {}}, "id": 3},
    ]
    sent = b"".join(json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n" for one in questions)
    done = launch(plugin, own_home, "mcp", sent=sent + b"no JSON\n")
    assert (done.returncode, done.stderr) == (0, "")
    greeting, listed, called, broken = map(json.loads, done.stdout.splitlines())
    assert greeting["result"]["protocolVersion"] == "2025-06-18"
    assert "from the next session on" in greeting["result"]["instructions"]
    assert listed["result"]["tools"] == []
    assert "error" in called
    assert "error" in broken


def test_sessions_that_start_at_once_build_and_announce_once(plugin: Path, own_home: Path) -> None:
    data = own_home / "data of plugins"
    with ThreadPoolExecutor() as pool:
        started = [pool.submit(launch, plugin, own_home, "environment", "start") for _ in range(3)]
        begun = [message(one.result()) for one in started]
    assert len([words for words in begun if words]) == 1
    until_built(data)
    assert (data / "environment.log").read_text().count("'venv'") == 1


def test_an_environment_goes_when_no_process_uses_it(tmp_path: Path) -> None:
    used, unused, newest = (tmp_path / f"env-{name}" for name in "abc")
    for folder in (used, unused, newest):
        folder.mkdir()
        (folder / plugin_environment.IN_USE).touch()
    code = "import sys\nfrom holdfast.files.lock import hold_environment as hold\n"
    code += "sys.prefix = sys.argv[1]\nhold()\nprint(1, flush=True)\nsys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(used)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        plugin_environment.remove_unused(tmp_path, but=newest.name)
        assert (used.is_dir(), unused.is_dir(), newest.is_dir()) == (True, False, True)
        assert holder.stdin is not None
        holder.stdin.close()
    plugin_environment.remove_unused(tmp_path, but=newest.name)
    assert (used.is_dir(), newest.is_dir()) == (False, True)


@pytest.mark.nightly
def test_the_whole_environment_is_built_and_used(plugin: Path, own_home: Path) -> None:
    """From the machine's own package index; without one it is skipped, loudly."""
    data = own_home / "data of plugins"
    index = {"PIP_NO_INDEX": "0", "UV_OFFLINE": "0"}
    index["PIP_CONFIG_FILE"] = os.environ.get("PIP_CONFIG_FILE", "/etc/pip.conf")
    launch(plugin, own_home, "environment", "start", more=index)
    known = until_built(data, seconds=300)
    if known["state"] == "failed":
        pytest.skip(f"*** NO PACKAGE INDEX IN REACH: {known['words']} ***")
    assert "is complete" in message(launch(plugin, own_home, "environment", "tell"))
    shown = launch(plugin, own_home, "--version", more={"CLAUDE_PLUGIN_DATA": ""})
    assert holdfast.__version__ in shown.stdout
    shown = launch(plugin, own_home, "install", "--status-line", "--yes")
    assert f"{data}/environment/bin/holdfast' uninstall" in shown.stdout  # updates leave that name
    shown = launch(plugin, own_home, "uninstall", "--yes")
    assert "claude plugin uninstall holdfast" in shown.stdout
