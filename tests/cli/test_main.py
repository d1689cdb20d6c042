"""The way out of every command: words and an exit code, whatever went wrong inside."""

import sys

import click
import pytest

from holdfast.cli import main as entry
from holdfast.transcript import Unreadable


def _broken() -> None:
    raise ZeroDivisionError("by \x1b[2J nought")


@pytest.mark.requirement("U3", "X7")
def test_what_nobody_expected_is_one_line_and_exit_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(entry, "holdfast_command", click.Command("broken", callback=_broken))
    monkeypatch.setattr(sys, "argv", ["holdfast"])
    with pytest.raises(SystemExit) as left:
        entry.main()
    assert left.value.code == 1
    assert capsys.readouterr().err == "holdfast: ZeroDivisionError: by ?[2J nought\n"


def _without_transcript() -> None:
    raise Unreadable("cannot read '/gone.jsonl'")


@pytest.mark.requirement("U3", "X7")
def test_a_transcript_that_is_gone_is_not_taken_for_a_full_disk(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        entry, "holdfast_command", click.Command("gone", callback=_without_transcript)
    )
    monkeypatch.setattr(sys, "argv", ["holdfast"])
    with pytest.raises(SystemExit) as left:
        entry.main()
    assert left.value.code == 4
    told = capsys.readouterr().err
    assert "cannot read '/gone.jsonl'\n  try: check the path" in told and "room" not in told
