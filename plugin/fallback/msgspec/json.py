"""Decode and encode JSON as msgspec does: strictly, and typed."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import isfinite
from typing import Any, Generic, TypeVar, cast

from msgspec.structs import DecodeError
from msgspec.values import BEYOND, converter, to_builtins, written

Value = TypeVar("Value")


class Decoder(Generic[Value]):
    """Decodes one type."""

    def __init__(self, type: Any = Any) -> None:
        self._type = type

    def decode(self, data: bytes | str) -> Value:
        plain = _read(data)
        return cast("Value", converter(self._type)(plain))


def decode(data: bytes | str, *, type: Any = Any) -> Any:
    """The value in these bytes, as this type."""
    return Decoder[Any](type).decode(data)


def encode(value: Any, *, enc_hook: Callable[[Any], Any] | None = None) -> bytes:
    """The value as JSON, in the fewest bytes."""
    return written(to_builtins(value, enc_hook))


def format(data: bytes, *, indent: int = 2) -> bytes:
    """The same JSON with line ends and blanks."""
    return json.dumps(json.loads(data), ensure_ascii=False, indent=indent).encode("utf-8")


def _read(data: bytes | str) -> Any:
    try:
        text = data if isinstance(data, str) else bytes(data).decode("utf-8")
        plain = json.loads(text, parse_float=_number, parse_constant=_refuse)
        if "\\u" in text:
            written(plain)  # half a character cannot be written
    except UnicodeDecodeError:
        raise
    except (ValueError, TypeError) as error:
        raise DecodeError(f"JSON is malformed: {error}") from None
    return plain


def _number(text: str) -> float:
    number = float(text)
    return number if isfinite(number) else BEYOND


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
