"""What a worker tells of a test: how it went, once.

That its set-up and its end went well goes without saying; six messages for each test, written and
read in Python, were 3 of 50 seconds of CPU. Whoever asks for `--durations` is told all.
"""

from __future__ import annotations

import pytest
from _pytest.runner import runtestprotocol


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    config = item.config
    if not hasattr(config, "workerinput") or config.option.durations is not None:
        return None
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    told = [report for report in reports if report.when == "call" or not report.passed]
    vars(told[-1])["cpu_seconds"] = vars(reports[-1])["cpu_seconds"]  # counted at its very end
    for report in told:
        item.ihook.pytest_runtest_logreport(report=report)
    return True
