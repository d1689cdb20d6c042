"""One error tree: each error knows its exit code and the next thing to try."""


class HoldfastError(Exception):
    """A class of its own is for an error that somebody catches."""

    exit_code: int = 1
    hint: str = ""

    def __init__(self, message: str = "", hint: str = "", exit_code: int = 0) -> None:
        super().__init__(message)
        self.hint = hint or self.hint
        self.exit_code = exit_code or self.exit_code


def describe(error: BaseException) -> str:
    """The error in words; the type only where the message says too little, as a KeyError's."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, (HoldfastError, OSError, ValueError)) and str(error):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
