"""The remedy for a missing extra fits how Holdfast was installed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.files.executable import install_command, source_of

WHEEL = "/home/ada/My files/holdfast-0.2.0-py3-none-any.whl"


def _direct_url(path: str) -> str:
    return json.dumps({"url": Path(path).as_uri(), "archive_info": {}})


@pytest.mark.parametrize(
    ("receipt", "begins"),
    [("uv-receipt.toml", "uv tool install --force "), ("pipx_metadata.json", "pipx install ")],
)
def test_the_tool_that_installed_it_is_named(tmp_path: Path, receipt: str, begins: str) -> None:
    (tmp_path / receipt).touch()
    assert install_command(tmp_path, ".", ["serve"]).startswith(begins)


def test_without_a_receipt_the_pip_of_this_environment_is_named(tmp_path: Path) -> None:
    line = install_command(tmp_path, ".", ["serve"])
    assert line == f"{tmp_path}/bin/python -m pip install '.[serve]'"


def test_a_wheel_is_named_with_its_folder_and_quoted_for_the_shell(tmp_path: Path) -> None:
    line = install_command(tmp_path, source_of(_direct_url(WHEEL)), ["serve", "semantic"])
    assert line.endswith(f" '{WHEEL}[serve,semantic]'")


@pytest.mark.slow
def test_the_dashboard_without_its_extra_names_the_command_that_adds_it() -> None:
    code = (
        "import sys; sys.modules['uvicorn'] = None; sys.argv = ['holdfast', 'serve', '--port=0'];"
        "from holdfast.cli.start import main; main()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 5
    assert "pip install" in run.stderr
    assert "[serve," in run.stderr
