"""A project, a plan, and the small client: everything a run needs, and what came of it."""

import json
import marshal
import os
import select
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from holdfast.cli.main import holdfast_command
from holdfast.cli.run import SIGNALS
from holdfast.run.journal import journal_folder
from tests.run import fake_claude

PLAN = """# Shop
- [ ] Cart
  - size: 80k
- [ ] Price
  - size: 80k
  - depends: Cart
- [ ] Docs
  - size: 80k
  - depends: Price
"""
# Where one or two sessions tell all: each is three processes.
ALONE = "- [ ] Cart\n  - size: 80k\n"
TWO = ALONE + "- [ ] Price\n  - size: 80k\n  - depends: Cart\n"
CLIENT = """#!/bin/sh
if [ "$1" = --version ]; then
    echo "${{FAKE_VERSION-2.1.325 (Claude Code)}}"
    exit ${{FAKE_VERSION_EXIT-0}}
fi
FAKE={fake} exec {words} "$@"
"""
PATIENCE_SECONDS = 60


@contextmanager
def _hearing_signals() -> Iterator[None]:
    """Start nothing that ignores a signal: tests under `nohup` do, and a run keeps it that way."""
    ignored = [one for one in SIGNALS if signal.getsignal(one) == signal.SIG_IGN]
    for one in ignored:
        signal.signal(one, signal.SIG_DFL)
    try:
        yield
    finally:
        for one in ignored:
            signal.signal(one, signal.SIG_IGN)


class Theatre:
    def __init__(self, folder: Path, home: Path) -> None:
        self.home, self.project, self.fake = home, folder / "shop", folder / "fake"
        self.project.mkdir(parents=True)
        self.fake.mkdir()
        self.plan = self.project / "plan.md"
        self.plan.write_text(PLAN)
        self.client = folder / "claude"
        program = Path(fake_claude.__file__).resolve()
        words = shlex.join([sys.executable, "-I", "-S", str(program)])
        self.client.write_text(CLIENT.format(fake=shlex.quote(str(self.fake)), words=words))
        self.client.chmod(0o700)
        self._here, self._go, self._heard = self._pipe("here"), self._pipe("go"), b""
        self.play()

    def play(self, **deeds: list[str]) -> None:
        (self.fake / "play").write_bytes(marshal.dumps(deeds))

    def words(self, *arguments: str) -> list[str]:
        own = arguments.index("--") if "--" in arguments else len(arguments)
        named = ["--client-binary", str(self.client), "--project", str(self.project)]
        return ["run", str(self.plan), *named, *arguments[:own], *arguments[own:]]

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(holdfast_command, self.words(*arguments))

    def answer(self, *arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run(*arguments, "--json").stdout)
        return found

    @contextmanager
    def start(self, *arguments: str, shell: str = "") -> Iterator[subprocess.Popen[bytes]]:
        """As a process of its own, that can be killed; a test that fails leaves none behind. What
        a shell says may come before: it ends with `exec "$@"`."""
        before = ["sh", "-c", shell, "sh"] if shell else []
        with _hearing_signals():
            started = subprocess.Popen(
                [*before, sys.executable, "-m", "holdfast.cli", *self.words(*arguments)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        with started as run:
            try:
                yield run
            finally:
                run.kill()

    def here(self) -> list[int]:
        """Waits until a client is; its process, and those it started."""
        while b"\n" not in self._heard:
            assert select.select([self._here], [], [], PATIENCE_SECONDS)[0], "no client came"
            self._heard += os.read(self._here, 100)
        line, _, self._heard = self._heard.partition(b"\n")
        return [int(word) for word in line.split()]

    def let_go(self) -> None:
        os.write(self._go, b"g")

    def close(self) -> None:
        os.close(self._here)
        os.close(self._go)

    def _pipe(self, name: str) -> int:
        """Open at both ends, so that no client waits for us, nor finds us gone."""
        os.mkfifo(self.fake / name)
        return os.open(self.fake / name, os.O_RDWR | os.O_NONBLOCK)

    @property
    def log(self) -> list[dict[str, Any]]:
        return fake_claude.logged(str(self.fake))

    @property
    def tasks(self) -> list[str]:
        """Which task came first in each session, in order."""
        return [one["task"] for one in self.log]

    @property
    def folder(self) -> Path:
        return Path(journal_folder(self.plan, self.project))

    @property
    def journal(self) -> Path:
        return self.folder / "journal.jsonl"

    def records(self, kind: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.journal.read_text().splitlines()]
        return [one for one in lines if one["kind"] == kind]
