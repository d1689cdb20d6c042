"""What one test left open is no other's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from holdfast.memory import engines

if TYPE_CHECKING:
    from holdfast.memory.onnx import Onnx


@pytest.fixture(autouse=True)
def nothing_held() -> Iterator[None]:
    yield
    engines.release()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "p"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def model() -> Onnx:
    """The shipped one, loaded once: that takes a third of a second."""
    from holdfast.memory import onnx

    return onnx.minilm()


@pytest.fixture
def one_model(model: Onnx, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.memory.onnx.minilm", lambda: model)
