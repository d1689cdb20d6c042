"""The plugin, built once for each worker."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def builder() -> ModuleType:
    """`plugin/build.py`, which belongs to no package."""
    spec = importlib.util.spec_from_file_location("plugin_build", ROOT / "plugin" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def plugin(builder: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built plugin") / "with a blank"
    builder.build(folder)
    return folder
