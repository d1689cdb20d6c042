"""Every setting and command is documented, and every place that states the version agrees."""

import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pytest

import holdfast
from holdfast.cli.main import NAMES
from holdfast.settings.table import TABLE
from holdfast.setup.targets import SKILLS, skill
from holdfast.wire.mark import CHARS_PER_TOKEN

ROOT = Path(__file__).parents[2]
DOCS = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("docs/**/*.md"))
SOURCE = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("src/**/*.py"))
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow  # every command, tool and route is imported
@pytest.mark.skipif(
    f"\nclick=={version('click')} " not in (ROOT / "requirements.lock").read_text(),
    reason="the pages have the usage lines of the locked click; before 8.5 they differ",
)
@pytest.mark.requirement("U3", "S2", "U6")
def test_what_is_made_from_the_code_is_up_to_date() -> None:
    for script in ("page_types.py", "reference.py"):
        line = [sys.executable, str(ROOT / "docs" / script), "--check"]
        run = subprocess.run(line, capture_output=True, text=True, check=False)
        assert run.returncode == 0, f"{script} {run.stderr}"
    for page, part in (
        ("commands", "commands"),
        ("settings", "settings"),
        ("api", "tools"),
        ("status", "alerts"),
        ("status", "stops"),
        ("compactions", "shares"),
    ):
        text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
        assert f"<!-- generated: {part} -->\n\n" in text


@pytest.mark.slow
def test_a_page_that_is_not_up_to_date_is_noticed_and_written_again(tmp_path: Path) -> None:
    shutil.copy(ROOT / "docs" / "reference.py", tmp_path)
    page = tmp_path / "settings.md"
    page.write_text("# Settings\n\n<!-- generated: settings -->\nold\n<!-- end -->\nMine.\n")
    line = [sys.executable, str(tmp_path / "reference.py")]
    assert subprocess.run([*line, "--check"], check=False).returncode == 1
    assert subprocess.run(line, check=False).returncode == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Settings\n") and text.endswith("<!-- end -->\nMine.\n")
    assert all(f"| `{one.name}` | {one.default}" in text for one in TABLE)
    assert "old" not in text.splitlines()


def test_every_command_is_documented() -> None:
    for name in NAMES:
        assert f"holdfast {name}" in DOCS, name


def test_every_slash_command_is_named_where_the_install_is_told() -> None:
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    files = (ROOT / "docs" / "privacy.md").read_text(encoding="utf-8")
    for name in SKILLS:
        assert f"/holdfast:{name}`" in page
        assert f"{name}.md`" in files


def test_every_file_of_holdfast_is_named_where_privacy_is_told() -> None:
    page = (ROOT / "docs" / "privacy.md").read_text(encoding="utf-8")
    below_home = r'places\.home\(\)(?:\)? / "|\)?, "|\}/)([a-z][\w.-]+)'
    names = set(re.findall(below_home, SOURCE)) | {"history.json", "holdfast.db.nightly"}
    assert {"settings.toml", "seen.json", "segments", "server-token"} <= names
    for name in (name for name in names if not name.endswith(".lock")):
        assert re.search(rf"`{re.escape(name)}/?`", page), name


def test_the_tokens_of_a_session_count_the_slash_commands_that_the_client_lists() -> None:
    page = (ROOT / "docs" / "privacy.md").read_text(encoding="utf-8")
    heads = {name: skill(name).split("description: ")[1] for name in SKILLS}
    listed = "".join(f"- holdfast:{name}: {head.splitlines()[0]}\n" for name, head in heads.items())
    stated = int(page.split(" for the six slash commands")[0].rsplit(maxsplit=1)[1])
    assert abs(len(listed) / CHARS_PER_TOKEN - stated) < 5


@pytest.mark.requirement("U3")
def test_every_exit_code_of_an_error_is_documented() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    codes = set(map(int, re.findall(r"exit_code = (\d+)", SOURCE)))
    assert codes >= {2, 4}
    for code in codes:
        assert f"\n| {code} | " in page, code


@pytest.mark.store  # it loads the whole API
@pytest.mark.requirement("S2")
def test_every_route_is_documented() -> None:
    from fastapi.routing import APIRoute

    from holdfast.api.app import ROUTES

    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    for route in ROUTES:
        assert isinstance(route, APIRoute)
        path = route.path_format.replace(":text", "")
        rows = [line for line in page.splitlines() if f"{path}`" in line]
        assert any(method in row for method in route.methods or () for row in rows), path


def test_every_link_leads_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\((?!http)([^)]+)\)", page.read_text(encoding="utf-8")):
            path, _, anchor = target.partition("#")
            leads_to = page.parent / path if path else page
            assert leads_to.exists(), f"{page.name}: {target}"
            assert not anchor or anchor in _anchors(leads_to), f"{page.name}: {target}"


def test_the_map_for_agents_names_paths_that_exist_and_every_folder() -> None:
    page = (ROOT / "AGENTS.md").read_text(encoding="utf-8")
    source = ROOT / "src" / "holdfast"
    for path in re.findall(r"`([\w./]+(?:/|\.py|\.md|\.toml))`", page):
        assert (source / path).exists() or (ROOT / path).exists(), path
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    folders = {path.parent.name for path in source.glob("*/__init__.py")}
    assert folders <= set(re.findall(r"`(\w+)`", " ".join(rows)))


@cache
def _anchors(page: Path) -> set[str]:
    """Of each heading, as code hosts make them: lower case, hyphens, no punctuation."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


def test_every_extra_that_is_installed_exists() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    named = {
        one for list_ in re.findall(r"'\.\[([a-z,]+)\]'", README + DOCS) for one in list_.split(",")
    }
    assert named and named <= extras.keys()


def test_every_message_in_troubleshooting_is_in_the_code() -> None:
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    said = re.sub(r'"\s+f?"', "", SOURCE)  # a message may be written on two lines
    messages = re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)
    assert len(messages) >= 8
    for message in messages:
        for piece in re.split(r"FILE|…|HOLDFAST_DISABLE", message):
            assert piece.strip() in said, message


OLD_WORDS = re.compile(
    r"\b(anew|mend(?:s|ed)?|let go|gives? back|given back|said again|graver|for want of)\b", re.I
)


def test_the_pages_are_written_in_words_that_a_reader_knows() -> None:
    for page in [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("docs/formats/*.md")]:
        text = re.sub(r"<!-- generated.*?<!-- end -->", "", page.read_text("utf-8"), flags=re.S)
        prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.S | re.M)
        assert OLD_WORDS.findall(prose) == [], page.name


def test_a_user_can_read_all_pages_in_an_afternoon() -> None:
    """Fifteen pages and 20,000 words; what only engineers or numbers people read is left out."""
    others = {"README.md", "dependencies.md", "figures.md", "quality.md"}
    pages = [path for path in ROOT.glob("docs/*.md") if path.name not in others]
    assert len(pages) <= 15
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in pages) <= 20_000


def test_decisions_and_the_newest_changes_stay_few() -> None:
    assert len([*ROOT.glob("docs/decisions/[0-9]*.md")]) <= 40
    newest = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1]
    assert len(newest.strip().splitlines()) <= 40


def test_every_page_is_in_the_table_of_contents() -> None:
    contents = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in ROOT.glob("docs/*.md"):
        assert page.name == "README.md" or f"]({page.name})" in contents, page.name


def test_the_version_is_the_same_everywhere() -> None:
    assert f"## {holdfast.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    wheels = set(re.findall(r"holdfast-([\d.]+)-py3-none-any\.whl", README + DOCS))
    assert wheels == {holdfast.__version__}


def test_the_readme_names_what_a_newcomer_types() -> None:
    for verb in ("make demo", "make test", "holdfast install", "holdfast uninstall"):
        assert verb in README


def test_no_page_names_a_machine() -> None:
    for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.py")]:
        assert not re.search(r"/work/|/root/", path.read_text(encoding="utf-8")), path


def test_nobody_is_told_to_install_us_from_an_index() -> None:
    """There is no such distribution: whoever took the name would be installed instead."""
    from_index = re.compile(r"holdfast\[|pip install [\"']?holdfast")
    for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.py")]:
        assert not from_index.search(path.read_text(encoding="utf-8")), path


@pytest.mark.requirement("B5")
def test_the_quality_of_briefs_is_documented_with_the_command_that_measured_it() -> None:
    page = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
    assert "make bench CORPUS=" in page
    for measure in ("R / P at 2,000 tokens", "client + first brief"):
        assert measure in page
