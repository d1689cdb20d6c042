"""Command lines: what runs `holdfast`, as the user can type it, and what adds one of its extras."""

import json
import shlex
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from holdfast.files.plugin_environment import lasting


def console_command() -> str:
    """The command that runs `holdfast` from any folder: its script, or its interpreter."""
    python = Path(lasting(sys.executable))
    script = python.with_name("holdfast")
    if script.is_file():
        return shlex.quote(str(script))
    return shlex.join([str(python), "-m", "holdfast.cli"])


def typed_command() -> str:
    """`holdfast` as the user can type it: by name, if that name finds this script."""
    script, named = Path(sys.executable).parent / "holdfast", shutil.which("holdfast")
    found = named is not None and script.is_file() and Path(named).samefile(script)
    return "holdfast" if found else console_command()


# A module that only this extra brings. uv and pipx make the whole environment again, so the command
# names the extras that are there as well: else they would be gone.
MODULES = {"serve": "uvicorn", "postgres": "psycopg", "semantic": "onnxruntime"}


def install_command_for(extra: str) -> str:
    """The command that adds `extra`, for the tool and the source Holdfast was installed with."""
    present = [name for name, module in MODULES.items() if name == extra or find_spec(module)]
    return install_command(Path(sys.prefix), _source(), present)


def install_command(prefix: Path, source: str, extras: list[str]) -> str:
    """uv and pipx leave a receipt, else it was pip. No index holds Holdfast."""
    wanted = shlex.quote(f"{source or '.'}[{','.join(extras)}]")
    wanted += "" if source else " in a checkout of Holdfast"
    if (prefix / "uv-receipt.toml").exists():
        return f"uv tool install --force {wanted}"
    if (prefix / "pipx_metadata.json").exists():
        return f"pipx install --force {wanted}"
    return f"{shlex.quote(str(prefix / 'bin' / 'python'))} -m pip install {wanted}"


def source_of(direct_url: str) -> str:
    """The folder or wheel that an installer wrote down (PEP 610); empty where it wrote none."""
    from urllib.parse import urlsplit  # only a user without the extra pays for these: 10 ms
    from urllib.request import url2pathname

    parts = urlsplit(json.loads(direct_url).get("url", "") if direct_url else "")
    return url2pathname(parts.path) if parts.scheme == "file" else ""


def _source() -> str:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return source_of(distribution("holdfast").read_text("direct_url.json") or "")
    except (PackageNotFoundError, ValueError):
        return ""
