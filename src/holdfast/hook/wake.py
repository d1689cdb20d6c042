"""The way to the warm side: found, loaded and handed back. An asleep hook never comes here."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def wake(teller: str) -> Any:
    """The warm side, by name: the hot ring knows whom to wake, and imports nothing of it."""
    import gc

    gc.disable()  # a process of a tenth of a second has nothing to gather
    _find_libraries()
    if teller == "dispatch":  # every story needs msgspec, and no other teller does
        from holdfast.hook import lean_msgspec

        lean_msgspec.load()
    return __import__("holdfast.events." + teller, None, None, ["*"])


def _find_libraries() -> None:
    """Beside us where we are installed; in our Python's own folder where we run from a checkout.

    Only else by `site`, which also runs what any .pth file asks for: 2 ms, and more for some users.
    """
    python = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    own = f"{sys.executable.rpartition('/bin/')[0]}/lib/{python}/site-packages"
    for folder in (sys.path[0], own):
        if os.path.isdir(f"{folder}/msgspec"):
            return sys.path.append(folder)
    import site

    site.main()
