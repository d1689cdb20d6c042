"""Secrets known by their shape: cloud keys, signed tokens, webhooks, passwords inside URLs."""

from __future__ import annotations

from holdfast.redact.finding import Finding
from holdfast.redact.rule import Rule
from holdfast.redact.value import (
    is_key,
    is_password,
    masked,
    random_looking,
    stand_in,
    user_and_password,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.redact.page import Page

_GLUE = r"|(?<=\\[nrt])|(?<=%[0-9A-F]{2})|(?<=\x1b\[[0-9;]m)|(?<=\x1b\[[0-9;]{2}m))"
_START = r"(?:(?<![A-Za-z0-9_])" + _GLUE
_APART = r"(?:(?<![A-Za-z0-9_-])" + _GLUE  # one start in a run, else a run of starts is quadratic


def _not_masked(value: str) -> bool:
    return not masked(value)


def _url_password(value: str) -> bool:
    return not stand_in(value) and not value.isdigit()


def _url_user(value: str) -> bool:
    return random_looking(value) and is_key(value, literal=True)


RULES = (
    Rule(
        "aws access key",
        "AKIA ASIA ABIA ACCA",
        _START + r"(A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16,}+)",
        _not_masked,
    ),
    Rule(
        "aws secret key",
        "AKIA ASIA",
        r"A[KS]IA[A-Z0-9]{16}[\s,:;|\"']{1,12}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
        random_looking,
    ),
    Rule("jwt", "eyJ", _APART + r"(eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+){0,3}+)"),
    Rule("sendgrid key", "SG.", _START + r"(SG\.[\w-]{16,}+\.[\w-]{16,}+)", random_looking),
    Rule("google oauth token", "ya29.", _START + r"(ya29\.[\w.-]{20,}+)"),
    Rule("twilio key", "SK AC", _START + r"((?:SK|AC)[0-9a-f]{32})(?![0-9A-Za-z])", random_looking),
    Rule(
        "mailgun key",
        "-",
        r"(?<=[0-9a-f]{32})(-[0-9a-f]{8}-[0-9a-f]{8})(?![\w-])",
        within="very_long",
    ),
    Rule(
        "discord token",
        ".",  # the part before the first dot is the bot's id
        r"(?:(?<=[MNO][\w-]{23})|(?<=[MNO][\w-]{25}))\.([\w-]{6}\.[\w-]{27,}+)",
        within="very_long",
    ),
    Rule("telegram token", ":AA", r"(?<=[0-9]{8}):(AA[\w-]{33,}+)"),
    Rule("telegram token", "%3AAA", r"(?<=[0-9]{8})%3A(AA[\w-]{33,}+)"),
    Rule("firebase key", "AAAA", _START + r"(AAAA[\w-]{7}:[\w-]{130,}+)"),
    Rule("azure key", "accountkey= accesskey=", r"\w{9,10}=([\w+/%-]{40,}+={0,2})", any_case=True),
    Rule("azure signature", "sig=", r"(?<=[?&;])sig=([\w%+/=-]{30,}+)", any_case=True),
    Rule("azure signature", "sig\\u003d", r"sig\\u003d([\w%+/=-]{30,}+)", any_case=True),
    Rule("azure secret", "8Q~", r"(?<=\w{3})(8Q~[\w.~-]{31,34}+)", random_looking),
    Rule("aws signature", "x-amz-signature=", r"[\w-]+=([0-9a-f]{64})", any_case=True),
    Rule("slack webhook", "hooks.slack.com/", r"hooks\.slack\.com/\w+/([\w/-]{20,}+)", _not_masked),
    Rule(
        "discord webhook",
        "/api/webhooks/",
        r"/api/webhooks/([0-9]{15,20}/[\w-]{40,}+)",
        any_case=True,
    ),
    Rule("webhook", "webhook.office.com/", r"webhook\.office\.com/([\w@/.-]{40,}+)"),
    Rule("webhook", "hooks.zapier.com/", r"hooks\.zapier\.com/hooks/catch/([\w/-]{10,}+)"),
    Rule(
        "password",
        "://",
        r"://[^\s/:@\"'`<>\\\[\](){},]{0,128}+:([^\s\"'`<>\\/]{1,256})@(?=[\w.\[$-])",
        _url_password,
        within="text",  # `"://b:c@d"` has no long word
    ),
    Rule(
        "password",
        "://",  # with a slash in it; a number before the slash is a port
        r"://[^\s/:@.\"'`<>\\]{1,64}+:(?![0-9]{1,5}/)([^\s\"'`<>\\@]{1,256}+)@(?=[\w.\[$-])",
        _url_password,
    ),
    Rule("token", "://", r"://([^\s/:@\"'`<>\\]{20,256}+)@(?=[\w.-])", _url_user),
    Rule(
        "docker auth",
        'auth" auth\\',
        r"auth\\{0,7}\"\s{0,8}:\s{0,8}\\{0,7}\"([A-Za-z0-9+/=]{8,}+)",
        user_and_password,
        within="text",
    ),
    Rule(
        "password",
        "identified",
        r"identified[ \t]{1,4}by[ \t]{1,4}\\{0,7}[\"']([^\s\"'\\]{1,255})",
        _url_password,
        any_case=True,
        within="low",
    ),
    Rule("key data", "client-key-data", r"client-key-data\W{1,8}([A-Za-z0-9+/=]{20,}+)"),
    Rule(
        "netrc password",
        "machine",
        (
            r"machine(?:\s|\\[nrt]){1,8}+[^\s\\]{1,255}+(?:\s|\\[nrt]){1,40}+login(?:\s|\\[nrt]){1,8}+"
            r"[^\s\\]{1,255}+(?:\s|\\[nrt]){1,40}+password[ \t]{1,8}([^\s\"'\\]{1,255})"
        ),
        lambda value: is_password(value, literal=True),
        within="text",
    ),
)


def scan(page: Page) -> Iterator[Finding]:
    for rule in RULES:
        yield from rule.scan(page)
