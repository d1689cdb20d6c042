"""Windows that hooks opened: they name transcripts that lie elsewhere."""

from __future__ import annotations

import os

from holdfast.wire import places


class Windows:
    def __init__(self) -> None:
        self._known: dict[str, bool] = {}
        self._changed = -1

    def new(self) -> list[str]:
        """Main windows whose state was not there at the last look."""
        try:
            changed = os.stat(places.windows()).st_mtime_ns  # noqa: PTH116
        except OSError:
            return []
        if changed != self._changed:
            self._changed = changed
            names = os.listdir(places.windows())  # noqa: PTH208
            self._known = {name: self._known.get(name, False) for name in names}
        found = [name for name, was_read in self._known.items() if not was_read]
        ready = [name for name in found if os.path.exists(self._state(name))]  # noqa: PTH110
        self._known |= dict.fromkeys(ready, True)
        return [os.path.dirname(self._state(name)) for name in ready]  # noqa: PTH120

    def _state(self, name: str) -> str:
        return f"{places.windows()}/{name}/main/state.json"
