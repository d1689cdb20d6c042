"""The kind of work, if there is room for it: languages, tools, and what it is built on.

What it is built on is read from the manifests in the project's folder: JSON, TOML, and lines that
begin with a name. Other manifests are not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from holdfast.brief.item import BriefItem
from holdfast.record.model import Record
from holdfast.text.fence import flat
from holdfast.wire import places

LARGEST_BYTES = 64 << 10
MOST_READ, LONGEST_NAME = 40, 60
MOST_DOTS = 100  # of a line of TOML: reading a dotted key takes the square of its parts
_LISTS = ("dependencies", "devDependencies", "require", "project", "tool", "poetry")
_ENDS = "[<>=!~; @("  # behind the name in a requirement
_KNOWN = (
    "next react vue nuxt svelte @angular/core express fastify hono @nestjs/core astro expo "
    "electron react-native tauri django flask fastapi starlette streamlit laravel/framework "
    "actix-web axum rocket gin echo fiber cobra"
)
_FRAMEWORKS = frozenset(_KNOWN.split())


def dependencies(root: str) -> list[str]:
    """Return the names that the manifests in a folder list, in their order."""
    found = [
        *_listed(_decoded("json", _text(f"{root}/package.json"))),
        *_listed(_decoded("json", _text(f"{root}/composer.json"))),
        *_listed(_decoded("toml", _text(f"{root}/pyproject.toml"))),
        *_listed(_decoded("toml", _text(f"{root}/Cargo.toml"))),
        *(line for line in _text(f"{root}/requirements.txt").splitlines() if line[:1].isalpha()),
        *(line.split()[0].rpartition("/")[2] for line in _modules(_text(f"{root}/go.mod"))),
    ]
    named = dict.fromkeys(_bare(name) for name in found)
    return [name for name in named if 1 < len(name) <= LONGEST_NAME][:MOST_READ]


def _text(path: str) -> str:
    return places.read_small(path, LARGEST_BYTES).decode("utf-8", "replace")


def _decoded(form: str, text: str) -> Any:
    if not text:
        return None
    try:
        if form == "json":
            return msgspec.json.decode(text)
        if max(line.count(".") for line in text.splitlines()) > MOST_DOTS:
            return None
        import tomllib  # 3 ms, and most projects have no TOML

        return tomllib.loads(text)
    except (ValueError, msgspec.DecodeError, RecursionError):
        return None


def _listed(value: Any) -> Iterator[str]:
    """Yield the names in the lists of dependencies, wherever a manifest has them."""
    for key in _LISTS if isinstance(value, dict) else ():
        inner = value.get(key)
        if key in _LISTS[:3]:
            names = inner if isinstance(inner, dict | list) else ()
            yield from (name for name in names if name not in ("php", "python"))
        else:
            yield from _listed(inner)


def _modules(text: str) -> Iterator[str]:
    lines = (line.strip().removeprefix("require ") for line in text.splitlines())
    return (line for line in lines if " v" in line and "indirect" not in line)


def _bare(words: str) -> str:
    """Return the name of a requirement: `name[extra]>=1; python_version > "3"` is `name`."""
    for mark in _ENDS if isinstance(words, str) else ():
        words = words[:1] + words[1:].partition(mark)[0]
    return words.strip() if isinstance(words, str) else ""


LANGUAGES = {
    "c": "C", "cpp": "C++", "cs": "C#", "css": "CSS", "dart": "Dart", "go": "Go", "java": "Java",
    "js": "JavaScript", "jsx": "JavaScript", "kt": "Kotlin", "php": "PHP", "py": "Python",
    "rb": "Ruby", "rs": "Rust", "sh": "shell", "sql": "SQL", "swift": "Swift", "ts": "TypeScript",
    "tsx": "TypeScript", "vue": "Vue",
}  # fmt: skip
LEAST_WORTH = 1e-6
MOST_DEPENDENCIES = 8


def about(record: Record) -> Iterator[BriefItem]:
    """Yield two lines; they are the last to be taken."""
    told = [*_languages(record), *_tools(record)]
    if told:
        yield BriefItem("about", flat("; ".join(told), 300), LEAST_WORTH, "what kind of work it is")
    if names := dependencies(record.roots[0]) if record.roots else []:
        text = flat("; ".join(_built_on(names)), 300)
        yield BriefItem("about", text, LEAST_WORTH, "what the project's manifests list", order=1)


def _built_on(names: list[str]) -> list[str]:
    found = [name for name in names if name.lower() in _FRAMEWORKS]
    rest = [name for name in names if name not in found][:MOST_DEPENDENCIES]
    told = [f"framework: {', '.join(found[:3])}"] if found else []
    return [*told, f"dependencies: {', '.join(rest)}"] if rest else told


def _languages(record: Record) -> list[str]:
    counts = Counter(LANGUAGES.get(path.rpartition(".")[2], "") for path in record.files)
    most = sorted(counts.items(), key=lambda pair: -pair[1])[:4]  # `most_common` loads heapq
    names = [name for name, _ in most if name][:3]
    return [f"languages: {', '.join(names)}"] if names else []


def _tools(record: Record) -> list[str]:
    most = sorted(record.tools.items(), key=lambda pair: -pair[1])[:5]
    return ["tools: " + ", ".join(f"{name} {count}" for name, count in most)] if most else []
