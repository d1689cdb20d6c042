"""msgspec without what no hook uses of it: loading it whole takes 1.2 to 1.6 of a bare start more.

Loaded whole, a save of 5 MB takes 13.1 of a bare start (at most 12 are allowed) and a restore 8.6
(at most 8).

As it loads, msgspec takes a class each from `uuid` and `decimal`, to know such values by, and
brings schemas, msgpack, TOML and YAML along, which want `platform`, `textwrap` and `numbers`; and
where there is a `typing_extensions` it takes two names from there which our Pythons' `typing` has
too. None of that is in what we read and write. So stand-ins are there while it loads, and only
then: afterwards `sys.modules` holds nothing but real modules, and whoever asks for one gets it.

It also makes one `ForwardRef`, to learn which arguments that takes. The first text that a process
compiles takes 1 ms, and the annotations that a save or a restore reads are no texts.
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


def _take_any(*given: object, **named: object) -> None:
    """Stands in for `typing.ForwardRef`."""


def load() -> None:
    """Import msgspec so. A version that will not be loaded so is loaded whole by who needs it."""
    if "msgspec" in sys.modules:
        return
    stand_ins: dict[str, ModuleType | None] = {
        name: StandIn(name)
        for name in (*CLASSES_FROM, _SCHEMAS, *(f"msgspec.{part}" for part in PARTS))
    }
    stand_ins["typing_extensions"] = None  # such an import fails, and msgspec takes `typing`
    absent = [name for name in stand_ins if name not in sys.modules]
    sys.modules.update({name: stand_ins[name] for name in absent})  # type: ignore[misc]
    typing = vars(__import__("typing"))
    reference, typing["ForwardRef"] = typing["ForwardRef"], _take_any
    try:
        loaded = vars(__import__("msgspec"))
        for part in PARTS:
            loaded.pop(part, None)
    except (ImportError, AttributeError, TypeError):
        pass
    finally:
        typing["ForwardRef"] = reference
        for name in absent:
            sys.modules.pop(name, None)
