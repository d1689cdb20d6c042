"""What each kind of field may hold, defined once. Values that no database can store are refused
here, with the field's name. Secrets are removed from every text of a body before a route sees it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Annotated, Any
from uuid import UUID

import msgspec
from fastapi import Path, Query
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr
from starlette.convertors import StringConvertor, register_url_convertor

from holdfast.hub import clean_text, row_times
from holdfast.hub.board import messages
from holdfast.redact.find import are_clean, redact, redact_each, redact_named_values

MOST_INT = 2**31 - 1
MOST_BIGINT = 2**53
MOST_TEXT = 200_000  # searched for secrets while other requests wait: under a second
MOST_JSON = 500_000  # a tree of 1,000 subtasks is 436,000
MOST_ID = 512
MOST_DEPTH = 64


class _AnyText(StringConvertor):
    """`{agent_id:text}`: agents may have a slash or a line end in their names."""

    regex = r"[\s\S]+"


register_url_convertor("text", _AnyText())


def plain(text: str) -> str:
    """Refuse NUL, which neither engine stores, and half a surrogate pair, which is no character."""
    if "\x00" in text:
        raise ValueError("must not hold the character NUL")
    text.encode()  # its error is a ValueError
    return text


def public(text: str) -> str:
    """Refuse a name that holds a secret: removed from it, nobody would find the name again."""
    if not clean_text.is_clean(plain(text)):
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


def bounded_each(texts: list[str]) -> list[str]:
    if sum(map(len, texts)) > MOST_TEXT:
        raise ValueError(f"must hold at most {MOST_TEXT} characters together")
    return [plain(text) for text in texts]


def not_large(value: Any) -> Any:
    """Check the size before the content is looked at."""
    if len(str(value)) > MOST_JSON:
        raise ValueError(f"must hold at most {MOST_JSON} characters")
    return value


def bounded_value(value: Any) -> Any:
    """Check that a JSON value may be stored."""
    if len(msgspec.json.encode(storable(value))) > MOST_JSON:
        raise ValueError(f"must hold at most {MOST_JSON} characters of JSON")
    return value


def clean_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """Remove secrets from the fields of a body. A search takes 0.1 ms however short the text is,
    so all fields are searched as one text, and field by field only if there is a secret. Objects
    are searched as JSON: the name before a value often shows that it is a secret."""
    fields: dict[str, Any] = redact_named_values(dict(given))
    if are_clean(text for value in fields.values() for text in _searched(value)):
        return fields
    return {name: redact_each(_clean_json(value)) for name, value in fields.items()}


def _searched(value: Any) -> Iterable[str]:
    is_texts = isinstance(value, list) and all(type(text) is str for text in value)
    return [_json(value)] if isinstance(value, dict | list) and not is_texts else texts_in(value)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _clean_json(value: Any) -> Any:
    """Remove what the JSON of a value shows, unless a placeholder breaks it."""
    with suppress(msgspec.DecodeError):
        if isinstance(value, dict | list):
            return msgspec.json.decode(redact(_json(value)))
    return value


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield key
            yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)


def _parse_time(text: Any) -> Any:
    ms = row_times.from_iso(text) if isinstance(text, str) else None
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


Text = Annotated[str, Field(max_length=MOST_TEXT), AfterValidator(plain)]
Word = Annotated[str, Field(min_length=1, max_length=MOST_ID), AfterValidator(public)]
Words = Annotated[str, Field(min_length=1, max_length=MOST_TEXT), AfterValidator(plain)]
FilePath = Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(public)]
Texts = Annotated[list[str], Field(max_length=1_000), AfterValidator(bounded_each)]
Value = Annotated[Any, AfterValidator(bounded_value)]
Object = Annotated[dict[str, Any], AfterValidator(bounded_value)]
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
AgentPath = SessionPath
Limit = Annotated[int, Query(ge=1, le=MOST_INT), at_most(100)]
LargeLimit = Annotated[int, Query(ge=1, le=1_000)]
Offset = Annotated[int, Query(ge=0, le=MOST_INT)]
Name = Annotated[str, Field(min_length=1, max_length=MOST_ID), AfterValidator(plain)]
WordQuery = Annotated[Name | None, Query()]
IdQuery = Annotated[Id | None, Query()]


class Body(BaseModel):
    """What a client sends. Unknown fields are ignored, as existing clients expect."""

    model_config = ConfigDict(extra="ignore")
    _given: dict[str, Any] = PrivateAttr(default_factory=dict)

    def model_post_init(self, _context: Any, /) -> None:
        self._given = clean_fields(self.normalized())
        for name in self.__dict__.keys() & self._given.keys():
            self.__dict__[name] = self._given[name]

    def normalized(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)

    @property
    def given(self) -> dict[str, Any]:
        """What was sent, without secrets."""
        return self._given


def _topic(name: str) -> str:
    if name not in messages.BUILT_IN_TOPICS and name not in messages.known_topics():
        raise ValueError(messages.unknown_topic(name))
    return name


Topic = Annotated[
    Word,
    AfterValidator(_topic),
    Field(
        description="built in, or registered in the setting `topics`",
        examples=list(messages.BUILT_IN_TOPICS),
    ),
]
