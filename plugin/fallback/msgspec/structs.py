"""Structs: classes with typed fields that know how they are written as JSON."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, ClassVar, dataclass_transform, get_origin, get_type_hints


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
REQUIRED = UnsetType()


class Raw(bytes):
    """JSON that was not decoded."""


@dataclass(frozen=True, slots=True)
class Meta:
    """Limits of a number or a length. Texts for schemas are not kept."""

    ge: float | None = None
    le: float | None = None
    lt: float | None = None
    min_length: int | None = None
    max_length: int | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a struct. Without a default it has to be given."""

    name: str
    encode_name: str
    default: Any = REQUIRED
    default_factory: Any = None
    type: Any = None

    @property
    def is_required(self) -> bool:
        return self.default is REQUIRED and self.default_factory is None

    def fresh_default(self) -> Any:
        if self.default_factory is not None:
            return self.default_factory()
        return self.default.copy() if type(self.default) in (list, dict, set) else self.default


def field(*, default: Any = REQUIRED, default_factory: Any = None, name: str = "") -> Any:
    """State more of a field than its default."""
    return Field("", name, default, default_factory)


@dataclass(slots=True)
class Shape:
    """What a struct's class says of itself."""

    fields: tuple[Field, ...] = ()
    frozen: bool = False
    array_like: bool = False
    forbid_unknown_fields: bool = False
    rename: Any = None
    tag_field: str = ""
    tag: str = ""
    is_resolved: bool = False


SHAPES: dict[type, Shape] = {}
_SETTINGS = ("frozen", "array_like", "forbid_unknown_fields", "rename", "tag_field", "tag")


@dataclass_transform(field_specifiers=(field,))
class StructMeta(type):
    """Makes the class of a struct from its annotations."""

    def __new__(
        cls, name: str, bases: tuple[type, ...], space: dict[str, Any], **said: Any
    ) -> StructMeta:
        parents = [SHAPES[base] for base in bases if base in SHAPES]
        inherited = {key: getattr(parent, key) for parent in parents for key in _SETTINGS}
        inherited |= {key: said[key] for key in _SETTINGS if key in said}
        fields = {known.name: known for parent in parents for known in parent.fields}
        shape = Shape(**inherited)
        for own, default in _own_fields(space):
            fields[own] = _as_field(own, default, shape.rename)
            space.pop(own, None)
        shape.fields = tuple(fields.values())
        slots = tuple(own for own in fields if not any(_has(base, own) for base in bases))
        names = {"__slots__": slots, "__match_args__": tuple(fields)}
        names["__struct_fields__"] = tuple(fields)
        made = super().__new__(cls, name, bases, space | names)
        SHAPES[made] = shape
        return made


def _own_fields(space: dict[str, Any]) -> list[tuple[str, Any]]:
    annotations = space.get("__annotations__")
    if annotations is None and "__annotate_func__" in space:  # from Python 3.14 on
        annotations = space["__annotate_func__"](2)
    names = [name for name, kind in (annotations or {}).items() if not _is_of_class(kind)]
    return [(name, space.get(name, REQUIRED)) for name in names]


def _is_of_class(kind: object) -> bool:
    return get_origin(kind) is ClassVar or (isinstance(kind, str) and kind.startswith("ClassVar"))


def _has(base: type, name: str) -> bool:
    return base in SHAPES and any(known.name == name for known in SHAPES[base].fields)


def _as_field(name: str, default: Any, rename: Any) -> Field:
    written = _renamed(name, rename)
    if isinstance(default, Field):
        stated = default.encode_name or written
        return Field(name, stated, default.default, default.default_factory)
    return Field(name, written, default)


def _renamed(name: str, rename: Any) -> str:
    if rename == "camel":
        first, *others = name.split("_")
        return first + "".join(word.title() for word in others)
    return str(rename(name)) if callable(rename) else name


class Struct(metaclass=StructMeta):
    """The base of all structs."""

    def __init__(self, *given: Any, **named: Any) -> None:
        shape = SHAPES[type(self)]
        if len(given) > len(shape.fields):
            raise TypeError("Extra positional arguments provided")
        for known, value in zip(shape.fields, given, strict=False):
            object.__setattr__(self, known.name, value)
        for known in shape.fields[len(given) :]:
            if known.name in named:
                value = named.pop(known.name)
            elif known.is_required:
                raise TypeError(f"Missing required argument '{known.name}'")
            else:
                value = known.fresh_default()
            object.__setattr__(self, known.name, value)
        if named:
            raise TypeError(f"Unexpected keyword argument '{next(iter(named))}'")
        if (after := getattr(self, "__post_init__", None)) is not None:
            after()

    def __setattr__(self, name: str, value: Any) -> None:
        if SHAPES[type(self)].frozen:
            raise AttributeError(f"immutable type: '{type(self).__name__}'")
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return values(self) == values(other)

    def __hash__(self) -> int:
        if not SHAPES[type(self)].frozen:
            raise TypeError(f"unhashable type: '{type(self).__name__}'")
        return hash(tuple(values(self).values()))

    def __copy__(self) -> Any:
        return replace(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(values(self).values())

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in values(self).items())
        return f"{type(self).__name__}({inside})"


def shape_of(kind: type) -> Shape:
    """The class's shape, with the types of its fields. They may name classes further down."""
    shape = SHAPES[kind]
    if not shape.is_resolved:
        hints: dict[str, Any] = {}
        for base in reversed(kind.__mro__):
            if base in SHAPES and base is not Struct:
                space = vars(sys.modules[base.__module__])
                hints |= get_type_hints(base, space, include_extras=True)
        shape.fields = tuple(
            Field(one.name, one.encode_name, one.default, one.default_factory, hints[one.name])
            for one in shape.fields
        )
        shape.is_resolved = True
    return shape


def values(struct: Any) -> dict[str, Any]:
    """The struct's fields by name."""
    return {known.name: getattr(struct, known.name) for known in SHAPES[type(struct)].fields}


asdict = values


def fields(kind: type) -> tuple[Field, ...]:
    """The fields of a struct's class."""
    return shape_of(kind).fields


def replace(struct: Any, **changed: Any) -> Any:
    """A copy with other values."""
    return type(struct)(**{**values(struct), **changed})
