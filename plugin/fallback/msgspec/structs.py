"""Structs: dataclasses that know how they are written as JSON."""

from __future__ import annotations

import dataclasses
import sys
from copy import copy
from functools import cache, partial
from typing import Any, NamedTuple, dataclass_transform, get_type_hints


class MsgspecError(Exception):
    """Any error of this package."""


class DecodeError(MsgspecError, ValueError):
    """This is not JSON."""


class ValidationError(DecodeError):
    """This JSON is not of the type asked for."""


class UnsetType:
    """The type of a field that was not written."""

    def __bool__(self) -> bool:
        return False


UNSET = UnsetType()


class Raw(bytes):
    """JSON that was not decoded."""


class Meta:
    """The least and the greatest number. What else can be stated is not checked here."""

    def __init__(
        self, ge: float = float("-inf"), le: float = float("inf"), **_others: object
    ) -> None:
        self.ge, self.le = ge, le


def field(*, name: str = "", **stated: Any) -> Any:
    """State more of a field than its default."""
    return dataclasses.field(metadata={"name": name}, **stated)


class Shape(NamedTuple):
    """What a struct's class says of itself."""

    frozen: bool = False
    array_like: bool = False
    forbid_unknown_fields: bool = False
    rename: Any = None
    tag_field: str = ""
    tag: str = ""


SHAPES: dict[type, Shape] = {}


@dataclass_transform(field_specifiers=(field,))
class StructMeta(type):
    """Makes a dataclass of each class with annotations."""

    def __new__(
        cls, name: str, bases: tuple[type, ...], space: dict[str, Any], **_stated: object
    ) -> StructMeta:
        return super().__new__(cls, name, bases, space)

    def __init__(
        cls, name: str, bases: tuple[type, ...], space: dict[str, Any], **stated: Any
    ) -> None:
        super().__init__(name, bases, space)
        if not bases:
            return
        for own, default in space.items():
            if own[:2] != "__" and type(default).__hash__ is None:  # each instance gets its own
                setattr(cls, own, dataclasses.field(default_factory=partial(copy, default)))
        parent = SHAPES.get(bases[0], Shape())
        known = {key: value for key, value in stated.items() if key in Shape._fields}
        SHAPES[cls] = parent._replace(**known)
        dataclasses.dataclass(frozen=SHAPES[cls].frozen)(cls)
        cls.__struct_fields__ = tuple(one.name for one in dataclasses.fields(cls))  # type: ignore[arg-type]


class Struct(metaclass=StructMeta):
    """The base of all structs."""


class FieldInfo(NamedTuple):
    """One field: its name in the class and in JSON, and its type."""

    name: str
    encode_name: str
    type: Any


@cache
def fields(kind: Any) -> tuple[FieldInfo, ...]:
    """The fields of a struct's class. Their types may be classes further down in its module."""
    hints: dict[str, Any] = {}
    for base in reversed(kind.__mro__[: kind.__mro__.index(Struct)]):
        hints |= get_type_hints(base, vars(sys.modules[base.__module__]), include_extras=True)
    rename = SHAPES[kind].rename
    return tuple(
        FieldInfo(one.name, one.metadata.get("name") or _renamed(one.name, rename), hints[one.name])
        for one in dataclasses.fields(kind)
    )


def _renamed(name: str, rename: Any) -> str:
    if rename == "camel":
        first, *others = name.split("_")
        return first + "".join(word.title() for word in others)
    return str(rename(name)) if rename else name


def asdict(struct: Any) -> dict[str, Any]:
    """The struct's fields by name."""
    return {name: getattr(struct, name) for name in struct.__struct_fields__}


replace = dataclasses.replace
