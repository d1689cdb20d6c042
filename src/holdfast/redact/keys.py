"""Private keys in blocks: the whole block, and what is left of one that was cut."""

from __future__ import annotations

import re

from holdfast.redact.finding import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.redact.search_text import Page

KIND = "private key"
LONGEST_CHARS = 24_000  # an RSA key of 16,384 bits has 12,800
_BEGIN, _END = "-----BEGIN", "-----END"
_MARK = r"-----(?:BEGIN|END) (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----"
# What may stand between two lines of a key: line ends (escaped too), quote marks, line numbers,
# and the slash by which we put lines of an output into one.
_BETWEEN = r"(?:\s/(?=\s)|[\s>|+#*\"',;:-]|\\+[nrt]|[0-9]{1,6}(?:→|\t|: ))"
_LINE = r"(?:[A-Za-z0-9+/]{20,}={0,2}|(?:Proc-Type|DEK-Info|Version|Comment|Hash): [^\r\n\\]{0,99})"
_AFTER = rf"(?:{_BETWEEN}*+{_LINE})*+(?:{_BETWEEN}*+[A-Za-z0-9+/=]{{1,76}}\Z)?"
# The same read from the end, where the head is lost; the n of an escaped line end is no base64.
# (Nothing follows, so nothing is given back: see `assignment` for why it is not said with a `+`.)
_BACKWARDS = (
    r"(?:(?:\s/(?=\s)|[\s>|+#*\"',;:-]|[nrt]\\+|(?:→|\t| :)[0-9]{1,6})*+"
    r"={0,2}(?:(?![nrt]\\)[A-Za-z0-9+/]){20,})*"
)
_BODY = r"[A-Za-z0-9+/]{20}"
_ENCODED = r"LS0tLS1CRUdJTi(?:BSU0Eg|BFQyBQ|BEU0Eg|BQUklW|BPUEVO|BFTkNS|BQR1Ag)[A-Za-z0-9+/=]*"
_PUTTY = r"Private-Lines: [0-9]{1,3}(?:\s|\\[nr])+((?:[A-Za-z0-9+/=]{4,64}(?:\s|\\[nr])*+){1,200}+)"


def scan(page: Page) -> Iterator[Finding]:
    text = page.text
    if "-----" in text and ("PRIVATE KEY" in text or "Static key" in text):
        yield from _blocks(text)
    if "LS0tLS1CRUdJTi" in page.long:  # "-----BEGIN" in base64, as in a kubeconfig
        for match in re.finditer(_ENCODED, text):
            yield Finding(KIND, *match.span())
    if "Private-Lines: " in text:
        for match in re.finditer(_PUTTY, text):
            yield Finding(KIND, *match.span(1))


def _blocks(text: str) -> Iterator[Finding]:
    marks = list(re.finditer(_MARK, text))
    ended = 0
    for number, mark in enumerate(marks, 1):
        if mark.start() < ended:
            continue
        if not _begins(mark):
            start = _before(text, ended, mark.start())
            ended = mark.end()
            if start < mark.start():
                yield Finding(KIND, start, ended)
            continue
        ended = _end(text, mark, marks[number] if number < len(marks) else None)
        if re.compile(_BODY).search(text, mark.end(), ended):  # prose names such marks too
            yield Finding(KIND, mark.start(), ended)


def _begins(mark: re.Match[str]) -> bool:
    return mark[0].startswith(_BEGIN)


def _end(text: str, mark: re.Match[str], after: re.Match[str] | None) -> int:
    if after and not _begins(after) and after.start() - mark.end() < LONGEST_CHARS:
        return after.end()
    match = re.compile(_AFTER).match(text, mark.end())
    return match.end() if match else mark.end()


def _before(text: str, floor: int, at: int) -> int:
    """Where the lines of a key begin whose head was cut off."""
    floor = max(floor, at - LONGEST_CHARS)
    match = re.match(_BACKWARDS, text[floor:at][::-1])
    return at - match.end() if match else at
