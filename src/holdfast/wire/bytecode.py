"""Imports that survive bytecode which a full disk cut short.

Python 3.11 does not notice that it wrote only a part of a `.pyc` file, and each later import of the
module fails. Here such a file counts as missing: the module is compiled from its source, and if the
file is one of ours, it is removed, so that Python writes it again.
"""

from __future__ import annotations

import _imp
import os
import sys

# Not `importlib.machinery`, which is the same: it would be imported, and this is there already.
from _frozen_importlib_external import (
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
    SourcelessFileLoader,
    cache_from_source,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

PACKAGE = __file__.rsplit("/", 2)[0]
IMPORTED_BEFORE = ("__init__.py", "hook/__init__.py", "wire/__init__.py", "wire/bytecode.py")


class SourceLoader(SourceFileLoader):
    """Loads a module from its source if its bytecode cannot be read."""

    def get_code(self, fullname: str) -> CodeType | None:
        try:
            return super().get_code(fullname)
        except (EOFError, ValueError, TypeError, ImportError):
            path = self.get_filename(fullname)
            remove(path)
            return self.source_to_code(self.get_data(path), path)


_hook = FileFinder.path_hook(
    (ExtensionFileLoader, _imp.extension_suffixes()),
    (SourceLoader, [".py"]),
    (SourcelessFileLoader, [".pyc"]),
)


def survive_cut_files() -> None:
    """From now on, in this process, for our modules and those of the packages beside us."""
    if _hook in sys.path_hooks:
        return
    sys.path_hooks.insert(0, _hook)
    for path in list(sys.path_importer_cache):
        if path.startswith(PACKAGE) or PACKAGE.startswith(path):
            del sys.path_importer_cache[path]


def remove(source: str) -> None:
    """Remove the bytecode of a module of ours. Without the right to do so it stays as it is."""
    try:
        if source.startswith(PACKAGE):
            os.unlink(cache_from_source(source))
    except OSError:
        pass


def recover() -> None:
    """After an import that failed, and with `sys.pycache_prefix` set so that this module could be
    imported: remove the bytecode of what was imported before it, and use all other bytecode."""
    sys.pycache_prefix = None
    for name in IMPORTED_BEFORE:
        remove(f"{PACKAGE}/{name}")
    survive_cut_files()
