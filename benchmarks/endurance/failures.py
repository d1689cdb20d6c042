"""What a failing command prints, in the form of the tool it imitates, and what once it is fixed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

About = Mapping[str, Any]
_RULE = "=" * 30


def command_of(about: About) -> str:
    """The command line; no two failures share one, so that no run says anything of another."""
    form = about["form"]
    if form == "pytest":
        return f"pytest -q {about['file']}"
    if form == "cargo":
        return f"cargo test -p {about['package']}"
    if form == "tsc":
        return f"npx tsc --noEmit -p {about['file'].rpartition('/')[0]}"
    if form == "go":
        return f"go test {about['package']}"
    return str(about["command"])


def failing_output(about: About) -> str:
    form = {"pytest": _pytest, "cargo": _cargo, "tsc": _tsc, "go": _go}.get(about["form"], _script)
    return form(about)


def passing_output(about: About) -> str:
    return {
        "pytest": "....                                          [100%]\n4 passed in 0.38s",
        "cargo": "test result: ok. 14 passed; 0 failed; 0 ignored; finished in 0.02s",
        "tsc": "",
        "go": f"ok  \ttidewater/moorings/{about.get('package', '')[2:]}\t0.412s",
    }.get(about["form"], "finished")


def _pytest(about: About) -> str:
    test, place, message = about["test"], f"{about['file']}:{about['line']}", about["message"]
    kind = message.partition(":")[0].rpartition(".")[2]
    return "\n".join(
        (
            "..F.                                                     [100%]",
            f"{_RULE} FAILURES {_RULE}",
            f"____________________ {test} ____________________",
            "",
            f"    def {test}():",
            ">       check(sample)",
            f"E       {message}",
            "",
            f"{place}: {kind}",
            f"{_RULE} short test summary info {_RULE}",
            f"FAILED {about['file']}::{test} - {message}",
            "1 failed, 3 passed in 0.42s",
        )
    )


def _cargo(about: About) -> str:
    test = about["test"]
    place = f"{about['file']}:{about['line']}:9"
    return "\n".join(
        (
            f"   Compiling {about['package']} v0.4.1",
            "running 14 tests",
            f"test {test} ... FAILED",
            "failures:",
            f"---- {test} stdout ----",
            f"thread '{test}' panicked at {place}:",
            about["message"],
            "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
            "test result: FAILED. 13 passed; 1 failed; 0 ignored; finished in 0.02s",
            f"error: test failed, to rerun pass `-p {about['package']} --lib`",
        )
    )


def _tsc(about: About) -> str:
    place = f"{about['file']}({about['line']},{about['column']})"
    return f"{place}: error {about['code']}: {about['message']}\n\nFound 1 error."


def _go(about: About) -> str:
    return "\n".join(
        (
            f"--- FAIL: {about['test']} (0.31s)",
            f"    {about['file'].rpartition('/')[2]}:{about['line']}: {about['message']}",
            "FAIL",
            f"FAIL\ttidewater/moorings/{about['package'][2:]}\t0.522s",
            "FAIL",
        )
    )


def _script(about: About) -> str:
    return str(about["message"])
