"""What a hook leaves out of msgspec: the rest works, and what was left out can be had."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import holdfast

NOUGHT = "00000000-0000-0000-0000-000000000000"
PATHS = [str(Path(package.__path__[0]).parent) for package in (holdfast, msgspec)]
FIND = f"""
import sys
sys.path += {PATHS!r}
from holdfast.hook import lean_msgspec
"""


def _says(code: str) -> str:
    run = subprocess.run([sys.executable, "-ISc", FIND + code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.mark.requirement("C11")
def test_what_hooks_use_of_it_is_whole() -> None:
    code = """
lean_msgspec.load()
import msgspec
from datetime import datetime, UTC
class Kept(msgspec.Struct):
    name: str
    at: datetime
    raw: msgspec.Raw
one = Kept("a", datetime(2026, 1, 5, tzinfo=UTC), msgspec.Raw(b"[1.5]"))
data = msgspec.json.encode(msgspec.structs.replace(one, name="b"))
back = msgspec.json.decode(data, type=Kept)
print(back.name, back.at == one.at, bytes(back.raw), msgspec.convert({"a": 1}, dict[str, int]))
"""
    assert _says(code) == "b True b'[1.5]' {'a': 1}"


@pytest.mark.requirement("C11")
def test_no_stand_in_outlives_the_loading() -> None:
    code = """
lean_msgspec.load()
import msgspec, msgspec.toml, msgspec.inspect, uuid, decimal
print(uuid.UUID(int=0), decimal.Decimal("1.5"), msgspec.toml.__spec__.name)
print(msgspec.inspect.type_info(int).__class__.__name__)
placeholder = lean_msgspec.PlaceholderModule
print([name for name, one in sys.modules.items() if isinstance(one, placeholder)])
"""
    assert _says(code).split("\n") == [f"{NOUGHT} 1.5 msgspec.toml", "IntType", "[]"]


@pytest.mark.requirement("C11")
def test_annotations_that_are_texts_are_read_as_ever() -> None:
    code = """
lean_msgspec.load()
import msgspec
class Moored(msgspec.Struct):
    name: "str"
    depth: "int | None" = None
print(msgspec.json.decode(b'{"name": "quay", "depth": 3}', type=Moored))
"""
    assert _says(code) == "Moored(name='quay', depth=3)"


@pytest.mark.slow  # SQLAlchemy is most of a second
@pytest.mark.requirement("C11")
def test_what_is_loaded_later_finds_sys_modules_as_if_nothing_had_been() -> None:
    code = """
before = dict(sys.modules)
lean_msgspec.load()
print({name: one for name, one in before.items() if sys.modules.get(name) is not one})
fake = (type(None), lean_msgspec.PlaceholderModule)
print([name for name, one in sys.modules.items() if isinstance(one, fake)])
import typing_extensions, sqlalchemy
print(sqlalchemy.select(1))
"""
    assert _says(code).split("\n") == ["{}", "[]", "SELECT 1"]


@pytest.mark.requirement("C11")
def test_what_is_there_already_is_left_as_it_is() -> None:
    code = """
import msgspec.toml, uuid
before = msgspec.json, msgspec.toml, uuid
lean_msgspec.load()
print(before == (msgspec.json, msgspec.toml, sys.modules["uuid"]))
"""
    assert _says(code) == "True"


@pytest.mark.requirement("C11")
def test_a_version_that_will_not_have_it_is_loaded_whole() -> None:
    code = """
def refuse(self, name):
    raise AttributeError(name)
lean_msgspec.PlaceholderModule.__getattr__ = refuse
lean_msgspec.load(known=())
print("msgspec" in sys.modules, "uuid" in sys.modules)
import msgspec, uuid, decimal
print(msgspec.json.encode([uuid.UUID(int=0), decimal.Decimal("1.5")]).decode())
"""
    assert _says(code).split("\n") == ["False False", f'["{NOUGHT}","1.5"]']


@pytest.mark.requirement("C11")
@pytest.mark.parametrize("starts_again", [True, False])
def test_where_a_failed_start_is_final_only_known_versions_are_tried(starts_again: bool) -> None:
    code = f"""
lean_msgspec.load(known=(), starts_again={starts_again})
print("msgspec" in sys.modules)
"""
    assert _says(code) == str(starts_again)


@pytest.mark.requirement("C11")
def test_the_installed_version_is_one_that_is_known() -> None:
    """Else hooks with Python 3.12 load all of msgspec, and are slower: try it, and add it."""
    code = "print(lean_msgspec.installed_version().startswith(lean_msgspec.KNOWN))"
    assert _says(code) == "True"
    assert _says("print(lean_msgspec.installed_version())") == msgspec.__version__


@pytest.mark.requirement("C11")
def test_a_version_that_cannot_be_read_is_not_known(tmp_path: Path) -> None:
    """As of msgspec 0.19, whose file has it in a JSON text."""
    path = tmp_path / "msgspec" / "_version.py"
    path.parent.mkdir()
    path.write_text("""version_json = '{"version": "0.19.0"}'\n""")
    code = f"sys.path.insert(0, {str(tmp_path)!r}); print([lean_msgspec.installed_version()])"
    assert _says(code) == "['']"


@pytest.mark.requirement("C11", "X1")
def test_a_typing_that_makes_its_forward_references_when_asked_is_left_alone() -> None:
    """As of Python 3.14: there is no such name in the module until it is asked for."""
    code = """
import typing
reference = typing.ForwardRef
vars(typing).pop("ForwardRef", None)
def made(name):
    if name == "ForwardRef":
        return reference
    raise AttributeError(name)
typing.__getattr__ = made
lean_msgspec.load()
import msgspec
print(msgspec.json.decode(b"[1]", type=list[int]), "ForwardRef" in vars(typing))
"""
    assert _says(code) == "[1] False"
