"""A model in a process of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from holdfast.memory.onnx import Worker
from tests.waiting import until

if TYPE_CHECKING:
    from holdfast.memory.onnx import Onnx

pytestmark = pytest.mark.requirement("M2")
TEXTS = ["the ferry leaves at nine", "it does", "a longer sentence about the harbour light"] * 4


@pytest.mark.slow  # it loads the model
def test_a_model_apart_gives_the_vectors_that_it_gives_here(model: Onnx) -> None:
    apart = Worker("minilm")
    try:
        assert apart.name == model.name
        assert np.allclose(apart.embed(TEXTS), model.embed(TEXTS), atol=1e-5)
        assert apart.embed([]).shape == (0, 0)
    finally:
        apart._end()


@pytest.mark.slow  # it loads the model
def test_a_model_apart_ends_when_nothing_comes_and_starts_again_when_something_does() -> None:
    apart = Worker("minilm", idle_seconds=0.1)
    try:
        first = apart._process
        assert first is not None
        until(lambda: first.returncode is not None)
        assert apart.embed(["again"]).shape == (1, 384)
        assert apart._process is not first
    finally:
        apart._end()
