"""Files that hold a secret: created once, owner-only, and refused if others can read them."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from holdfast.files import atomic
from holdfast.wire import log, places
from holdfast.wire.errors import HoldfastError

LEAST_CHARS = 16
MOST_BYTES = 4096


def usable(text: str, origin: str) -> str:
    text = text.strip()
    if len(text) < LEAST_CHARS or not (text.isascii() and text.isprintable()) or " " in text:
        hint = f"at least {LEAST_CHARS} letters, digits and signs, without blanks"
        raise HoldfastError(f"{origin} does not hold a token", hint, 3)
    return text


def read(path: Path) -> str:
    """The secret in a file; empty if there is no such file. Refused if others may read it."""
    hint = f"chmod 600 {path}; or delete it: a new one is made"
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise HoldfastError(f"{path} cannot be read: {error.strerror}", hint, 3) from error
    try:
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid():
            raise HoldfastError(f"{path} is not a file of yours", hint, 3)
        if about.st_mode & 0o077:
            mode = about.st_mode & 0o777
            raise HoldfastError(f"others may read {path} ({mode:o})", hint, 3)
        return usable(os.read(fd, MOST_BYTES).decode("utf-8", "replace"), str(path))
    finally:
        os.close(fd)


class SecretFile:
    """The secret of a file, read at each request; if invalid, nobody gets in."""

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
    places.make_folder(str(path.parent))
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(FileExistsError):  # another process was faster: its secret counts
            atomic.put_new(folder, secret.encode() + b"\n", [path.name])
    finally:
        os.close(folder)
