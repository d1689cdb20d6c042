"""Files that belong together: by imports, by history, by folder; hostile projects run nothing."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.plan.planner import find_changed_together, find_imports, group_files
from holdfast.plan.project_files import ProjectFiles, read_sources


def _write(root: Path, **files: str) -> list[str]:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return list(files)


def _git(root: Path, *words: str) -> None:
    who = {"GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "e", "GIT_COMMITTER_NAME": "n"}
    environ = {**os.environ, **who, "GIT_COMMITTER_EMAIL": "e"}
    subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True, env=environ)


def _commit(root: Path, text: str, *files: str) -> None:
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text, encoding="utf-8")
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "-m", text)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    _git(tmp_path, "init", "-q")
    return tmp_path


@pytest.mark.requirement("P2")
def test_python_imports_are_found_however_they_are_written() -> None:
    found = set(
        find_imports(
            {
                "src/shop/cart.py": b"from shop.price import (\n    total,\n)\nimport json\n",
                "src/shop/price.py": b"from . import tax\n",
                "src/shop/tax.py": b"def f():\n    from ..lib.num import x\n",
                "src/lib/num.py": b"import shop.cart as c\n",
                "src/shop/broken.py": b"def (",
                "tools/run.py": b"import helper",
                "tools/helper.py": b"",
                "other/json.py": b"",
            }
        )
    )
    assert found == {
        ("src/shop/cart.py", "src/shop/price.py"),
        ("src/shop/price.py", "src/shop/tax.py"),
        ("src/shop/tax.py", "src/lib/num.py"),
        ("src/lib/num.py", "src/shop/cart.py"),
        ("tools/run.py", "tools/helper.py"),
    }


@pytest.mark.requirement("P2")
def test_script_imports_are_found_however_they_are_written() -> None:
    found = set(
        find_imports(
            {
                "web/a.ts": b"import {x} from './b'; import type {T} from \"./types.js\"",
                "web/b.tsx": b"export * from '../lib'; const v = <p>{require('./c')}</p>",
                "web/c.js": b"const d = await import('@/d')",
                "web/d.mjs": b"import './nowhere'; import react from 'react'",
                "web/types.ts": b"const n = <number>x;",
                "lib/index.ts": b"",
            }
        )
    )
    assert found == {
        ("web/a.ts", "web/b.tsx"),
        ("web/a.ts", "web/types.ts"),
        ("web/b.tsx", "lib/index.ts"),
        ("web/b.tsx", "web/c.js"),
        ("web/c.js", "web/d.mjs"),
    }


@pytest.mark.requirement("X7")
def test_a_hostile_repository_runs_nothing(repo: Path, tmp_path: Path) -> None:
    for n in range(2):
        _commit(repo, f"both {n}", "a.txt", "b.txt")
    trap, sprung = repo / "trap.sh", tmp_path / "sprung"
    trap.write_text(f"#!/bin/sh\ntouch {sprung}\n")
    trap.chmod(0o700)
    for name in (
        "core.fsmonitor",
        "core.pager",
        "gpg.program",
        "core.sshCommand",
        "diff.external",
        "diff.x.textconv",
        "diff.x.command",
        "credential.helper",
    ):
        _git(repo, "config", name, str(trap))
    _git(repo, "config", "log.showSignature", "true")
    _git(repo, "config", "core.hooksPath", str(repo))
    (repo / ".gitattributes").write_text("*.txt diff=x\n")
    assert find_changed_together(repo, ["a.txt", "b.txt"]) == {("a.txt", "b.txt"): 1.0}
    assert not sprung.exists()


@pytest.mark.requirement("P2")
def test_imports_tie_closer_than_folders(tmp_path: Path) -> None:
    files = _write(
        tmp_path, **{"a/one.py": "import b.two", "a/other.py": "", "b/two.py": "", "b/else.py": ""}
    )
    found = group_files(tmp_path, files, 2)
    assert ("a/one.py", "b/two.py") in found.groups
    assert "imports" in found.why


NAMES = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("wxyz"), st.sampled_from([".py", ".ts", ""])),
    unique=True,
    min_size=1,
)


@given(NAMES, st.integers(1, 8))
def test_every_file_is_in_one_group_and_no_group_too_large(
    tmp_path_factory: pytest.TempPathFactory, names: list[tuple[str, str, str]], most: int
) -> None:
    files = [f"{folder}/{name}{suffix}" for folder, name, suffix in names]
    groups = group_files(tmp_path_factory.getbasetemp(), files, most).groups
    assert sorted(file for one in groups for file in one) == sorted(files)
    assert max(map(len, groups)) <= most


@pytest.mark.requirement("X7")
def test_nothing_outside_the_project_is_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret.py").write_text("import a")
    (root / "link.py").symlink_to(tmp_path / "secret.py")
    (root / "big.py").write_bytes(b"#" * (600 << 10))
    os.mkfifo(root / "pipe.py")
    odd = ["../secret.py", "link.py", str(tmp_path / "secret.py"), "big.py", "pipe.py", "a\0b", "."]
    odd += ["x" * 5000, "/".join("y" * 300 for _ in range(40)), "\udcff"]
    assert read_sources(root, odd) == dict.fromkeys(odd, b"")
    assert ProjectFiles(root).resolve("../secret.py") is None
