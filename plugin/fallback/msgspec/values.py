"""From plain values to typed ones, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

from msgspec.structs import SHAPES, Meta, Raw, UnsetType, ValidationError, shape_of

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
    origin, inside = get_origin(kind), get_args(kind)
    if kind in (Any, object):
        return _same
    if origin is Annotated:
        return _limited(converter(inside[0]), inside[1:])
    if origin is Literal:
        return _one_of(inside)
    if origin in (Union, UnionType):
        return _union([part for part in inside if part is not UnsetType])
    if kind in SHAPES:
        return lambda value: _struct(kind, value)
    if kind is Raw:
        return _raw
    if kind in (dict, Mapping) or (origin or object) in (dict, Mapping) or _is_counter(origin):
        return _dict(origin or kind, inside or (Any, Any))
    if (origin or kind) in (list, set, frozenset, Sequence):
        make = list if origin is Sequence else origin or kind
        return _sequence(make, converter(inside[0] if inside else Any))
    if (origin or kind) is tuple:
        return _tuple(inside or (Any, ...))
    if kind is float:
        return _float
    return _exactly(NoneType if kind is None else kind)


def _same(value: Any) -> Any:
    return value


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


def _raw(value: Any) -> Raw:
    return Raw(written(value))


def _one_of(choices: tuple[Any, ...]) -> Converter:
    def check(value: Any) -> Any:
        if type(value) not in (str, int, bool, NoneType) or value not in choices:
            raise _wrong(f"one of {choices}", value)
        return value

    return check


def _limited(inner: Converter, limits: tuple[Any, ...]) -> Converter:
    known = [limit for limit in limits if isinstance(limit, Meta)]

    def check(value: Any) -> Any:
        made = inner(value)
        for limit in known:
            size = len(made) if hasattr(made, "__len__") else 0
            if (
                (limit.ge is not None and made < limit.ge)
                or (limit.le is not None and made > limit.le)
                or (limit.lt is not None and made >= limit.lt)
                or (limit.min_length is not None and size < limit.min_length)
                or (limit.max_length is not None and size > limit.max_length)
            ):
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
    if type(value) is kind:
        return value
    shape = shape_of(kind)
    if shape.array_like:
        if not isinstance(value, list):
            raise _wrong("array", value)
        if len(value) < sum(known.is_required for known in shape.fields):
            raise ValidationError("Expected a longer `array`")
        pairs = list(zip(shape.fields, value, strict=False))
    else:
        if not isinstance(value, dict):
            raise _wrong("object", value)
        if shape.forbid_unknown_fields:
            unknown = value.keys() - {known.encode_name for known in shape.fields}
            if unknown:
                raise ValidationError(f"Object contains unknown field `{min(unknown)}`")
        if shape.tag and value.get(shape.tag_field, shape.tag) != shape.tag:
            raise ValidationError(f"Invalid value at `$.{shape.tag_field}`")
        written_as = [(known, known.encode_name) for known in shape.fields]
        pairs = [(known, value[name]) for known, name in written_as if name in value]
    given = {known.name: converter(known.type)(item) for known, item in pairs}
    try:
        return kind(**given)
    except TypeError as error:
        raise ValidationError(str(error)) from None


def _is_counter(origin: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, dict)


def _dict(kind: Any, inside: tuple[Any, ...]) -> Converter:
    make = kind if isinstance(kind, type) and issubclass(kind, dict) else dict
    key, item = converter(inside[0]), converter(inside[1] if len(inside) > 1 else int)
    numbers = inside[0] in (int, float)

    def check(value: Any) -> Any:
        if not isinstance(value, dict):
            raise _wrong("object", value)
        try:
            keys = [inside[0](name) if numbers else key(name) for name in value]
        except ValueError as error:
            raise ValidationError(str(error)) from None
        return make(zip(keys, map(item, value.values()), strict=True))

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
        return {_key(name): to_builtins(item, enc_hook) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_builtins(item, enc_hook) for item in value]
    if isinstance(value, str | int | float | NoneType):
        return value
    if enc_hook is None:
        raise TypeError(f"Encoding objects of type {type(value).__name__} is unsupported")
    return to_builtins(enc_hook(value))


def _plain_struct(value: Any, enc_hook: Callable[[Any], Any] | None) -> Any:
    shape = SHAPES[type(value)]
    inside = [(known, getattr(value, known.name)) for known in shape.fields]
    if shape.array_like:
        return [to_builtins(item, enc_hook) for _, item in inside]
    tag = {shape.tag_field: shape.tag} if shape.tag else {}
    return tag | {
        known.encode_name: to_builtins(item, enc_hook)
        for known, item in inside
        if not isinstance(item, UnsetType)
    }


def _key(name: Any) -> Any:
    return name if isinstance(name, str) else str(name)


def written(value: Any) -> bytes:
    """A plain value as JSON, in the fewest bytes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8")
