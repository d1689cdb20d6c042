"""What is wrong with a file, said once: a look every half minute must not fill the log."""

from __future__ import annotations

from holdfast.wire import log

MOST = 10_000


class Troubles:
    def __init__(self) -> None:
        self._said: set[tuple[str, str]] = set()

    def say(self, path: str, words: str) -> None:
        if (path, words) in self._said:
            return
        if len(self._said) >= MOST:
            self._said.clear()
        self._said.add((path, words))
        log.add("WARN", "watcher", f"{path} {words}")
