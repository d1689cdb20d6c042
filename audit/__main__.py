"""`python -m audit`: check the supply chain. Exit 0: all is well; 1: a problem; 2: not all checked.

What cannot be checked (no internet, no npm registry) is reported as such and never as passed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from audit import licences, lock, page, sbom, vulnerabilities, wheel

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
State = Literal["passed", "FAILED", "NOT CHECKED"]


class Finding(NamedTuple):
    what: str
    state: State
    details: str


def main() -> int:
    BUILD.mkdir(exist_ok=True)
    packages = lock.read(ROOT / "requirements.lock")
    checks: tuple[Callable[[list[lock.Package]], Iterator[Finding]], ...] = (
        _hashes,
        _licences,
        _vulnerabilities,
        _sbom,
        _wheel,
    )
    states = set()
    for check in checks:
        for found in check(packages):
            print(f"{found.state:<11}  {found.what}: {found.details}", flush=True)
            states.add(found.state)
    page.write(ROOT / "docs" / "dependencies.md", packages)
    print("written: docs/dependencies.md, build/sbom.json")
    return 1 if "FAILED" in states else 2 if "NOT CHECKED" in states else 0


def _hashes(packages: list[lock.Package]) -> Iterator[Finding]:
    without = [one.name for one in packages if not one.hashes]
    details = f"{len(packages)} packages locked, without a hash: {', '.join(without) or 'none'}"
    yield Finding("hashes", "FAILED" if without else "passed", details)


def _licences(packages: list[lock.Package]) -> Iterator[Finding]:
    used = lock.at_run_time(packages)
    bad = [f"{name} ({found})" for name in used if (found := licences.problem(name))]
    details = f"{len(used)} packages at run time, to look at: {', '.join(bad) or 'none'}"
    yield Finding("licences", "FAILED" if bad else "passed", details)


def _vulnerabilities(packages: list[lock.Package]) -> Iterator[Finding]:
    found = vulnerabilities.ask(ROOT / "requirements.lock")
    if found.known:
        yield Finding("vulnerabilities", "FAILED", "; ".join(found.known))
    if found.unchecked:
        yield Finding("vulnerabilities", "NOT CHECKED", found.unchecked)
    if not found.known and not found.unchecked:
        yield Finding("vulnerabilities", "passed", f"none known in {found.checked} packages")


def _sbom(packages: list[lock.Package]) -> Iterator[Finding]:
    count = sbom.write(BUILD / "sbom.json", ROOT / "pyproject.toml", lock.at_run_time(packages))
    yield Finding("list of parts", "passed", f"CycloneDX, {count} components, valid")


def _wheel(packages: list[lock.Package]) -> Iterator[Finding]:
    try:
        first, second = wheel.build_twice(ROOT, with_page=True)
    except wheel.CannotBuild as reason:
        yield Finding("wheel built twice", "NOT CHECKED", str(reason))
        return
    same = first == second
    details = f"sha256 {first.sha256}" if same else f"{first.name}: {first.sha256}, {second.sha256}"
    yield Finding("wheel built twice", "passed" if same else "FAILED", details)
    if not first.has_page:
        details = "the page could not be built here, so both wheels are without it"
        yield Finding("wheel with the dashboard", "NOT CHECKED", details)


if __name__ == "__main__":
    sys.exit(main())
