"""Paths as a reader meets them: which are one file, which stand aside, how short they can be."""

from collections.abc import Iterable

from holdfast.record.model import Used

_MADE_WORDS = (
    "node_modules site-packages dist-packages __pycache__ vendor target build dist venv coverage"
)
_MADE = frozenset(_MADE_WORDS.split())
_MADE_ENDS = (".log", ".lock", ".pdf", ".pyc", ".o", ".map", ".min.js")
_BEFORE = ("../", "./", "@", "a/", "b/")


def is_of_client(path: str) -> bool:
    """What the client put aside of a tool's answer; nobody will look for it again."""
    return "/tool-results/" in path and "/.claude/" in path


def is_aside(path: str) -> bool:
    """Outside the project or hidden, installed, or built."""
    return path[:1] in "/.~" or path.endswith(_MADE_ENDS) or not _MADE.isdisjoint(path.split("/"))


def same_files(known: dict[str, Used]) -> dict[str, str]:
    """Each path, and the one it stands for.

    What a command or a diff names may be told from another folder. What was read or edited was
    given to a tool whole, and stands for itself.
    """
    owners: dict[str, str] = {}
    for path in known:
        for end in _ends(path)[1:]:
            owners[end] = "" if end in owners else path
    return {path: _same(path, known, owners) for path in known}


def _same(path: str, known: dict[str, Used], owners: dict[str, str]) -> str:
    if known[path].reads or known[path].edits:
        return path
    bare = path
    while bare.startswith(_BEFORE) and bare not in owners:
        bare = next(bare.removeprefix(one) for one in _BEFORE if bare.startswith(one))
        if bare in known:
            return bare
    return owners.get(bare) or path


def splits(paths: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Each path as a folder and the shortest end no other path shares."""
    paths = list(paths)
    shared: dict[str, int] = {}
    for path in paths:
        for end in _ends(path):
            shared[end] = shared.get(end, 0) + 1
    return {path: _split(path, shared) for path in paths}


def _split(path: str, shared: dict[str, int]) -> tuple[str, str]:
    parts = path.split("/")
    for start in range(len(parts) - 1, 0, -1):
        end = "/".join(parts[start:])
        if shared[end] == 1:
            return "/".join(parts[:start]) + "/", end
    return "", path


def _ends(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[start:]) for start in range(len(parts))]
