"""The inner loop runs each of its files once, whatever the number of cores."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest

from tests.quick import deal, find_files


@pytest.mark.parametrize("parts", [1, 2, 3, 16])
def test_every_file_is_in_exactly_one_part(parts: int) -> None:
    files = find_files()
    shares = deal(files, parts)
    assert len(shares) == parts
    assert sorted(chain.from_iterable(shares)) == files


def test_files_of_slow_tests_and_of_databases_are_left_out_and_others_are_not() -> None:
    names = {str(path.relative_to(Path(__file__).parent)) for path in find_files()}
    assert {"test_quick.py", "redact/test_laws.py"} <= names
    assert names.isdisjoint(("contracts/test_board.py", "api/test_gate.py"))
