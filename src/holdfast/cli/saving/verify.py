"""`holdfast verify`: is each checkpoint what was kept? Exit 0 if all are, else 1."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from holdfast.checkpoint import find, index
from holdfast.checkpoint import verify as checks
from holdfast.cli.terminal import paint, say
from holdfast.text.escape import shown
from holdfast.text.numbers import counted
from holdfast.wire.errors import HoldfastError


class NoSuchFile(HoldfastError):
    exit_code = 2
    hint = "`holdfast resume --all` lists the checkpoints there are, with their ids"


@click.command()
@click.argument("file", type=click.Path(), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def verify(ctx: click.Context, file: str | None, as_json: bool) -> None:
    """Is a checkpoint, or every known one, what was kept? Exit 0 or 1."""
    if file is None:
        reports = checks.everything([str(Path.cwd())])
    else:
        reports = [_of_file(find.full_path(file))]
    good = all(report.ok for report in reports)
    if as_json:
        click.echo(json.dumps({"ok": good, "checkpoints": [plain(one) for one in reports]}))
    else:
        show(reports)
    ctx.exit(0 if good else 1)


def _of_file(path: str) -> checks.VerifyReport:
    """One we kept and cannot find is damage; one nobody kept is a wrong word."""
    known = index.known()
    if not os.path.lexists(path) and path not in {one.path for one in known}:
        raise NoSuchFile(f"{shown(path)} is not there")
    return checks.verify(path, known)


def plain(report: checks.VerifyReport) -> dict[str, object]:
    found = [{"part": one.part, "words": one.words} for one in report.findings]
    return {"path": report.path, "ok": report.ok, "findings": found, "notes": list(report.notes)}


def show(reports: list[checks.VerifyReport]) -> None:
    for report in reports:
        mark = paint("ok     ", "green") if report.ok else paint("DAMAGED", "red")
        say(f"{mark} {shown(report.path)}", hang=8)
        for finding in report.findings:
            say(f"        {finding.part}: {shown(finding.words)}")
        for note in report.notes:
            say(f"        {'intact; ' if report.ok else ''}{shown(note)}")
    bad = sum(not report.ok for report in reports)
    if not reports:
        say("No checkpoint has been saved yet: holdfast checkpoint saves one.", err=True)
    elif len(reports) != 1:
        say(f"{counted(len(reports), 'checkpoint')}, {bad or 'none'} damaged", err=True)
