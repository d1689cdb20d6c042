"""Kill an install or an uninstall at every point where it touches the disk, then leave.

Run as a program, because it forks: `python -m tests.setup.killing FOLDER VERB START RECOVERY`.
VERB is what is killed: `install`, `renew` (an install over the one of another Python), or
`uninstall`. START is the settings sample that is there before, or `none`. RECOVERY is what follows:
`uninstall`, or `install` and then `uninstall`. Any trace is an AssertionError and exit 1.
"""

import os
import sys
from functools import partial
from pathlib import Path
from unittest import mock

import click
from click.testing import CliRunner

from holdfast.cli.install import install, uninstall
from tests.checkpoint.killing import FAR, killed_at

from .machine import Desk
from .settings_samples import SAMPLES


def run(command: click.Command) -> None:
    done = CliRunner().invoke(command, ["--yes"], catch_exceptions=False)
    assert done.exit_code == 0, done.output


def a_desk(folder: Path, start: str) -> Desk:
    desk = Desk(folder / "home", folder / "project", folder / "ours")
    desk.home.mkdir(parents=True)
    desk.project.mkdir()
    os.environ.update(HOME=str(desk.home), HOLDFAST_HOME=str(desk.ours))
    if start != "none":
        desk.write(SAMPLES[start])
        (desk.home / ".claude.json").write_text('{\n  "numStartups": 3\n}\n')
    os.chdir(desk.project)
    return desk


def prepare(verb: str) -> None:
    if verb == "uninstall":
        run(install)
    if verb == "renew":
        with mock.patch.object(sys, "executable", "/opt/old/bin/python3"):
            run(install)


def look(desk: Desk, before: dict[str, bytes | None], recovery: str) -> None:
    """Recover, and find nothing but what was there at the start."""
    if recovery == "install":
        run(install)
    run(uninstall)
    after = desk.tree()
    assert after == before, sorted(after.keys() ^ before.keys())
    left = [path for path in desk.ours.rglob("*") if path.name != "install.lock"]
    assert left == [], left


def main(folder: Path, verb: str, start: str, recovery: str) -> int:
    for at in range(1, FAR):
        desk = a_desk(folder / f"{at}", start)
        before = desk.tree()
        prepare(verb)
        killed = uninstall if verb == "uninstall" else install
        died = killed_at(at, partial(run, killed))
        try:
            look(desk, before, recovery)
        except AssertionError as error:
            raise AssertionError(f"killed at touch {at}") from error
        if not died:
            return at - 1
    return FAR


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), *sys.argv[2:]))
