"""Whether one run proves what another would: the same tests in another spelling, or more of them.

A run is split into its program, its targets, its filters, and what makes it a different run (a tag,
a feature, a folder). It covers another run if it is not narrower and differs in nothing else.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise, takewhile

import msgspec

from holdfast.record import shell

_PREFIXES = (
    *(("npx",), ("bunx",), ("pnpx",), ("bundle", "exec")),
    *((tool, "run") for tool in ("uv", "poetry", "pipenv", "pdm", "rye", "hatch")),
)
_SCRIPTS = "npm pnpm yarn bun mise make just task rake composer tox nox"
_SCRIPTED = frozenset(_SCRIPTS.split())
_TOOL_WORDS = f"{_SCRIPTS} go cargo dotnet gradle gradlew mvn deno swift mix ruff"
_TOOLS = frozenset(_TOOL_WORDS.split())
_FILTER_WORDS = (
    "-k -run --run -t --grep -g --filter --testNamePattern --test-name-pattern --only -m "
    "--ignore --ignore-glob --ignore-pattern --deselect --exclude --skip -skip "
    "--testPathIgnorePatterns -skip-testing --lf --last-failed --onlyChanged"
)
_FILTERS = frozenset(_FILTER_WORDS.split())
_BY_NAME_WORDS = "-k -run --run -t --grep -g --testNamePattern --test-name-pattern"
_BY_NAME = frozenset(_BY_NAME_WORDS.split())
# Flags of pytest: their values are no targets and change nothing; and flags that run only a part.
_PYTEST_VALUE_WORDS = (
    "-p -n -W -o -r --tb --maxfail --cov --cov-report --cov-config --durations --timeout --color "
    "--rootdir --basetemp --log-level --log-cli-level --junitxml --junit-xml --dist --reruns "
    "--numprocesses --override-ini --capture --show-capture --import-mode --verbosity --seed"
)
_PYTEST_VALUES = frozenset(_PYTEST_VALUE_WORDS.split())
_PARTIAL_WORDS = (
    "--sw --stepwise --co --collect-only --setup-plan --setup-only --fixtures --markers"
)
_PARTIAL = frozenset(_PARTIAL_WORDS.split())
_STOPS_EARLY_WORDS = "-x --exitfirst --maxfail -failfast --failfast --fail-fast --bail"
_STOPS_EARLY = frozenset(_STOPS_EARLY_WORDS.split())
_CHANGE_WORDS = "-tags --tags --features --release --config -c -p --package --project -C"
_CHANGES = frozenset(_CHANGE_WORDS.split())
_ALONE = _PARTIAL | {"--release", "--lf", "--last-failed", "--onlyChanged"}  # no value follows
_XCODE = "xcodebuild"  # only these flags select what runs; the others say where and how
_ONLY, _SKIP, _SCHEME = "-only-testing:", "-skip-testing:", "-scheme"
_TESTS = {"pytest", "jest", "vitest", "mocha", "rspec", "phpunit", "unittest"}
_LINTS = {"golangci-lint", "eslint", "flake8", "pylint", "mypy"}
_NODE_TESTS = "node --test"
_TESTS_OF = {"go test", "cargo test", _NODE_TESTS} | _TESTS
_LINTS_OF = {"go vet", "cargo clippy", "ruff check"} | _LINTS
_BUILDS_OF = {"go build", "cargo build", "cargo check", "tsc"}
_GO_TESTS_BUILT = "go test -c"
_PATHED = (
    _TESTS_OF | _LINTS_OF | _BUILDS_OF | {_GO_TESTS_BUILT}
)  # in a folder they do the same as from above with that folder as target
_ROOTED = frozenset({"mise", "just", "task"})  # they run at the root, from any folder
_SCRIPTS_OF = {
    "npm pnpm yarn bun": {"jest", "vitest", "mocha", "eslint", "tsc", _NODE_TESTS},
    "tox nox": {"pytest", "unittest", "ruff check", "flake8", "mypy"},
    "rake": {"rspec"},
    "composer": {"phpunit"},
}
_OF_A_LANGUAGE = {tool: of for tools, of in _SCRIPTS_OF.items() for tool in tools.split()}
_COMPILES = frozenset({"go test", _GO_TESTS_BUILT, "go vet", "cargo test", "cargo clippy"})
_BUILT = frozenset({"go build", _GO_TESTS_BUILT})
_EVERYTHING = frozenset({"ci", "all", "full", "everything"})
# What people call a test or a build, and the programs that are one.
_TEST = ("test", "pytest", "jest", "vitest", "playwright", "cypress", "tox", "nox")
_TESTS_BY_NAME_WORDS = (
    "spec specs check checks typecheck unittest doctest ctest nextest runtests nosetests gotestsum "
    "phpunit mocha rspec ginkgo busted behave"
)
_TESTS_BY_NAME = frozenset(_TESTS_BY_NAME_WORDS.split())
_TEST_PROGRAMS = frozenset({"ava", "tap", "tape", "prove", "karma", "bats", "trial"})  # no words
_IN_NAMES = frozenset({"test", "tests", "check", "checks"})  # `run_tests.sh`, `check_links.py`
# `make_test_data.py` and `generate_tests.py` run none.
_MAKING_WORDS = "build create download fetch gen generate install make seed setup update write"
_MAKING = frozenset(_MAKING_WORDS.split())
_BUILD_WORDS = (
    "build compile make tsc lint vet fmt clippy mypy ruff gcc cargo gradle mvn cmake webpack vite "
    "prettier eslint pyright flake8 pylint nvcc"
)
_BUILD = frozenset(_BUILD_WORDS.split())
# They run a file, which is the actual program, or a piece of code, which only tries something.
_INTERPRETER_WORDS = "python python3 node tsx ts-node ruby perl php julia bash sh zsh"
INTERPRETERS = frozenset(_INTERPRETER_WORDS.split())
_CODE = frozenset({"-c", "-e", "-p", "--eval"})
_ASKS = frozenset({"--version", "--help"})
# They query or work elsewhere: their arguments may mention tests, but they run none.
_REMOTE_WORDS = "gh glab ssh scp curl wget git docker kubectl gcloud aws psql osascript cd"
_REMOTE = frozenset(_REMOTE_WORDS.split())
_INSTALLERS = frozenset({"pip", "pip3", "uv", "brew", "apt", "apt-get", "dnf", "pacman", "pipx"})
_PACKAGES = _INSTALLERS | {"npm", "pnpm", "yarn", "bun", "cargo", "gem", "composer", "poetry"}
_INSTALLING = frozenset({"install", "add", "i", "remove", "uninstall", "upgrade"})
_PYTHON_VALUES = frozenset({"-W", "-X"})  # flags of the interpreter with a value
_MOST_WORDS = 3  # the words that tell what a command is: `npm run build web`
REMEMBERED = 512  # a session runs the same few commands over and over: 0.15x of a bare start
_PREPARING = ("fmt", "format", "install", "clean", "generate")


class Run(msgspec.Struct, frozen=True, gc=False):
    """One simple command, split into its parts."""

    program: str
    targets: frozenset[str]
    filters: frozenset[str]
    changes: frozenset[str]


@lru_cache(REMEMBERED)
def kind(core: str) -> str:
    """Return whether a line is a test, a build, or neither. The programs and their verbs decide,
    not the folders, files and texts among their arguments."""
    found = {_kind(_without_prefix(shell.settings_of(part)[1])) for part in core.split(" && ")}
    return "test" if "test" in found else "build" if "build" in found else ""


def _kind(words: list[str]) -> str:
    told = " ".join(_telling(words)).lower()
    parts = told.replace(":", " ").replace("/", " ").replace("-", " ").replace(".", " ").split()
    if any(
        part.startswith(_TEST) or part in _TESTS_BY_NAME or _names_tests(part) for part in parts
    ):
        return "test"
    if told and _basename(words[0]) in _TEST_PROGRAMS:
        return "test"
    return "build" if any(part in _BUILD for part in parts) else ""


def _names_tests(name: str) -> bool:
    """Whether a name of several words begins or ends with a word for tests: `run_tests`."""
    first, _, rest = name.partition("_")
    return first not in _MAKING and not _IN_NAMES.isdisjoint((first, rest.rpartition("_")[2]))


def _telling(words: list[str]) -> list[str]:
    """Return the program, and the words that tell what it does."""
    program = _basename(words[0]) if words else ""
    if not program or program in _REMOTE or not _ASKS.isdisjoint(words):
        return []
    if program in INTERPRETERS:
        return [] if _CODE.intersection(words) else _script_words(program, words[1:])
    bare = [word for word in words[1:] if is_bare(word)]
    if program in _PACKAGES and bare[:1] and bare[0] in _INSTALLING:
        return [program, bare[0]]  # `pip install pytest` runs no test
    if program in _TOOLS and bare[:1] == ["t"]:
        return [program, "test"]
    if program == "xcodebuild":  # by default it builds, but it also lists what there is
        return [word for word in bare if word in ("build", "test")]
    flags = [word for word in words if word == "--check"]
    return [words[0], *bare[: _MOST_WORDS - 1], *flags]


def _script_words(program: str, words: list[str]) -> list[str]:
    """Return the script that an interpreter runs, and `test` if that comes right after it, as in
    `python manage.py test`."""
    if program == "node" and "--test" in words:
        return [_NODE_TESTS]
    given = [word for word in words if word[0] != "-"]
    return given[: 2 if given[1:2] in (["test"], ["tests"]) else 1]


def _basename(word: str) -> str:
    """Return the name of a program without its folder and, for Python, without its version."""
    name = word.rpartition("/")[2]
    return "python" if name == "py" or name.rstrip(".0123456789") == "python" else name


@lru_cache(REMEMBERED)
def program_of(core: str) -> str:
    """Return the program of a line with its verb or script: `cargo test`, `make charts`, `gh pr
    view`. Lines that differ only in targets and flags share it. Empty for a piece of code."""
    words = _without_prefix(shell.settings_of(parts(core)[-1].rpartition(" && ")[2])[1])
    program, *more = words or [""]
    program = _basename(program)
    if program == "node" and "--test" in more:
        return _NODE_TESTS
    if program in INTERPRETERS:
        scripts = [word for word in more if word[0] != "-"]
        return scripts[0] if scripts and _CODE.isdisjoint(more) else ""
    if program in _TOOLS:
        verbs = [word for word in more if word[0] != "-" and "=" not in word]
        return " ".join([program, *verbs[: 2 if verbs[:1] == ["run"] else 1]])
    return " ".join([program, *takewhile(is_bare, more[: _MOST_WORDS - 1])])


def is_bare(word: str) -> bool:
    """Whether this is a word such as `test` or `lint:web`, not a flag, a file, a text or an
    address."""
    bare = word.replace(":", "_").replace("-", "_")
    return word[0] != "-" and bare.isidentifier() and word not in ("run", "exec")


def parts(core: str) -> list[str]:
    """Return the simple commands that have to pass for a line to pass, each with its folder."""
    found = core.split(" && ")
    folder = found.pop(0) + " && " if core.startswith("cd ") and len(found) > 1 else ""
    judged = [one for one in found if kind(one) and not _prepares(one)]
    return [folder + one for one in judged or found]


def _prepares(part: str) -> bool:
    return part.rpartition(" ")[2].rpartition(":")[2] in _PREPARING


def targets(core: str) -> list[str]:
    """Return the files and folders that a line runs on."""
    return [one for part in parts(core) for one in _run(part).targets]


def covers(passed: str, failed: str) -> bool:
    """Whether a simple command that passed proves that a failed simple command would pass too."""
    if passed == failed:
        return True
    by, of = _run(passed), _run(failed)
    if by.program != of.program:
        return _stands_for(by, of)
    if by.changes != of.changes or not all(_selects(one, of.filters) for one in by.filters):
        return False
    if not _runs_all(by.program):
        return by.targets == of.targets
    if not by.targets:
        return True
    return bool(of.targets) and all(any(_holds(a, b) for a in by.targets) for b in of.targets)


def _selects(wide: str, filters: frozenset[str]) -> bool:
    """Whether a filter by name selects everything that the other filters select: `-run TestLake`
    also runs `TestLakeDepth`."""
    flag, _, name = wide.partition("=")
    wanted = _alternatives(name)
    if wide in filters or flag not in _BY_NAME or not all(map(_is_plain, wanted)):
        return wide in filters
    narrow = [_alternatives(one[len(flag) + 1 :]) for one in filters if one.startswith(f"{flag}=")]
    return any(
        all(" not " not in f" {part}" and any(one in part for one in wanted) for part in some)
        for some in narrow
    )


def _alternatives(names: str) -> list[str]:
    return names.strip("'\"").replace(" or ", "|").split("|")


def _is_plain(name: str) -> bool:
    return name.replace("_", "").isalnum()


def runs_test(passed: str, name: str) -> bool:
    """Whether a run that passed has run this test: it names the test or a part of its name, and no
    other filter leaves it out."""
    by = _run(passed)
    told = [one for one in by.filters if one.partition("=")[0] in _BY_NAME]
    if len(told) < len(by.filters):
        return False
    if told:
        return any(
            _selects(f"{flag}={part}", frozenset({f"{flag}={name}"}))
            for flag, _, value in (one.partition("=") for one in told)
            for part in _alternatives(value)
        )
    return any(_holds(target, name) for target in by.targets)


def stops_early(core: str) -> bool:
    """Whether it ends at its first failure, so that the result of the rest is unknown."""
    return any(word.partition("=")[0] in _STOPS_EARLY for word in core.split())


def _runs_all(program: str) -> bool:
    """Whether the program runs everything if it gets no target; `python` or `curl` does not."""
    return program in _PATHED or program.partition(" ")[0] in (*_TOOLS, _XCODE)


def _holds(wide: str, narrow: str) -> bool:
    base = wide.removesuffix("/...")
    return narrow in (wide, base) or narrow.startswith((f"{base}/", f"{base}:", f"{base}["))


def _stands_for(by: Run, of: Run) -> bool:
    """Whether one program replaces another: a script of the project that tests, checks or builds
    all of it, or a run that has to build its targets first."""
    if by.program.startswith(_XCODE) and of.program.startswith(_XCODE):
        return by.program.endswith("test") and by.changes == of.changes
    if by.targets or by.filters or by.changes:
        return by.program in _COMPILES and of.program in _BUILT and _reaches(by, of)
    tool, _, script = by.program.partition(" ")
    said = script.replace("-", ":").split(":")
    if by.program in _COMPILES:
        return of.program in _BUILDS_OF | _BUILT and of.program.startswith(tool) and not of.changes
    if tool not in _SCRIPTED or of.program not in _OF_A_LANGUAGE.get(tool, _PATHED):
        return False
    tested = (_TESTS_OF | _BUILDS_OF | _BUILT) - {"tsc"}
    known = {"test": tested, "lint": _LINTS_OF, "build": _BUILDS_OF}
    more = {change.partition("=")[2] for change in of.changes}
    return of.program in known.get(said[0], ()) and (
        more <= set(said[1:]) or not _EVERYTHING.isdisjoint(said)
    )


def _reaches(by: Run, of: Run) -> bool:
    """Whether this run builds everything that the other builds, however few tests it runs."""
    same = by.changes == of.changes and bool(of.targets)
    return same and all(any(_holds(a, b) for a in by.targets) for b in of.targets)


@lru_cache(REMEMBERED)
def _run(part: str) -> Run:
    folder = ""
    if part.startswith("cd ") and " && " in part:
        folder, _, part = part.removeprefix("cd ").partition(" && ")
    settings, own = shell.settings_of(part)
    words = _without_prefix(_join_quoted(own) if "'" in part or '"' in part else own)
    if words[:1] == [_XCODE]:
        return _xcode(words, settings)
    program = _basename(words.pop(0)) if words else ""
    if program == "node" and "--test" in words:
        program = _NODE_TESTS
    if program == "unittest" and words[:1] == ["discover"]:
        del words[0]
    if program in _TOOLS:
        program = f"{program} {_script(words)}".strip()
    if program.startswith("go "):
        program = _GO_TESTS_BUILT if "-c" in words else program
        outs = [at + 1 for at, word in enumerate(words) if word == "-o"]
        words = [w for at, w in enumerate(words) if w not in ("-c", "-o") and at not in outs]
    if program == "pytest":
        words = list(_for_pytest(words))
    targets, filters, changes = _sorted_out(words)
    changes |= set(settings)
    if folder and program in _PATHED:
        targets = {f"{folder}/{one}" for one in targets} or {folder}
    elif folder and program.partition(" ")[0] not in _ROOTED:
        changes.add(f"in {folder}")
    if program.startswith("go ") and not targets and "./..." not in words:
        targets = {"."}
    return Run(program, frozenset(targets), frozenset(filters), frozenset(changes))


def _join_quoted(words: list[str]) -> list[str]:
    """Join a quoted text into one word: `-k 'ebb and flow'`."""
    found: list[str] = []
    mark = ""
    for word in words:
        if mark:
            found[-1] += f" {word}"
        else:
            found.append(word)
        quotes = [one for one in word if one in "'\""]
        for one in quotes:
            mark = "" if one == mark else mark or one
    return found


def _for_pytest(words: list[str]) -> Iterator[str]:
    """Drop flags that change nothing, and join the values of `-k` and `-m` with `=`."""
    skips = False
    for word in words:
        if skips:
            skips = False
        elif word in _PYTEST_VALUES:
            skips = True
        elif word.partition("=")[0] in _PYTEST_VALUES:
            continue
        elif word[:2] in ("-k", "-m") and len(word) > 2:
            yield f"{word[:2]}={word[2:].lstrip('=')}"
        else:
            yield word


def _xcode(words: list[str], settings: list[str]) -> Run:
    plain = [word.replace("'", "").replace('"', "") for word in words]
    scheme = [f"{_SCHEME}={b}" for a, b in pairwise(plain) if a == _SCHEME]
    return Run(
        f"{_XCODE} {'test' if 'test' in plain else 'build'}",
        frozenset(word.removeprefix(_ONLY) for word in plain if word.startswith(_ONLY)),
        frozenset(word for word in plain if word.startswith(_SKIP)),
        frozenset([*scheme, *settings]),
    )


def _without_prefix(words: list[str]) -> list[str]:
    called = (_basename(words[0]), *words[1:2]) if words else ()
    if called == ("coverage", "run"):
        own = words[2:]
        module = own[own.index("-m") + 1 :] if "-m" in own else []
        return _without_prefix(module or ["python", *own])
    if called[:1] == ("python",) and (module := _module(words)):
        return _without_prefix(module)
    for prefix in _PREFIXES:
        if called[: len(prefix)] == prefix and len(words) > len(prefix):
            return _without_prefix(words[len(prefix) :])
    for at in (1, 2):  # a wrapper that runs another tool: `trace test npm run test`
        if words[at : at + 1] and words[at] in _TOOLS and len(words) > at + 1:
            return words if called[0] in _TOOLS | _REMOTE | _INSTALLERS else words[at:]
    return words


def _module(words: list[str]) -> list[str]:
    """Return the module that Python runs, with its arguments; empty if it runs something else."""
    for before, (at, word) in zip(words, enumerate(words[1:], 1), strict=False):
        if word == "-m":
            return words[at + 1 :]
        if word[0] != "-" and before not in _PYTHON_VALUES:
            break
    return []


def _script(words: list[str]) -> str:
    """Remove the script or subcommand from the words, and return it."""
    for at, word in enumerate(words):
        if word in ("run", "--"):
            continue
        if not word.startswith("-"):
            del words[at]
            word = word.removesuffix(":fix").removesuffix("-fix")  # fails like the plain one
            return {"t": "test", "tests": "test"}.get(word, word)
    return ""


def _sorted_out(words: list[str]) -> tuple[set[str], set[str], set[str]]:
    """Return targets, filters, and what makes it a different run. Other flags change nothing."""
    targets: set[str] = set()
    filters: set[str] = set()
    changes: set[str] = set()
    waiting = ""
    for word in words:
        flag, sign, value = word.partition("=")
        kept = (
            filters
            if flag in _FILTERS or flag in _PARTIAL
            else changes
            if flag in _CHANGES
            else None
        )
        if waiting:
            (filters if waiting in _FILTERS else changes).add(f"{waiting}={word}")
            waiting = ""
        elif kept is not None and (sign or flag in _ALONE):
            kept.add(f"{flag}={value}")
        elif kept is not None:
            waiting = flag
        elif word.startswith("-D"):
            changes.add(word)
        elif not word.startswith("-") and not word[0].isdigit() and word not in ("run", "--"):
            name = word.strip("'\"").removeprefix("./").rstrip("/")
            targets |= {name} - {"...", ".", ""}
    return targets, filters, changes
