"""What each kind of field may hold, defined once. Values that no database can store are refused
here, with the field's name. Secrets are removed from every free text before a route sees it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Annotated, Any
from uuid import UUID

import msgspec
from fastapi import Depends, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
)
from starlette.convertors import StringConvertor, register_url_convertor

from holdfast.hub import row_times
from holdfast.hub.board import messages
from holdfast.redact import are_clean, redact, redact_each, redact_named_values
from holdfast.wire.log import is_utf8

MOST_INT = 2**31 - 1
MOST_BIGINT = 2**53
MOST_TEXT = 200_000  # searched for secrets while other requests wait: under a second
MOST_JSON = 400_000
MOST_ID = 512
MOST_DEPTH = 64
MOST_NAMES = 4_096


class _AnyText(StringConvertor):
    """`{agent_id:text}`: agents may have a slash or a line end in their names."""

    regex = r"[\s\S]+"


register_url_convertor("text", _AnyText())


def plain(text: str) -> str:
    """Refuse NUL, which neither engine stores, and half a surrogate pair, which is no character."""
    if "\x00" in text:
        raise ValueError("must not hold the character NUL")
    if not is_utf8(text):
        raise ValueError("must be valid Unicode")
    return text


@lru_cache(MOST_NAMES)  # the same few names come with every call; one that is refused is not kept
def public(text: str) -> str:
    """Refuse a name that holds a secret: others look it up by its exact text, so the secret
    cannot be removed."""
    if not are_clean((plain(text),)):
        raise ValueError("must not hold a secret")
    return text


def storable(value: Any, depth: int = 0) -> Any:
    """Refuse a JSON value that an engine would not return unchanged."""
    if depth > MOST_DEPTH:
        raise ValueError(f"must not be nested deeper than {MOST_DEPTH}")
    if isinstance(value, str):
        plain(value)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError("must hold finite numbers only")
    elif isinstance(value, int) and abs(value) > 10**300:
        raise ValueError("must hold numbers of a usual size")
    elif isinstance(value, dict):
        for key, inner in value.items():
            plain(key)
            storable(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            storable(inner, depth + 1)
    return value


def clean(text: str) -> str:
    return redact(plain(text))


def clean_name(text: str) -> str:
    """As `clean`, for one of the few names that come with many calls, such as the type of an agent:
    searching for secrets takes 0.1 ms, however short the text."""
    with suppress(ValueError):
        if len(text) <= MOST_ID:
            return public(text)
    return clean(text)


def bounded_each(texts: list[str]) -> list[str]:
    if sum(map(len, texts)) > MOST_TEXT:
        raise ValueError(f"must hold at most {MOST_TEXT} characters together")
    return [plain(text) for text in texts]


def clean_each(texts: list[str]) -> list[str]:
    if are_clean(bounded_each(texts)):
        return texts
    return [redact(text) for text in texts]


def clean_fields(texts: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Remove secrets from the fields of a large body. They are searched as one text, which takes
    2 ms for 50 KB; only if there is a secret, field by field, which takes 8. `values` are JSON,
    in which a key may show that its value is a secret; keys in `texts` show nothing."""
    named = {name: redact_named_values(value) for name, value in values.items()}
    if are_clean([*_texts(texts), *(_bounded_json(value) for value in named.values())]):
        return {**texts, **named}
    cleaned = {name: clean_value(value) for name, value in named.items()}
    return {**{name: redact_each(value) for name, value in texts.items()}, **cleaned}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def not_large(value: Any) -> Any:
    """Check the size before the content is looked at."""
    if len(str(value)) > MOST_JSON:
        raise ValueError(f"must hold at most {MOST_JSON} characters")
    return value


def bounded_value(value: Any) -> Any:
    """Check that a JSON value may be stored; its secrets are removed later."""
    _bounded_json(value)
    return value


def _bounded_json(value: Any) -> str:
    storable(value)
    text = msgspec.json.encode(value).decode()
    if len(text) > MOST_JSON:
        raise ValueError(f"must hold at most {MOST_JSON} characters of JSON")
    return text


def clean_value(value: Any) -> Any:
    """Remove secrets from a JSON value; the name before a value often shows that it is a secret."""
    text = _bounded_json(value)
    named = redact_named_values(value)
    if named != value:
        value, text = named, msgspec.json.encode(named).decode()
    kept = redact(text)
    if kept == text:
        return value
    try:
        return msgspec.json.decode(kept)
    except msgspec.DecodeError:  # a placeholder broke the text: then value by value
        return _each_clean(value)


def _each_clean(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact(key): _each_clean(inner) for key, inner in value.items()}
    return [_each_clean(inner) for inner in value] if isinstance(value, list) else value


def _parse_time(text: Any) -> Any:
    if not isinstance(text, str):
        raise ValueError("must be a date and time, ISO 8601")
    ms = row_times.from_iso(text)
    if ms is None:
        raise ValueError("must be a date and time, ISO 8601")
    return ms


def _uuid(text: str) -> str:
    """Return a UUID in its usual form, whatever form it came in."""
    try:
        return str(UUID(text))
    except ValueError as error:
        raise ValueError("must be a UUID") from error


def at_most(most: int) -> AfterValidator:
    """Lower a page size that is above the maximum; the answer's `limit` is the applied one."""
    return AfterValidator(lambda asked: min(asked, most))


Text = Annotated[str, Field(max_length=MOST_TEXT), AfterValidator(clean)]
AgentType = Annotated[str, Field(max_length=MOST_TEXT), AfterValidator(clean_name)]
# As `Text`, for a body whose model looks for secrets in all of it at once: `clean_fields`.
UncheckedText = Annotated[str, Field(max_length=MOST_TEXT), AfterValidator(plain)]
UncheckedTexts = Annotated[list[str], Field(max_length=1_000), AfterValidator(bounded_each)]
UncheckedValue = Annotated[Any, AfterValidator(bounded_value)]
Word = Annotated[str, Field(min_length=1, max_length=MOST_ID), AfterValidator(public)]
Words = Annotated[str, Field(min_length=1, max_length=MOST_TEXT), AfterValidator(clean)]
FilePath = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(public)]
Texts = Annotated[list[str], Field(max_length=1_000), AfterValidator(clean_each)]
Object = Annotated[dict[str, Any], AfterValidator(clean_value)]
# Two of them in one index must fit PostgreSQL's 2,704 bytes: 2 x 256 characters of 4 bytes.
AgentName = Annotated[str, Field(min_length=1, max_length=256), AfterValidator(public)]
Natural = Annotated[int, Field(ge=0, le=MOST_BIGINT)]
TimeMs = Annotated[
    int,
    BeforeValidator(_parse_time),
    Field(json_schema_extra={"type": "string", "format": "date-time"}),
]
Id = Annotated[str, AfterValidator(_uuid), Field(json_schema_extra={"format": "uuid"})]
IdPath = Annotated[UUID, Path()]
SessionPath = Annotated[str, Path(min_length=1, max_length=MOST_ID), AfterValidator(plain)]
AgentPath = Annotated[str, Path(min_length=1, max_length=MOST_ID), AfterValidator(plain)]
Limit = Annotated[int, Query(ge=1, le=MOST_INT), at_most(100)]
Offset = Annotated[int, Query(ge=0, le=MOST_INT)]
WordQuery = Annotated[
    Annotated[str, Field(min_length=1, max_length=MOST_ID), AfterValidator(plain)] | None, Query()
]
IdQuery = Annotated[Id | None, Query()]


class Body(BaseModel):
    """What a client sends. Unknown fields are ignored, as existing clients expect."""

    model_config = ConfigDict(extra="ignore")


async def _known_topics(request: Request) -> frozenset[str]:
    found: frozenset[str] = request.app.state.topics
    return found


Topic = Annotated[
    Word,
    Field(
        description="built in, or registered in the setting `topics`",
        examples=list(messages.BUILT_IN_TOPICS),
    ),
]
Topics = Annotated[frozenset[str], Depends(_known_topics)]


def require_topic(known: frozenset[str], topic: str, where: str = "body") -> None:
    """Report an unknown topic like any other invalid field."""
    if topic not in known:
        error = {
            "type": "value_error",
            "loc": (where, "topic"),
            "msg": messages.unknown_topic(topic),
        }
        raise RequestValidationError([error])
