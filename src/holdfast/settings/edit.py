"""Write or remove one setting in a settings file; every other line stays as it is."""

import json
import re
import tomllib
from difflib import get_close_matches
from pathlib import Path

from holdfast.settings import load
from holdfast.settings.table import BY_NAME, USER, Value
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert


def no_such_setting(name: str) -> HoldfastError:
    near = get_close_matches(name, BY_NAME, 1)
    meant = f"; did you mean {near[0]}?" if near else ""
    words = f"there is no setting {inert(name, 80)}{meant}"
    return HoldfastError(words, "`holdfast settings` lists them", 2)


def check(name: str, text: str, project: Path | None = None) -> Value:
    """The value that `text` stands for; an error where the file may not say so."""
    hint = f"`holdfast settings {name}` shows what it means and who may set it"
    if project and BY_NAME[name].set_by == USER:
        words = f"a project may not set {name}: only you may, in your own file"
        raise HoldfastError(words, hint, 2)
    before = load.load(environ={})
    after = load.load(environ={}, changes={name: text})
    if after.origins[name] != str(load.user_file()):  # not used
        reasons = [error for error in after.errors if error not in before.errors] or after.errors
        raise HoldfastError(reasons[-1].removeprefix(f"{load.user_file()}: "), hint, 2)
    return after.values[name]


def value_in(path: Path, name: str) -> object:
    """What the file itself says; None where it does not name the setting."""
    return _parse(path, _text(path)).get(name)


def write(name: str, value: Value, path: Path | None = None) -> Path:
    """The file that now says so."""
    path = path or load.user_file()
    line = f"{name} = {json.dumps(value, ensure_ascii=False)}"
    text = _text(path)
    made = _with_line(text, name, line)
    by_variable = f", or set the variable {BY_NAME[name].variable}"
    wanted = {**_parse(path, text), name: value}
    _replace(path, made, wanted, f"put {line} into {path} yourself", by_variable)
    return path


def remove(name: str, path: Path) -> None:
    text = _text(path)
    left = _parse(path, text)
    left.pop(name, None)
    made = re.sub(rf"(?m)^[ \t]*{name}[ \t]*=[^\n]*\n?", "", text)
    _replace(path, made, left, f"remove {name} from {path} yourself")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8") if path.exists() else ""
    except (OSError, ValueError) as error:
        raise HoldfastError(f"{path} cannot be read: {error}", exit_code=4) from None


def _parse(path: Path, text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except ValueError as error:
        hint = "correct that line of the file, or remove it; then run this again"
        words = f"{path} was left as it is: not valid TOML, {error}"
        raise HoldfastError(words, hint, 4) from None


def _replace(
    path: Path, made: str, wanted: dict[str, object], by_hand: str, instead: str = ""
) -> None:
    """Only a text that says exactly what is wanted replaces the file: a setting may be in a form
    that no line editor understands. `by_hand` and `instead` say what to do then."""
    try:
        if tomllib.loads(made) != wanted:
            raise ValueError("the setting is written in an unusual form there")
        places.make_folder(str(path.parent))
        places.replace_whole(str(path.resolve()), made.encode(), flush=True)
    except OSError as error:
        words = f"{path} cannot be written: {error.strerror or error}"
        raise HoldfastError(words, f"make its folder writable{instead}", 4) from None
    except ValueError as error:
        raise HoldfastError(f"{path} was left as it is: {error}", by_hand, 4) from None


def _with_line(text: str, name: str, line: str) -> str:
    """In place of the line that is there, else before the first table, else at the end."""
    table = re.search(r"(?m)^[ \t]*\[", text)
    top, rest = (text[: table.start()], text[table.start() :]) if table else (text, "")
    changed, count = re.subn(rf"(?m)^[ \t]*{name}[ \t]*=[^\n]*$", lambda _: line, top)
    if not count:
        changed = f"{top}\n{line}\n" if top and not top.endswith("\n") else f"{top}{line}\n"
    return changed + rest
