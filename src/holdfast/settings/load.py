"""Defaults, then the preset, the user's file, the project's file, the environment: last wins.

Invalid values are ignored and reported: a typo must not silence the guard. So is a value in the
project's file for a setting that only the user may set.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from holdfast.settings.table import BY_NAME, PRESETS, TABLE, USER, Setting, Value
from holdfast.wire import places

MOST_BYTES = 64 << 10
MOST_CHARS = 4_000  # of a text
SWITCHED = {"1": "on", "true": "on", "yes": "on", "0": "off", "false": "off", "no": "off"}
NAME = r"(?=.{1,64}$)[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*"


class Settings(NamedTuple):
    values: Mapping[str, Value]
    origins: Mapping[str, str] = MappingProxyType({})
    errors: tuple[str, ...] = ()

    def share(self, name: str) -> float:
        return float(self.values[name])

    def whole(self, name: str) -> int:
        return int(self.values[name])

    def word(self, name: str) -> str:
        return str(self.values[name])


def user_file() -> Path:
    return Path(places.home()) / "settings.toml"


def project_file(project: str) -> Path:
    return Path(project) / ".claude" / "holdfast.toml"


def file_of(project: Path | None) -> Path:
    return project_file(str(project)) if project else user_file()


def load(
    project: str = "",
    environ: Mapping[str, str] | None = None,
    changes: Mapping[str, object] | None = None,
) -> Settings:
    """Settings of a project, with origins. `changes` count as if the user's file said so."""
    environ = os.environ if environ is None else environ
    values: dict[str, Value] = {setting.name: setting.default for setting in TABLE}
    origins = dict.fromkeys(values, "default")
    errors: list[str] = []
    given = list(_values(project, environ, changes or {}, errors))
    preset = next((v for n, v, _ in reversed(given) if n == "preset" and _is_name(v)), "default")
    for name, share in PRESETS[str(preset).strip().lower()].items():
        values[name], origins[name] = share, f"preset {preset}"
    for name, value, origin in given:
        fitted = _fit(name, value, origin, errors)
        if fitted is not None:
            values[name], origins[name] = fitted, origin
    _keep_order(values, origins, errors)
    return Settings(values, origins, tuple(errors))


class GivenValue(NamedTuple):
    """A value that some place gives a setting, and the line of the file it stands in."""

    value: Value
    origin: str
    line: int | None = None


def overruled_values(project: str, loaded: Settings) -> dict[str, list[GivenValue]]:
    """By setting: the values that do not hold because another place is stronger, weakest first."""
    values_by_name = {one.name: [GivenValue(one.default, "default")] for one in TABLE}
    preset = str(loaded.values["preset"])
    for name, share in PRESETS[preset].items():
        values_by_name[name].append(GivenValue(share, f"preset {preset}"))
    for name, value, origin in _values(project, os.environ, {}, []):
        fitted = _fit(name, value, origin, [])
        if fitted is not None:
            values_by_name[name].append(GivenValue(fitted, origin, line_of(origin, name)))
    return {
        name: [one for one in values if one.origin != loaded.origins[name]]
        for name, values in values_by_name.items()
    }


def line_of(path: str, name: str) -> int | None:
    """The line of a settings file that sets this; none for a place that is no file."""
    if path.startswith("$") or "/" not in path:
        return None
    lines = places.read_small(path, MOST_BYTES).decode("utf-8", "replace").splitlines()
    for number, line in enumerate(lines, 1):
        key, equals, _ = line.partition("=")
        if equals and key.strip().strip("\"'") == name:
            return number
    return None


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value.strip().lower() in PRESETS


def _values(
    project: str, environ: Mapping[str, str], changes: Mapping[str, object], errors: list[str]
) -> Iterator[tuple[str, object, str]]:
    for name, value in {**_table_of(user_file(), errors), **changes}.items():
        yield name, value, str(user_file())
    if project:
        path = project_file(project)
        for name, value in _table_of(path, errors).items():
            if name in BY_NAME and BY_NAME[name].set_by == USER:
                errors.append(f"{path}: {name} is ignored: a project may not set it, only you may")
            else:
                yield name, value, str(path)
    present = frozenset(environ)  # os.environ encodes each name that it is asked for
    for setting in TABLE:
        for variable in (setting.also, setting.variable):
            if variable in present:
                yield setting.name, environ[variable], f"${variable}"


def _table_of(path: Path, errors: list[str]) -> dict[str, object]:
    data = places.read_small(str(path), MOST_BYTES + 1)  # a project's file is anyone's: no waiting
    if not data:
        return {}
    import tomllib  # only a user with a settings file pays for it

    try:
        if len(data) > MOST_BYTES:
            raise ValueError(f"longer than {MOST_BYTES:,} bytes")
        return tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        errors.append(f"{path} was not read: {error}")
        return {}


def _fit(name: str, value: object, origin: str, errors: list[str]) -> Value | None:
    setting = BY_NAME.get(name)
    if setting is None:
        errors.append(f"{origin}: there is no setting {name}")
        return None
    fitted = _as(setting, value)
    if name == "secret_patterns" and fitted:
        return "\n".join(_valid_patterns(str(fitted), origin, errors))
    if fitted is None:
        errors.append(f"{origin}: {name} = {value!r} is not valid ({_bounds(setting)})")
    return fitted


def _as(setting: Setting, value: object) -> Value | None:
    if setting.is_names:
        return value if isinstance(value, str) and _are_names(value) else None
    if setting.is_text:
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            value = "\n".join(value)
        return value if isinstance(value, str) and len(value) <= MOST_CHARS else None
    if setting.choices:
        return _choose(value, setting.choices)
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    if not setting.low <= number <= setting.high:
        return None
    return int(number) if isinstance(setting.default, int) else number


def _valid_patterns(lines: str, origin: str, errors: list[str]) -> Iterator[str]:
    import re  # only a user who sets one pays for it

    for line in filter(str.strip, lines.splitlines()):
        try:
            re.compile(line)
            yield line
        except (re.error, RecursionError, OverflowError) as error:
            errors.append(f"{origin}: secret_patterns: {line!r} is ignored: {error}")


def _choose(value: object, choices: tuple[str, ...]) -> str | None:
    """In any case of letters; on and off also as other tools write them."""
    word = str(value).strip().lower() if isinstance(value, (str, int)) else ""
    if word not in choices and "on" in choices:
        word = SWITCHED.get(word, "")
    return word if word in choices else None


def _are_names(value: str) -> bool:
    import re  # only a user who sets one pays for it

    return all(re.fullmatch(NAME, name.strip()) for name in value.split(",") if name.strip())


def _bounds(setting: Setting) -> str:
    if setting.is_names:
        return "names like build_done or build.done, at most 64 characters, commas between"
    if setting.is_text:
        return "a text"
    if setting.choices:
        return "one of " + ", ".join(setting.choices)
    return f"{setting.low:g} to {setting.high:g}"


def _keep_order(values: dict[str, Value], origins: dict[str, str], errors: list[str]) -> None:
    """Zones rise and alerts fall; a set that does not is put back to the defaults, and said."""
    for names in (
        ("zone_yellow", "zone_orange", "zone_red"),
        ("critical_left", "urgent_left", "advisory_left", "warning_left_least"),
        ("warning_left_least", "warning_left_most"),
    ):
        shares = [float(values[name]) for name in names]
        if shares != sorted(shares):
            errors.append(
                f"{', '.join(names)} must each be at least the one before; the defaults are used"
            )
            for name in names:
                values[name], origins[name] = BY_NAME[name].default, "default"
