"""What the architecture page names is there, and no folder is missing from it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "holdfast"
PAGES = (ROOT / "ARCHITECTURE.md", ROOT / "AGENTS.md")
_MODULE = re.compile(r"`([a-z]+(?:/[a-z_]+)+)/?`")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.exists()], ids=lambda page: page.name
)
def test_every_module_it_names_exists(page: Path) -> None:
    named = {
        name for name in _MODULE.findall(page.read_text()) if (SOURCE / name.split("/")[0]).exists()
    }
    missing = [
        one for one in named if not ((SOURCE / f"{one}.py").exists() or (SOURCE / one).is_dir())
    ]
    assert named and not missing


def test_it_lists_every_folder() -> None:
    listed = set(re.findall(r"`([a-z]+)/`", (ROOT / "ARCHITECTURE.md").read_text()))
    folders = {one.name for one in SOURCE.iterdir() if (one / "__init__.py").exists()}
    assert folders <= listed


def test_it_fits_on_two_screens() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 80
