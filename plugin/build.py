"""Build the plugin that a marketplace offers: `python plugin/build.py [FOLDER]`, or `make plugin`.

The same sources give the same bytes, and nothing in them names the machine that built them. The
folder is its own marketplace: pushed as a branch, `claude plugin install holdfast --marketplace
OWNER/REPO` installs it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import holdfast
from holdfast.files import plugin_environment
from holdfast.setup import wiring
from holdfast.setup.targets import SKILLS, skill

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "plugin"
EPOCH = "1577836800"  # 2020: the time of every file in the wheel
OLDEST_CLIENT = ">=2.1.0"


def main(arguments: list[str]) -> None:
    folder = Path(arguments[0]) if arguments else ROOT / "build" / "plugin"
    build(folder)
    print(folder)


def build(folder: Path) -> None:
    """Write the whole plugin into this folder, in place of what was there."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    wheel = build_wheel(folder / plugin_environment.WHEELS)
    with zipfile.ZipFile(wheel) as packed:
        for name in packed.namelist():
            if name.startswith("holdfast/"):
                packed.extract(name, folder / "lib")
    for part in ("bin", "fallback"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(SOURCE / part, folder / part, ignore=ignored)
    for name in (plugin_environment.LOCK, "README.md"):
        shutil.copy(SOURCE / name, folder / name)
    shutil.copy(ROOT / "LICENSE", folder / "LICENSE")
    for name, text in _texts().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    (folder / "environment").write_text(plugin_environment.name_of(folder) + "\n", "ascii")


def build_wheel(folder: Path) -> Path:
    """The project's wheel, the same bytes each time."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH},
        check=True,
        capture_output=True,
    )
    [wheel] = folder.glob("*.whl")
    return wheel


def _texts() -> dict[str, str]:
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    about = {"name": "holdfast", "description": stated["description"]}
    author = {"name": "The Holdfast authors"}
    manifest = {
        **about,
        "version": holdfast.__version__,
        "author": author,
        "license": stated["license"],
        "engines": {"claude-code": OLDEST_CLIENT},
    }
    offered = {"name": "holdfast", "source": "./", "description": stated["description"]}
    marketplace = {**about, "owner": author, "plugins": [offered]}
    return {
        ".claude-plugin/plugin.json": _json(manifest),
        ".claude-plugin/marketplace.json": _json(marketplace),
        "hooks/hooks.json": _json({"hooks": wiring.plugin_table()}),
        ".mcp.json": _json({"mcpServers": {wiring.SERVER: wiring.plugin_server()}}),
        **{f"skills/{name}/SKILL.md": skill(name, "holdfast") for name in SKILLS},
    }


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
