"""What a project is built on, read from its manifests line by line, so that a part of a file is
enough.

JSON and XML are split into lines first, because a tool may have written them on one. Nothing is
resolved and no version is saved: only the names, in the order they are listed.
"""

from collections.abc import Callable, Iterable, Iterator

from holdfast.record.model import Record

MOST = 40
MOST_FILES = 6
LONGEST_NAME = 60
READ_CHARS = 20_000
_JSON_LISTS = ('"dependencies"', '"devDependencies"', '"require"', '"peerDependencies"')
_GRADLE = ("implementation", "api", "testImplementation", "compileOnly", "runtimeOnly", "kapt")
_NUMBER_ENDS = ("\u2192", "\t")  # the client puts a line's number before it
FRAMEWORKS = {
    "next": "Next.js", "react": "React", "vue": "Vue", "nuxt": "Nuxt", "svelte": "Svelte",
    "@angular/core": "Angular", "express": "Express", "fastify": "Fastify", "hono": "Hono",
    "@nestjs/core": "NestJS", "astro": "Astro", "@remix-run/react": "Remix", "expo": "Expo",
    "react-native": "React Native", "electron": "Electron", "tauri": "Tauri", "django": "Django",
    "flask": "Flask", "fastapi": "FastAPI", "starlette": "Starlette", "streamlit": "Streamlit",
    "rails": "Rails", "sinatra": "Sinatra", "laravel/framework": "Laravel",
    "symfony/framework-bundle": "Symfony", "actix-web": "Actix", "axum": "Axum", "rocket": "Rocket",
    "gin": "Gin", "echo": "Echo", "fiber": "Fiber", "cobra": "Cobra", "bubbletea": "Bubble Tea",
    "spring-boot-starter-web": "Spring Boot", "spring-boot-starter": "Spring Boot",
    "quarkus-core": "Quarkus", "ktor-server-core": "Ktor",
}  # fmt: skip


def dependencies(path: str, text: str) -> list[str]:
    """Return the names that a manifest lists; empty for any other file."""
    read = _reader(path)
    if read is None:
        return []
    lines = _lines(text[:READ_CHARS], _BREAKS.get(read, ()))
    found = dict.fromkeys(name for name in read(lines) if 1 < len(name) <= LONGEST_NAME)
    return list(found)[:MOST]


def note(record: Record, path: str, text: str) -> None:
    """Record the dependencies of a file that was shown or written, if it is a manifest."""
    if found := dependencies(path, text):
        record.dependencies.pop(path, None)
        record.dependencies[path] = found
        while len(record.dependencies) > MOST_FILES:
            del record.dependencies[next(iter(record.dependencies))]


def is_manifest(path: str) -> bool:
    return _reader(path) is not None


def _reader(path: str) -> Callable[[Iterable[str]], Iterator[str]] | None:
    name = path.rpartition("/")[2]
    if name.startswith("requirements") and name.endswith(".txt"):
        return _requirements
    return _BY_NAME.get(name)


def _lines(text: str, breaks: Iterable[tuple[str, str]]) -> Iterator[str]:
    for line in map(_bare, text.splitlines()):
        for mark, broken in breaks:
            line = line.replace(mark, broken)
        yield from map(str.strip, line.split("\n"))


def _bare(line: str) -> str:
    """Return a line without the number that the client puts before it."""
    number, end, rest = line.partition(_NUMBER_ENDS[0])
    if not end:
        number, end, rest = line.partition(_NUMBER_ENDS[1])
    return (rest if end and number.strip().isdecimal() else line).strip()


def _json(lines: Iterable[str]) -> Iterator[str]:
    """Yield the keys of the objects that list packages, in pretty-printed JSON."""
    within = False
    for line in lines:
        key, colon, _ = line.partition(":")
        if line.startswith("}"):
            within = False
        elif colon and key.strip() in _JSON_LISTS:
            within = line.endswith("{")
        elif within and colon:
            name = key.strip().strip('"')
            if name != "php":
                yield name


def _toml(lines: Iterable[str]) -> Iterator[str]:
    """Yield the keys of the tables that list packages, and the items of a list called
    `dependencies`."""
    table, listing = "", False
    for line in lines:
        key, sign, value = (part.strip() for part in line.partition("="))
        if line.startswith("[") and not listing:
            table = line.strip("[] ")
        elif listing or (key == "dependencies" and value.startswith("[")):
            yield from map(_required, line.split('"')[1::2])
            listing = not line.endswith("]")
        elif table.endswith("dependencies") and sign and key != "python" and line[0] != "#":
            yield key.strip('"')


def _required(words: str) -> str:
    """Return the name of a requirement: `name[extra]>=1; python_version > "3"` is `name`."""
    for mark in "[<>=!~; @(":
        words = words.partition(mark)[0]
    return words.strip()


def _requirements(lines: Iterable[str]) -> Iterator[str]:
    return (_required(line) for line in lines if line[:1].isalpha())


def _go(lines: Iterable[str]) -> Iterator[str]:
    """Yield the last word of each module's path that is not its version."""
    for line in lines:
        words = line.removeprefix("require ").split()
        if (
            len(words) >= 2
            and words[1].startswith("v")
            and "." in words[0]
            and "indirect" not in line
        ):
            parts = [part for part in words[0].split("/") if not part[1:].isdecimal()]
            yield parts[-1]


def _gems(lines: Iterable[str]) -> Iterator[str]:
    return (
        line.replace('"', "'").split("'")[1] for line in lines if line[:5] in ("gem '", 'gem "')
    )


def _pom(lines: Iterable[str]) -> Iterator[str]:
    within = False
    for line in lines:
        within = (within or "<dependency>" in line) and "</dependency>" not in line
        if within and "<artifactId>" in line:
            yield line.partition("<artifactId>")[2].partition("<")[0]


def _gradle(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith(_GRADLE):
            parts = line.replace('"', "'").split("'")[1:2]
            yield from (part.split(":")[1] for part in parts if part.count(":"))


_BY_NAME: dict[str, Callable[[Iterable[str]], Iterator[str]]] = {
    "package.json": _json,
    "composer.json": _json,
    "pyproject.toml": _toml,
    "Cargo.toml": _toml,
    "go.mod": _go,
    "Gemfile": _gems,
    "pom.xml": _pom,
    "build.gradle": _gradle,
    "build.gradle.kts": _gradle,
}
_BREAKS: dict[Callable[[Iterable[str]], Iterator[str]], tuple[tuple[str, str], ...]] = {
    _json: (("{", "{\n"), ("}", "\n}"), (",", ",\n")),
    _pom: (("<", "\n<"),),
}
NAMES = (*_BY_NAME, "requirements.txt")
