"""Known vulnerabilities, asked of pip-audit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

LIMIT_S = 300


class Vulnerabilities(NamedTuple):
    checked: int
    known: list[str]
    unchecked: str  # why some or all packages were not checked; empty if all were


def ask(lock: Path) -> Vulnerabilities:
    line = [sys.executable, "-m", "pip_audit", "--require-hashes", "--disable-pip"]
    line += ["--progress-spinner", "off", "--format", "json", "-r", str(lock)]
    try:
        run = subprocess.run(line, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return Vulnerabilities(0, [], f"pip-audit was not done after {LIMIT_S} s")
    return judge(run.stdout, run.stderr)


def judge(printed: str, errors: str) -> Vulnerabilities:
    """Without the internet pip-audit says "No known vulnerabilities found", ends with 0, and notes
    for each package that it was skipped. Nothing was checked then."""
    try:
        answer: dict[str, Any] = json.loads(printed)
    except ValueError:
        reason = (errors.strip() or "no output").rsplit("\n", 1)[-1]
        return Vulnerabilities(0, [], f"pip-audit did not answer: {reason}")
    skipped = [one for one in answer["dependencies"] if "skip_reason" in one]
    checked = [one for one in answer["dependencies"] if "skip_reason" not in one]
    known = [
        f"{one['name']} {one['version']}: {found['id']}"
        for one in checked
        for found in one["vulns"]
    ]
    why = f"{len(skipped)} of {len(answer['dependencies'])} packages: {_reason(skipped)}"
    return Vulnerabilities(len(checked), known, why if skipped or not checked else "")


def _reason(skipped: list[dict[str, Any]]) -> str:
    return str(skipped[0]["skip_reason"]) if skipped else "pip-audit names none"
