"""Every environment variable that changes what Holdfast does is on the page of settings."""

import re
from pathlib import Path

import pytest

from holdfast.settings.table import TABLE
from tests.docs.pages import ROOT

READ = re.compile(r'environ(?:\.get\(|\[)\s*"([A-Z][A-Z0-9_]+)"|"([A-Z][A-Z0-9_]+)" in os\.environ')
OF_THE_SYSTEM = {"HOME", "PATH", "TERM"}
OURS_ALONE = {
    "CLAUDE_PID",  # handed by a hook to the process it starts
    "ORT_DISABLE_TELEMETRY",  # set by us, for a library
    "CLAUDE_CODE_DISABLE_",  # the beginning of a name
}


def _read_in_code() -> set[str]:
    found: set[str] = set()
    for path in Path(ROOT / "src" / "holdfast").rglob("*.py"):
        for names in READ.findall(path.read_text(encoding="utf-8")):
            found.update(filter(None, names))
    return found


@pytest.mark.slow
def test_every_variable_that_changes_behaviour_is_on_the_page_of_settings() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    known = {one.variable for one in TABLE} | OF_THE_SYSTEM | OURS_ALONE
    missing = {name for name in _read_in_code() - known if f"`{name}" not in page}
    assert missing == set()
