"""The list of parts (SBOM) of Holdfast with all its extras, in the CycloneDX format."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def write(path: Path, pyproject: Path, names: Iterable[str]) -> int:
    """Describe the installed packages of these names; how many there are."""
    with tempfile.TemporaryDirectory(prefix="holdfast-audit-") as folder:
        whole = Path(folder, "sbom.json")
        line = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible"]
        line += ["--pyproject", str(pyproject), "-o", str(whole), sys.executable]
        subprocess.run(line, check=True, capture_output=True)
        parts = only(json.loads(whole.read_text("utf-8")), names)
    path.write_text(json.dumps(parts, indent=2) + "\n", encoding="utf-8")
    validate(path)
    return len(parts["components"])


def only(whole: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Without the tools of developers, which are installed beside them."""
    wanted = {_normal(name) for name in names}
    components = [one for one in whole["components"] if _normal(one["name"]) in wanted]
    refs = {one["bom-ref"] for one in components} | {whole["metadata"]["component"]["bom-ref"]}
    dependencies = [_within(one, refs) for one in whole["dependencies"] if one["ref"] in refs]
    return whole | {"components": components, "dependencies": dependencies}


def _within(dependency: dict[str, Any], refs: set[str]) -> dict[str, Any]:
    inside = [ref for ref in dependency.get("dependsOn", []) if ref in refs]
    return {"ref": dependency["ref"]} | ({"dependsOn": inside} if inside else {})


def validate(path: Path) -> None:
    """Raise if it does not follow the schema."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(path.read_text("utf-8"))
    if error:
        raise RuntimeError(f"{path}: {error}")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
