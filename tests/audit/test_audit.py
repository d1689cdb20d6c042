"""The audit of the supply chain reports what it did not check, and its page is up to date."""

import json
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from audit import licences, lock, page, vulnerabilities, wheel

ROOT = Path(__file__).parents[2]
PACKAGES = lock.read(ROOT / "requirements.lock")
LOCKED = """\
click==8.5.1 \\
    --hash=sha256:{0} \\
    --hash=sha256:{1}
    # via
    #   holdfast (pyproject.toml)
    #   uvicorn
colour[extra]==1.0 ; sys_platform == 'win32' \\
    --hash=sha256:{0}
    # via click
pytest==9.2.0
    # via holdfast (pyproject.toml:dev)
""".format("a" * 64, "b" * 64)


def _answer(*dependencies: dict[str, Any]) -> str:
    return json.dumps({"dependencies": dependencies, "fixes": []})


def test_the_lock_tells_hashes_and_who_needs_a_package(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text(LOCKED)
    packages = lock.read(tmp_path / "lock")
    assert [(one.name, one.version, len(one.hashes)) for one in packages] == [
        ("click", "8.5.1", 2),
        ("colour", "1.0", 1),
        ("pytest", "9.2.0", 0),
    ]
    assert lock.at_run_time(packages) == ["click", "colour"]


def test_every_package_is_locked_by_its_hash() -> None:
    assert [one.name for one in PACKAGES if not one.hashes] == []


def test_every_extra_that_a_locked_package_needs_is_locked_too() -> None:
    """pip takes `coverage[toml]>=7.10` for a package of its own: if only `coverage` is pinned, the
    installation fails on the day on which a newer release appears."""
    locked = {canonicalize_name(one.name): one.extras for one in PACKAGES}
    missing = {
        f"{name} needs {wanted}"
        for name, extras in locked.items()
        for wanted in _requirements(name, extras)
        if not wanted.extras <= locked.get(canonicalize_name(wanted.name), frozenset())
    }
    assert missing == set()


def _requirements(name: str, extras: frozenset[str]) -> Iterator[Requirement]:
    with suppress(PackageNotFoundError):  # locked for another platform
        for wanted in map(Requirement, requires(name) or ()):
            environments = [{"extra": one} for one in ("", *extras)]
            if wanted.marker is None or any(map(wanted.marker.evaluate, environments)):
                yield wanted


def test_packages_that_were_skipped_are_not_reported_as_sound() -> None:
    """As pip-audit answers without the internet, with exit code 0."""
    skipped = {"name": "click", "skip_reason": "Dependency not found on PyPI"}
    found = vulnerabilities.judge(_answer(skipped), "No known vulnerabilities found")
    assert (found.checked, found.known) == (0, [])
    assert found.unchecked == "1 of 1 packages: Dependency not found on PyPI"


def test_no_answer_is_not_reported_as_sound() -> None:
    found = vulnerabilities.judge("", "Traceback\nConnectionError: no route")
    assert found.unchecked == "pip-audit did not answer: ConnectionError: no route"
    assert vulnerabilities.judge(_answer(), "").unchecked


def test_a_known_vulnerability_is_named() -> None:
    bad = {"name": "h11", "version": "0.1", "vulns": [{"id": "CVE-1"}]}
    good = {"name": "click", "version": "8", "vulns": []}
    found = vulnerabilities.judge(_answer(bad, good), "")
    assert (found.checked, found.known, found.unchecked) == (2, ["h11 0.1: CVE-1"], "")


def test_every_direct_dependency_has_a_reason_and_no_reason_is_left_over() -> None:
    named = [name for names in page.direct().values() for name in names]
    assert sorted(named) == sorted(page.REASONS)


def test_the_page_lists_everything_that_users_install() -> None:
    text = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    named = {name for names in page.direct().values() for name in names}
    for name in named | set(lock.at_run_time(PACKAGES)):
        assert f"| `{name}` |" in text, f"{name} is missing: run make audit"
    assert f"| {licences.UNKNOWN} |" not in text


@pytest.mark.slow
@pytest.mark.parametrize("name", lock.at_run_time(PACKAGES))
def test_the_licence_of_what_users_install_is_known_and_no_strong_copyleft(name: str) -> None:
    assert licences.problem(name) == ""


@pytest.mark.slow
def test_a_wheel_built_elsewhere_and_later_has_the_same_bytes() -> None:
    first, second = wheel.build_twice(ROOT, with_page=False)
    assert first == second
