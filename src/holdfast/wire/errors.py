"""One error tree: each error knows its exit code and the next thing to try."""


class HoldfastError(Exception):
    exit_code: int = 1
    hint: str = ""
