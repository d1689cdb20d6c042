"""How to add one of Holdfast's extras to the installation that is running."""

from __future__ import annotations

import json
import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

# A module that only this extra brings. uv and pipx make the whole environment again, so the command
# names the extras that are there as well: else they would be gone.
MODULES = {"serve": "uvicorn", "postgres": "psycopg", "semantic": "onnxruntime"}


def install_command_for(extra: str) -> str:
    """The command that adds `extra`, for the tool and the source Holdfast was installed with."""
    present = [name for name, module in MODULES.items() if name == extra or find_spec(module)]
    return install_command(Path(sys.prefix), _source(), present)


def install_command(prefix: Path, source: str, extras: list[str]) -> str:
    """uv and pipx leave a receipt in the environment; without one it was pip. No index holds
    Holdfast, so without a known source the command is one for a checkout."""
    wanted = shlex.quote(f"{source or '.'}[{','.join(extras)}]")
    wanted += "" if source else " in a checkout of Holdfast"
    if (prefix / "uv-receipt.toml").exists():
        return f"uv tool install --force {wanted}"
    if (prefix / "pipx_metadata.json").exists():
        return f"pipx install --force {wanted}"
    return f"{shlex.quote(str(prefix / 'bin' / 'python'))} -m pip install {wanted}"


def source_of(direct_url: str) -> str:
    """The folder or wheel that an installer wrote down (PEP 610); empty where it wrote none."""
    parts = urlsplit(json.loads(direct_url).get("url", "") if direct_url else "")
    return url2pathname(parts.path) if parts.scheme == "file" else ""


def _source() -> str:
    try:
        return source_of(distribution("holdfast").read_text("direct_url.json") or "")
    except (PackageNotFoundError, ValueError):
        return ""
