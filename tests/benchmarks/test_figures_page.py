"""docs/figures.md names commands that exist: modules that run, their options, and sections."""

import re
from pathlib import Path

import pytest
from benchmarks.run import SECTIONS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "figures.md").read_text("utf-8")
COMMAND = re.compile(r"benchmarks\.(\w+)((?: (?:--?[\w-]+|[A-Z][A-Z_]*|\w+))*)`")


def _commands() -> list[tuple[str, str]]:
    return sorted(set(COMMAND.findall(PAGE)))


def _source(module: str) -> str:
    """Of a module, or of the one that runs a package."""
    path = ROOT / "benchmarks" / f"{module}.py"
    return (path if path.exists() else path.with_suffix("") / "__main__.py").read_text("utf-8")


def test_the_page_names_commands() -> None:
    assert len(_commands()) >= 5


@pytest.mark.parametrize(("module", "arguments"), _commands())
def test_every_module_on_the_page_runs_and_knows_its_options(module: str, arguments: str) -> None:
    source = _source(module)
    assert 'if __name__ == "__main__":' in source
    for option in re.findall(r"--[\w-]+", arguments):
        assert f'"{option}"' in source, option


def test_every_heading_names_sections_that_are_measured() -> None:
    lines = re.findall(r"^Sections?: (.+?)(?:\.|$)", PAGE, re.M)
    assert len(lines) == PAGE.count("\n## ")
    named = [name for line in lines for name in re.findall(r"`(\w+)`", line)]
    assert not set(named) - set(SECTIONS)


def test_every_variable_of_the_one_command_is_one_of_the_makefile() -> None:
    (line,) = re.findall(r"^make bench .+$", PAGE, re.M)
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for variable in re.findall(r"([A-Z]+)=", line):
        assert f"$(if $({variable})," in makefile, variable
