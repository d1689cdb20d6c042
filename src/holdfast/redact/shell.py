"""Passwords on command lines whose flags do not say so: `mysql -pX`, `curl -u user:X`."""

from __future__ import annotations

import re

from holdfast.redact.finding import Finding
from holdfast.redact.rule import places
from holdfast.redact.value import is_password, stand_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.redact.page import Page

LONGEST_CHARS = 2000
_VALUE = r"(?:\\?[\"'])?([^\s\x1b\"'\\]{3,})"
_ENDS = r"\n|\\n|&&|\|\||;"  # of one command; escaped line ends too
# tool: the flag that takes a password. `-p` alone means a port, a path or a project elsewhere.
_FLAGS = {
    "mysql": rf"\s-p{_VALUE}",
    "mariadb": rf"\s-p{_VALUE}",
    "sshpass": rf"\s-p\s?{_VALUE}",
    "mongo": rf"\s-p\s{_VALUE}",
    "redis-cli": rf"\s-a\s{_VALUE}",
    "login ": rf"\s-p\s{_VALUE}",
    "sqlcmd": rf"\s-P\s?{_VALUE}",
    "ldap": rf"\s-w\s{_VALUE}",
    "zip": rf"\s-P\s{_VALUE}",
    "7z": rf"\s-p{_VALUE}",
    "curl": r"\s(?:-u|--user|--proxy-user)[\s=]?(?:\\?[\"'])?[^\s:\"'\\]{1,80}:([^\s\x1b\"'\\]+)",
    "smbclient": r"\s-U\s(?:\\?[\"'])?[^\s%\"'\\]{1,80}%([^\s\x1b\"'\\]+)",
    "openssl": r"(?:\bpass:|\s-k\s)(?:\\?[\"'])?([^\s\x1b\"'\\]{3,})",
    "htpasswd": r"\s-\w*b\w*\s\S{1,200}\s\S{1,80}\s(?:\\?[\"'])?([^\s\x1b\"'\\]{3,})",
}
_LOGINS = r"(?:docker|podman|nerdctl|buildah|skopeo|oras|registry|\baz|\boc) \Z"


_FED = "chpasswd"  # reads `user:password` from what is piped into it
_PIPED = r"[\w.-]{1,64}:([^\s:\x1b\"'\\|]{3,128})\\?[\"']?\s{0,4}\|\s{0,4}(?:sudo\s{1,4})?\Z"


def scan(page: Page) -> Iterator[Finding]:
    text = page.text
    for at in places(text, _FED) if _FED in page.words else ():
        head = max(0, at - 240)
        match = re.compile(_PIPED).search(text, head, at)
        if match and is_password(match[1], literal=True):
            yield Finding("password", *match.span(1))
    for tool, flag in _FLAGS.items():
        at = text.find(tool) if tool.rstrip() in page.words else -1
        while at >= 0:
            end = _command_end(text, at)
            yield from _passwords(text, tool, flag, at, end)
            at = text.find(tool, end)


def _command_end(text: str, at: int) -> int:
    match = re.compile(_ENDS).search(text, at, at + LONGEST_CHARS)
    return match.start() if match else min(len(text), at + LONGEST_CHARS)


def _passwords(text: str, tool: str, flag: str, at: int, end: int) -> Iterator[Finding]:
    if tool == "login " and not re.search(_LOGINS, text[max(0, at - 24) : at]):
        return
    for match in re.compile(flag).finditer(text, at, end):
        value = match[1]
        if is_password(value, literal=True) or (tool == "curl" and not stand_in(value)):
            yield Finding("password", *match.span(1))
