"""What a run cost: its CPU seconds, and the five files they went to, so that growth is seen.

Of CPU, with every process a test started: it depends little on what else the machine does.
"""

import itertools
import resource
from collections import Counter
from collections.abc import Generator, Iterator

import pytest

MOST_NAMED = 5


def _cpu_seconds() -> float:
    ours, theirs = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return ours.ru_utime + ours.ru_stime + theirs.ru_utime + theirs.ru_stime


def _since() -> Iterator[float]:
    """What was spent since it was last asked."""
    for before, now in itertools.pairwise(_cpu_seconds() for _ in itertools.count()):
        yield now - before


_spent, _just_now = Counter[str](), _since()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "teardown":  # it goes with the report from a worker to who sums up
        vars(report)["cpu_seconds"] = next(_just_now)
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _spent[report.nodeid.partition("::")[0]] += vars(report).get("cpu_seconds", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    dear = [f"{name} {seconds:.1f}" for name, seconds in _spent.most_common(MOST_NAMED)]
    if len(_spent) > MOST_NAMED:
        terminalreporter.write_line(f"{_cpu_seconds():.0f} s of CPU; most: {', '.join(dear)}")
