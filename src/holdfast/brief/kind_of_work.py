"""The kind of work, if there is room for it: languages, tools, and what it is built on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from holdfast.brief.item import BriefItem
from holdfast.record import manifests
from holdfast.record.model import Record
from holdfast.text.fence import flat
from holdfast.wire import places

FRAMEWORKS = manifests.FRAMEWORKS
LARGEST_BYTES = 64 << 10


def dependencies(facts: Record) -> list[str]:
    """Return the names in the project's own manifests, in their order."""
    found: dict[str, None] = {}
    for root in facts.roots[:1]:
        for name in manifests.NAMES if root.startswith("/") else ():
            text = places.read_small(f"{root}/{name}", LARGEST_BYTES).decode("utf-8", "replace")
            found.update(dict.fromkeys(manifests.dependencies(name, text)))
    for listed in facts.dependencies.values() if not found else ():
        found.update(dict.fromkeys(listed))
    return list(found)


def frameworks(names: list[str]) -> list[str]:
    known = (FRAMEWORKS.get(name.lower(), "") for name in names)
    return [name for name in dict.fromkeys(known) if name]


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
    if names := dependencies(record):
        text = flat("; ".join(_built_on(names)), 300)
        yield BriefItem("about", text, LEAST_WORTH, "what the project's manifests list", order=1)


def _built_on(names: list[str]) -> list[str]:
    found = frameworks(names)
    rest = [name for name in names if name.lower() not in FRAMEWORKS][:MOST_DEPENDENCIES]
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
