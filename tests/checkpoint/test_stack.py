"""What a project is built on, from the manifests a session saw or its folder holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.brief.kind_of_work import dependencies as of_project
from holdfast.record.manifests import dependencies
from holdfast.record.model import Record
from tests.checkpoint.sessions import Session

PACKAGE = """{
  "name": "tides",
  "scripts": { "test": "vitest" },
  "dependencies": {
    "next": "15.0.0",
    "tide-math": "^2"
  },
  "devDependencies": {
    "vitest": "3"
  }
}"""
POM = """<dependencies>
 <dependency>
  <groupId>org.moon</groupId>
  <artifactId>spring-boot-starter-web</artifactId>
 </dependency>
</dependencies>"""
COMPOSER = '{\n  "require": {\n    "php": "^8",\n    "laravel/framework": "^11"\n  }\n}'
PYPROJECT = """[project]
name = "tides"
dependencies = [
  "fastapi>=0.1",
  "tide-math[moon]; python_version > '3'",
]
[tool.poetry.dependencies]
python = "^3.11"
swell = "1"
"""


def _on_one_line(text: str) -> str:
    return json.dumps(json.loads(text), separators=(",", ":"))


@pytest.mark.requirement("B3")
@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("web/package.json", PACKAGE, ["next", "tide-math", "vitest"]),
        ("pyproject.toml", PYPROJECT, ["fastapi", "tide-math", "swell"]),
        ("requirements-dev.txt", "# all\nflask==3\n-r base.txt\nswell\n", ["flask", "swell"]),
        (
            "Cargo.toml",
            '[dependencies]\naxum = "0.7"\nswell = { version = "1" }\n',
            ["axum", "swell"],
        ),
        (
            "go.mod",
            "require (\n\tgithub.com/spf13/cobra v1.8.0\n\tx.org/y/v2 v2.1 // indirect\n)",
            ["cobra"],
        ),
        ("Gemfile", "source 'x'\ngem 'rails', '~> 7'\ngem \"swell\"\n", ["rails", "swell"]),
        ("pom.xml", POM, ["spring-boot-starter-web"]),
        ("build.gradle", "implementation 'org.moon:ktor-server-core:3'", ["ktor-server-core"]),
        ("composer.json", COMPOSER, ["laravel/framework"]),
        ("package.json", _on_one_line(PACKAGE), ["next", "tide-math", "vitest"]),
        ("package.json", _on_one_line(PACKAGE)[:-20], ["next", "tide-math"]),
        (
            "package.json",
            '{\n "dependencies": {"next": "15", "swell": "1, 2"},\n}',
            ["next", "swell"],
        ),
        ("composer.json", _on_one_line(COMPOSER), ["laravel/framework"]),
        ("pom.xml", POM.replace("\n", ""), ["spring-boot-starter-web"]),
        ("notes.md", PACKAGE, []),
    ],
)
def test_each_kind_of_manifest_is_understood(path: str, text: str, names: list[str]) -> None:
    assert dependencies(path, text) == names
    shown = "\n".join(f"{number:6}\u2192{line}" for number, line in enumerate(text.splitlines(), 1))
    assert dependencies(path, shown) == names


@pytest.mark.requirement("B3")
def test_the_brief_tells_framework_and_dependencies(tmp_path: Path) -> None:
    session = Session().user("Draw the tide on the page of every harbour, please do.")
    session.calls("Read", PACKAGE, file_path="/work/project/package.json")
    text = compose(session.record(tmp_path)).text
    assert "framework: Next.js; dependencies: tide-math, vitest" in text


@pytest.mark.requirement("B3")
def test_the_projects_folder_knows_better(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("django\nswell\n")
    facts = Record(roots=[str(tmp_path)], dependencies={"package.json": ["next"]})
    assert of_project(facts) == ["django", "swell"]
    assert of_project(Record(roots=["/none/such"], dependencies={"a": ["x1"]})) == ["x1"]


@pytest.mark.requirement("B3", "X7")
def test_a_hostile_manifest_stays_small() -> None:
    names = "".join(f'    "p{number}": "1",\n' for number in range(5000))
    found = dependencies("package.json", '{\n  "dependencies": {\n' + names)
    assert len(found) == 40
    assert dependencies("go.mod", "require\n(\nrequire a\n\x00 v1") == []
