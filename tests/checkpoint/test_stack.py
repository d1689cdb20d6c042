"""What a project is built on, from the manifests in its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.brief.kind_of_work import dependencies
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


@pytest.mark.requirement("B3")
@pytest.mark.parametrize(
    ("name", "text", "names"),
    [
        ("package.json", PACKAGE, ["next", "tide-math", "vitest"]),
        ("package.json", '["next"]', []),
        ("package.json", '{"dependencies": 7, "devDependencies": [1, "vitest"]}', ["vitest"]),
        ("composer.json", COMPOSER, ["laravel/framework"]),
        ("pyproject.toml", PYPROJECT, ["fastapi", "tide-math", "swell"]),
        ("requirements.txt", "# all\nflask==3\n-r base.txt\nswell\n", ["flask", "swell"]),
        ("Cargo.toml", '[dependencies]\naxum = "0.7"\nswell = {version = "1"}', ["axum", "swell"]),
        ("go.mod", "require (\n\tx.org/spf13/cobra v1.8.0\n\ty v2 // indirect\n)", ["cobra"]),
        ("notes.md", PACKAGE, []),
    ],
)  # fmt: skip
def test_manifests_are_read(name: str, text: str, names: list[str], tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert dependencies(str(tmp_path)) == names


@pytest.mark.requirement("B3")
def test_the_brief_tells_framework_and_dependencies(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text(PACKAGE)
    session = Session().user("Draw the tide on the page of every harbour, please do.")
    record = session.record(tmp_path)
    record.roots = [str(tmp_path)]
    assert "framework: next; dependencies: tide-math, vitest" in compose(record).text


@pytest.mark.requirement("B3", "X7")
def test_a_hostile_manifest_stays_small(tmp_path: Path) -> None:
    names = ",".join(f'"p{number}": "1"' for number in range(2000))
    (tmp_path / "package.json").write_text(f'{{"dependencies": {{{names}}}}}')
    assert len(dependencies(str(tmp_path))) == 40
    assert dependencies("/none/such") == []


@pytest.mark.requirement("X7", "B3")
def test_a_manifest_that_takes_the_square_of_its_length_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(".".join(["a"] * 32_000) + "=1\n")
    (tmp_path / "requirements.txt").write_text("flask>=3\n")
    assert dependencies(str(tmp_path)) == ["flask"]
