"""One error tree: each error knows its exit code and the next thing to try."""


class HoldfastError(Exception):
    exit_code: int = 1
    hint: str = ""


def describe(error: BaseException) -> str:
    """The error in words, for a line of the log. The type is named only where the message alone
    says too little, as that of a KeyError."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, (HoldfastError, OSError, ValueError)) and str(error):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
