"""From plain values to typed ones, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

from msgspec.structs import SHAPES, Meta, Raw, UnsetType, ValidationError, asdict, fields

Converter = Callable[[Any], Any]
Value = TypeVar("Value")
LEAST, MOST = -(1 << 63), (1 << 64) - 1
BEYOND = 10**400  # stands for a number that no float holds, as 1e999


def convert(value: Any, type: type[Value]) -> Value:
    """The value as this type, or a ValidationError."""
    typed: Converter = converter(cast("Any", type))
    return cast("Value", typed(value))


@cache
def converter(kind: Any) -> Converter:
    """A function that makes values of this type from what `json` reads."""
    origin, inside = get_origin(kind) or kind, get_args(kind)
    if kind in (Any, object):
        return lambda value: value
    if origin is Annotated:
        return _limited(converter(inside[0]), inside[1:])
    if origin is Literal:
        return _one_of(inside)
    if origin in (Union, UnionType):
        return _union([part for part in inside if part is not UnsetType])
    if kind in SHAPES:
        return lambda value: _struct(kind, value)
    if kind is Raw:
        return lambda value: Raw(written(value))
    if origin is Mapping or (isinstance(origin, type) and issubclass(origin, dict)):
        return _dict(dict if origin is Mapping else origin, inside or (Any, Any))
    if origin in (list, set, frozenset, Sequence):
        make = list if origin is Sequence else origin
        return _sequence(make, converter(inside[0] if inside else Any))
    if origin is tuple:
        return _tuple(inside or (Any, ...))
    return _float if kind is float else _exactly(NoneType if kind is None else kind)


def _wrong(wanted: object, value: object) -> ValidationError:
    return ValidationError(f"Expected `{wanted}`, got `{type(value).__name__}`")


def _exactly(kind: type) -> Converter:
    def check(value: Any) -> Any:
        if type(value) is not kind or (kind is int and not LEAST <= value <= MOST):
            raise _wrong(kind.__name__, value)
        return value

    return check


def _float(value: Any) -> float:
    if type(value) not in (int, float) or value == BEYOND:
        raise _wrong("float", value)
    return float(value)


def _one_of(choices: tuple[Any, ...]) -> Converter:
    def check(value: Any) -> Any:
        if type(value) not in (str, int, bool, NoneType) or value not in choices:
            raise _wrong(f"one of {choices}", value)
        return value

    return check


def _limited(inner: Converter, limits: tuple[Any, ...]) -> Converter:
    """Of a number; a type of another kind states no `ge` or `le`."""

    def check(value: Any) -> Any:
        made = inner(value)
        for limit in limits:
            if isinstance(limit, Meta) and not limit.ge <= made <= limit.le:
                raise ValidationError(f"{made!r:.80} is out of bounds")
        return made

    return check


def _union(parts: list[Any]) -> Converter:
    tagged = {SHAPES[part].tag: part for part in parts if part in SHAPES and SHAPES[part].tag}
    others = [converter(part) for part in parts if part not in tagged.values()]
    tag_field = next((SHAPES[part].tag_field for part in tagged.values()), "")

    def choose(value: Any) -> Any:
        if tagged and isinstance(value, dict):
            kind = value.get(tag_field)
            if not isinstance(kind, str) or kind not in tagged:
                raise ValidationError(f"Invalid value {kind!r:.80} - at `$.{tag_field}`")
            return _struct(tagged[kind], value)
        for other in others:
            try:
                return other(value)
            except ValidationError:
                continue
        raise _wrong(" | ".join(map(str, parts)), value)

    return choose


def _struct(kind: type, value: Any) -> Any:
    shape, known = SHAPES[kind], fields(kind)
    if type(value) is kind:
        return value
    if not isinstance(value, list if shape.array_like else dict):
        raise _wrong("array" if shape.array_like else "object", value)
    if shape.array_like:
        pairs = list(zip(known, value, strict=False))
    else:
        if shape.forbid_unknown_fields and value.keys() - {one.encode_name for one in known}:
            raise ValidationError("Object contains an unknown field")
        if shape.tag and value.get(shape.tag_field, shape.tag) != shape.tag:
            raise ValidationError(f"Invalid value at `$.{shape.tag_field}`")
        pairs = [(one, value[one.encode_name]) for one in known if one.encode_name in value]
    given = {one.name: converter(one.type)(item) for one, item in pairs}
    try:
        return kind(**given)
    except TypeError as error:  # a required one is missing
        raise ValidationError(str(error)) from None


def _dict(kind: Any, inside: tuple[Any, ...]) -> Converter:
    key, item = converter(inside[0]), converter(inside[1] if len(inside) > 1 else int)
    read_key = inside[0] if inside[0] in (int, float) else key

    def check(value: Any) -> Any:
        if not isinstance(value, dict):
            raise _wrong("object", value)
        try:
            keys = [read_key(name) for name in value]
        except ValueError as error:
            raise ValidationError(str(error)) from None
        return kind(zip(keys, map(item, value.values()), strict=True))

    return check


def _sequence(kind: Any, item: Converter) -> Converter:
    def check(value: Any) -> Any:
        if not isinstance(value, list | tuple | set | frozenset):
            raise _wrong("array", value)
        return kind(map(item, value))

    return check


def _tuple(inside: tuple[Any, ...]) -> Converter:
    if inside[-1] is Ellipsis:
        return _sequence(tuple, converter(inside[0]))
    items = [converter(part) for part in inside]

    def check(value: Any) -> Any:
        if not isinstance(value, list | tuple) or len(value) != len(items):
            raise _wrong(f"array of length {len(items)}", value)
        return tuple(item(part) for item, part in zip(items, value, strict=True))

    return check


def to_builtins(value: Any, enc_hook: Callable[[Any], Any] | None = None) -> Any:
    """The value as `json` writes it."""
    if type(value) in SHAPES:
        return _plain_struct(value, enc_hook)
    if isinstance(value, Raw):
        return json.loads(value or b"null")
    if isinstance(value, dict):
        return {str(name): to_builtins(item, enc_hook) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_builtins(item, enc_hook) for item in value]
    if isinstance(value, str | int | float | NoneType):
        return value
    if enc_hook is None:
        raise TypeError(f"Encoding objects of type {type(value).__name__} is unsupported")
    return to_builtins(enc_hook(value))


def _plain_struct(value: Any, enc_hook: Callable[[Any], Any] | None) -> Any:
    shape = SHAPES[type(value)]
    if shape.array_like:
        return [to_builtins(item, enc_hook) for item in asdict(value).values()]
    names = {one.name: one.encode_name for one in fields(type(value))}
    tag = {shape.tag_field: shape.tag} if shape.tag else {}
    return tag | {
        names[name]: to_builtins(item, enc_hook)
        for name, item in asdict(value).items()
        if not isinstance(item, UnsetType)
    }


def written(value: Any) -> bytes:
    """A plain value as JSON, in the fewest bytes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8")
