"""What keeping a checkpoint loads: it happens inside PreCompact, where a person waits."""

import subprocess
import sys

import pytest

HEAVY = {"yaml", "click", "rich", "sqlite3", "asyncio", "sqlalchemy", "logging", "subprocess"}


@pytest.mark.slow
@pytest.mark.requirement("C11")
@pytest.mark.parametrize("module", ["write", "find"])
def test_nothing_heavy_is_loaded(module: str) -> None:
    code = f"import sys; import holdfast.checkpoint.{module}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(run.stdout.split())
