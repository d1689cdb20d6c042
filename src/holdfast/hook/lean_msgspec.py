"""msgspec without what no hook uses of it: loading it whole takes 0.8 of a bare start more.

As it loads, msgspec takes a class each from `uuid` and `decimal`, to know such values by, and
brings schemas, msgpack, TOML and YAML along, which want `platform`, `textwrap` and `numbers`. None
of that is in what we read and write. So stand-ins are there while it loads, and only then:
whoever asks for the real ones later gets them.
"""

from __future__ import annotations

import sys
from types import ModuleType

CLASSES_FROM = ("uuid", "decimal")
PARTS = ("inspect", "msgpack", "toml", "yaml")
_SCHEMAS = "msgspec._json_schema"


class Nobodys(type):
    """A class no value is of; msgspec asks `SafeUUID` for one of its members too."""

    def __getattr__(cls, name: str) -> None:
        return None


class StandIn(ModuleType):
    """A module that has a class of any name."""

    def __getattr__(self, name: str) -> Nobodys:
        return Nobodys(name, (), {})


def load() -> None:
    """Import msgspec so. A version that will not be loaded so is loaded whole by who needs it."""
    if "msgspec" in sys.modules:
        return
    # It gains nothing by this one on our Pythons, and would pay a whole start for it.
    sys.modules.setdefault("typing_extensions", None)  # type: ignore[arg-type]
    wanted = (*CLASSES_FROM, _SCHEMAS, *(f"msgspec.{part}" for part in PARTS))
    absent = [name for name in wanted if name not in sys.modules]
    sys.modules.update((name, StandIn(name)) for name in absent)
    try:
        loaded = vars(__import__("msgspec"))
        for part in PARTS:
            loaded.pop(part, None)
    except (ImportError, AttributeError, TypeError):
        pass
    finally:
        for name in absent:
            sys.modules.pop(name, None)
