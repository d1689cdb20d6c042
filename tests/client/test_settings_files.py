"""Where Claude Code's own folder is."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

import holdfast
from holdfast.client.settings_files import transcripts_folder


@pytest.mark.requirement("U1")
@pytest.mark.parametrize("home", ["", "relative", None])
def test_without_a_home_the_password_file_says_where_transcripts_are(
    monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    if home is None:
        monkeypatch.delenv("HOME")
    else:
        monkeypatch.setenv("HOME", home)
    ours = Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert transcripts_folder() == ours / ".claude" / "projects"


def test_the_home_is_asked_in_one_place() -> None:
    """`Path.home()` takes an empty HOME for the working directory."""
    source = Path(holdfast.__file__).parent
    asking = [path for path in source.rglob("*.py") if "Path.home()" in path.read_text()]
    assert asking == []
