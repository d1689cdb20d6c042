"""Load msgspec without the parts that no hook uses: the whole takes 1.2 to 1.6 bare starts more.

With the whole, a save of 5 MB takes 13.1 bare starts (12 are allowed) and a restore 8.6 (8 are
allowed).

While it loads, msgspec imports one class each from `uuid` and `decimal`, to recognise their values.
It also imports its modules for schemas, msgpack, TOML and YAML, which need `platform`, `textwrap`
and `numbers`. If `typing_extensions` is installed, it takes two names from there that our Pythons'
`typing` has too. Hooks need none of these. So placeholder modules take their place while msgspec
loads. Afterwards they are removed, and every later import gets the real module.

If a version of msgspec refuses the placeholders, the whole is loaded instead. Python 3.12 cannot do
that: there, a C module whose first start failed does not start again in the same process. So with
3.12 only versions that are known to accept the placeholders are loaded this way.

msgspec also creates one `ForwardRef`, to find out which arguments it takes. Compiling the first
text of a process takes 1 ms, and no annotation that a save or a restore reads is a text.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType

CLASSES_FROM = ("uuid", "decimal")
PARTS = ("inspect", "msgpack", "toml", "yaml")
_SCHEMAS = "msgspec._json_schema"
KNOWN = ("0.21.", "0.22.")  # versions that accept the placeholders, as tests have shown
STARTS_AGAIN = sys.version_info[:2] != (3, 12)


class PlaceholderType(type):
    """A class no value is of; msgspec asks `SafeUUID` for one of its members too."""

    def __getattr__(cls, name: str) -> None:
        return None


class PlaceholderModule(ModuleType):
    """A placeholder module that has a class of any name."""

    def __getattr__(self, name: str) -> PlaceholderType:
        return PlaceholderType(name, (), {})


def _take_any(*given: object, **named: object) -> None:
    """Takes the place of `typing.ForwardRef`."""


def installed_version() -> str:
    """Return the version of the msgspec that an import would find, without importing it; empty if
    its file says it in another form, as that of 0.19 does."""
    for folder in sys.path:
        try:
            fd = os.open(f"{folder}/msgspec/_version.py", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            text = os.read(fd, 4096)
        finally:
            os.close(fd)
        value = text.rpartition(b"version = ")[2] if b"version = " in text else b"''"
        return value[1:].partition(value[:1])[0].decode("ascii", "replace")
    return ""


def load(known: tuple[str, ...] = KNOWN, starts_again: bool = STARTS_AGAIN) -> None:
    """Import msgspec this way. If a version cannot be loaded so, the first module that needs
    msgspec loads the whole."""
    if "msgspec" in sys.modules or not (starts_again or installed_version().startswith(known)):
        return
    placeholders: dict[str, ModuleType | None] = {
        name: PlaceholderModule(name)
        for name in (*CLASSES_FROM, _SCHEMAS, *(f"msgspec.{part}" for part in PARTS))
    }
    placeholders["typing_extensions"] = None  # such an import fails, and msgspec takes `typing`
    absent = [name for name in placeholders if name not in sys.modules]
    sys.modules.update({name: placeholders[name] for name in absent})  # type: ignore[misc]
    typing = vars(__import__("typing"))
    reference = typing.get("ForwardRef")  # from Python 3.14 on, `typing` makes it when it is asked
    if reference is not None:
        typing["ForwardRef"] = _take_any
    try:
        loaded = vars(__import__("msgspec"))
        for part in PARTS:
            loaded.pop(part, None)
    except (ImportError, AttributeError, TypeError):
        pass
    finally:
        if reference is not None:
            typing["ForwardRef"] = reference
        for name in absent:
            sys.modules.pop(name, None)
