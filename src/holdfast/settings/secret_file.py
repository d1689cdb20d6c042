"""Files that hold a secret: created once, owner-only, and refused if others can read them."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from holdfast.files import atomic
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError

LEAST_CHARS = 16
MOST_BYTES = 4096


class SecretExposed(HoldfastError):
    """Others may read the file, or it belongs to someone else."""

    exit_code = 3

    def __init__(self, words: str, path: Path) -> None:
        super().__init__(words)
        self.hint = f"chmod 600 {path}; or delete it: a new one is made"


class SecretUnusable(HoldfastError):
    """The secret is too short, or no HTTP header can carry it."""

    exit_code = 3
    hint = f"at least {LEAST_CHARS} letters, digits and signs, without blanks"


def usable(text: str, origin: str) -> str:
    text = text.strip()
    if len(text) < LEAST_CHARS or not (text.isascii() and text.isprintable()) or " " in text:
        raise SecretUnusable(f"{origin} does not hold a token")
    return text


def read(path: Path) -> str:
    """The secret in a file; empty if there is no such file."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise SecretExposed(f"{path} cannot be read: {error.strerror}", path) from error
    try:
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid():
            raise SecretExposed(f"{path} is not a file of yours", path)
        if about.st_mode & 0o077:
            raise SecretExposed(f"others may read {path} ({about.st_mode & 0o777:o})", path)
        return usable(os.read(fd, MOST_BYTES).decode("utf-8", "replace"), str(path))
    finally:
        os.close(fd)


class SecretFile:
    """The current secret of a file, read at each request: another one holds at once.

    If the file is missing or invalid, `now` is empty and nobody is let in.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text = read(path)

    def now(self) -> str:
        before, self._text = self._text, self._held()
        if self._text != before:
            words = "holds another token" if self._text else "holds no token: nobody may come in"
            log.add("INFO" if self._text else "ERROR", "serve", f"{self._path} {words}")
        return self._text

    def _held(self) -> str:
        try:
            return read(self._path)
        except HoldfastError as error:
            if self._text:
                log.add("ERROR", "serve", str(error))
            return ""


def read_or_create(path: Path) -> str:
    """The secret in a file; a new one is made if there is none. Of two that make it, one wins."""
    secret = read(path)
    if secret:
        return secret
    import secrets

    try:
        _create(path, secrets.token_urlsafe(32))
    except OSError as error:  # it names a draft, without its folder
        raise OSError(error.errno, f"it cannot be made: {error.strerror}", str(path)) from error
    return read(path)


def _create(path: Path, secret: str) -> None:
    os.makedirs(path.parent, 0o700, exist_ok=True)  # noqa: PTH103 (pathlib ignores the mode)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(FileExistsError):  # another process was faster: its secret counts
            atomic.put_new(folder, secret.encode() + b"\n", [path.name])
    finally:
        os.close(folder)
