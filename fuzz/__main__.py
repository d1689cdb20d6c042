"""`python -m fuzz`: every target for some seconds, one after another, each in its own process.

What raised the coverage is kept in `.cache/fuzz`, so that the next run goes on from there. Exit 0:
all laws held; 1: one did not; 2: there is no fuzzer for this Python and system.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from fuzz.targets import TARGETS

ROOT = Path(__file__).resolve().parents[1]
CORPUS, FOUND = ROOT / ".cache" / "fuzz", ROOT / "tests" / "fuzz" / "found"
SECONDS = 60
DONE = re.compile(r"^Done (\d+) runs", re.MULTILINE)
COVERED = re.compile(r"cov: (\d+)")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=SECONDS, help="for each target")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1, 10**6))
    parser.add_argument("--only", action="append", choices=TARGETS, help="run this target")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="where inputs are kept")
    parser.add_argument("--found", type=Path, default=FOUND, help="where findings are put")
    given = parser.parse_args()
    if importlib.util.find_spec("atheris") is None:
        print("not fuzzed: atheris has no wheel for this Python and system")
        return 2
    print(f"seed {given.seed}")
    return max([_run(name, given) for name in given.only or TARGETS])


def _run(name: str, given: argparse.Namespace) -> int:
    corpus = given.corpus / name
    corpus.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="holdfast-fuzz-") as folder:
        artifacts = Path(folder, "artifacts")
        artifacts.mkdir()
        line = [sys.executable, "-m", "fuzz.harness", name, str(corpus), str(artifacts)]
        line += [str(given.seconds), str(given.seed)]
        run = subprocess.run(
            line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        told = run.stdout.decode("utf-8", "replace")
        kept = _keep(artifacts, given.found / name)
    done, covered = DONE.search(told), COVERED.findall(told)
    if run.returncode == 0 and done:
        print(
            f"{name}: {int(done[1]):,} inputs, {covered[-1] if covered else '?'} branches",
            flush=True,
        )
        return 0
    where = ", ".join(kept) or "no file"
    print(f"{name}: FAILED, exit {run.returncode}, input in {where}\n{_why(told)}", flush=True)
    return 1


def _keep(artifacts: Path, place: Path) -> list[str]:
    """Store the inputs that broke a law as tests; their names are those of the fuzzer."""
    kept = []
    for path in artifacts.iterdir():
        place.mkdir(parents=True, exist_ok=True)
        (place / path.name).write_bytes(path.read_bytes())
        kept.append(str(place / path.name))
    return kept


def _why(told: str) -> str:
    """The traceback, or the fuzzer's last lines."""
    at = told.find("=== Uncaught Python exception")
    return told[at : at + 3_000] if at >= 0 else told[-2_000:]


if __name__ == "__main__":
    sys.exit(main())
