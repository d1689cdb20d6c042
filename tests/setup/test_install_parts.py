"""Our MCP server in files that are not ours: added, renewed, taken out, nothing else touched."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from holdfast.setup import wiring
from holdfast.setup.install import apply, plan_install
from holdfast.setup.receipts import our_packages
from holdfast.setup.targets import settings_target

from .machine import Desk

pytestmark = pytest.mark.requirement("U1")
OTHER = {"type": "stdio", "command": "npx", "args": ["theirs"], "env": {"THEIR_KEY": "k-1"}}
SAMPLES = {
    "no file": None,
    "empty file": b"",
    "no servers": b'{\n  "numStartups": 3\n}\n',
    "no servers, minified": b'{"numStartups":3}',
    "empty servers": b'{\n  "mcpServers": {},\n  "numStartups": 3\n}',
    "empty servers, blank": b'{"mcpServers": {\n  }}',
    "others": json.dumps({"mcpServers": {"theirs": OTHER}, "projects": {}}, indent=2).encode(),
    "others, tabs": json.dumps({"mcpServers": {"theirs": OTHER}}, indent="\t").encode() + b"\r\n",
}
each_sample = pytest.mark.parametrize("data", SAMPLES.values(), ids=SAMPLES.keys())
each_scope = pytest.mark.parametrize("scope", ["user", "project", "local"])


def _file(desk: Desk, scope: str) -> Path:
    return desk.project / ".mcp.json" if scope == "project" else desk.home / ".claude.json"


def _servers(desk: Desk, scope: str) -> dict[str, Any]:
    found = json.loads(_file(desk, scope).read_bytes())
    if scope == "local":
        found = found["projects"][str(desk.project)]
    servers: dict[str, Any] = found["mcpServers"]
    return servers


@pytest.mark.slow
@each_scope
@each_sample
def test_it_is_added_beside_the_others_and_leaves_to_the_byte(
    desk: Desk, scope: str, data: bytes | None
) -> None:
    if data is not None:
        _file(desk, scope).write_bytes(data)
    before = desk.tree()
    desk.install(scope)
    assert _servers(desk, scope)[wiring.SERVER] == wiring.server_entry()
    if data and b"theirs" in data and scope != "local":
        assert _servers(desk, scope)["theirs"] == OTHER
    assert plan_install(desk.target(scope), desk.home, desk.ours).is_nothing
    desk.uninstall(scope)
    assert desk.tree() == before


@pytest.mark.slow
@each_sample
def test_what_the_client_wrote_meanwhile_stays(desk: Desk, data: bytes | None) -> None:
    if data is not None:
        _file(desk, "user").write_bytes(data)
    desk.install()
    rewritten = json.loads(_file(desk, "user").read_bytes())
    rewritten["firstStartTime"] = "2026-01-01"
    rewritten["mcpServers"]["later"] = OTHER
    _file(desk, "user").write_text(json.dumps(rewritten, indent=2))
    desk.uninstall()
    del rewritten["mcpServers"][wiring.SERVER]
    assert _file(desk, "user").read_text() == json.dumps(rewritten, indent=2)


def test_it_is_left_out_or_taken_out_where_nobody_wants_it(desk: Desk) -> None:
    def install(server: bool) -> None:
        target = settings_target(
            "user", desk.home, desk.project, our_packages(desk.ours), server=server
        )
        apply(plan_install(target, desk.home, desk.ours))

    install(server=False)
    assert not _file(desk, "user").exists()
    install(server=True)
    assert wiring.SERVER in _servers(desk, "user")
    install(server=False)
    assert not _file(desk, "user").exists()


def test_another_server_of_our_name_is_left_alone_and_said(desk: Desk) -> None:
    theirs = json.dumps({"mcpServers": {"holdfast": OTHER}}).encode()
    _file(desk, "user").write_bytes(theirs)
    plan = desk.install()
    assert any("another MCP server named holdfast" in note for note in plan.notes)
    assert _file(desk, "user").read_bytes() == theirs
    desk.uninstall()
    assert _file(desk, "user").read_bytes() == theirs


@pytest.mark.slow  # it loads the SDK: most of a second
def test_the_installed_entry_starts_from_any_folder_and_imports_nothing_of_it(desk: Desk) -> None:
    (desk.project / "mcp.py").write_text("raise SystemExit('theirs')")
    (desk.project / "holdfast.py").write_text("raise SystemExit('theirs')")
    entry = wiring.server_entry()
    command = [entry["command"], *entry["args"]]
    run = subprocess.run(command, cwd=desk.project, input=b"", capture_output=True, check=False)
    assert (run.returncode, run.stdout) == (0, b""), run.stderr
