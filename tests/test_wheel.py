"""What users get is the wheel: it holds all it needs, and its hook runs from where it lies."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from holdfast.client import sample_payloads

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_built_wheel_runs_the_hook_in_an_empty_place(tmp_path: Path, own_home: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "place")
    [page] = (tmp_path / "place").glob("*.dist-info/METADATA")
    shown = page.read_text(encoding="utf-8")
    assert "Tutorial (`holdfast help tutorial`)" in shown  # no link that leads nowhere
    assert re.findall(r"\]\((?!https?:)", shown) == []
    place = tmp_path / "place" / "holdfast"
    assert (place / "setup" / "skills" / "status.md").is_file()
    assert (place / "py.typed").is_file()
    recorded = (ROOT / "demo" / "session.jsonl").read_bytes()  # for `holdfast replay --demo`
    assert (place / "cli" / "demo.jsonl").read_bytes() == recorded
    pages = {path.name: path.read_bytes() for path in (ROOT / "docs").glob("*.md")}
    packed_pages = {path.name: path.read_bytes() for path in (place / "cli" / "docs").iterdir()}
    assert packed_pages == pages  # for `holdfast help`
    is_built = (ROOT / "src" / "holdfast" / "api" / "dashboard" / "source.sha256").is_file()
    assert (place / "api" / "dashboard" / "index.html").is_file() or not is_built
    sent = sample_payloads.make_payload("Stop", session_id="s1", transcript="", cwd="/p")
    hook = place / "hook" / "__main__.py"
    run = subprocess.run(
        [sys.executable, "-I", "-S", str(hook)],
        input=json.dumps(sent).encode(),
        capture_output=True,
        check=True,
    )
    assert (run.stdout, run.stderr) == (b"", b"")
    assert (own_home / ".holdfast" / "windows" / "s1" / "main" / "spool").is_file()
