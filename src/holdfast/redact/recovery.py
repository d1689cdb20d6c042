"""Recovery phrases of wallets and lists of recovery codes, below a word that says so."""

from __future__ import annotations

from holdfast.redact.finding import SecretFinding, compiled
from holdfast.redact.table import PROSE_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_BETWEEN = r"(?:[\s,\"'\[\]>+#*|/-]|[0-9]{1,6}(?:→|\t)|[0-9]{1,2}[.):]){1,40}"
_PHRASE = (
    r"(?:mnemonic|(?:seed|recovery)[ _-](?:phrase|words?))"
    rf"[\w ]{{0,30}}[\"']?[ \t]?(?:[:=(\[]|is){_BETWEEN}"
    rf"((?:[a-z]{{3,8}}{_BETWEEN}){{11,23}}[a-z]{{3,8}})(?![\w-])"
)
_CODE = r"(?=[a-z-]{0,24}[0-9])[a-z0-9]{4,12}(?:-[a-z0-9]{4,12}){0,3}(?![\w:.-])"
_CODES = (
    r"(?:recovery|backup)[ _-]?codes?\b[^\n:\[]{0,60}"
    rf"[:\[\n](?:{_BETWEEN})?((?:{_CODE}{_BETWEEN}){{1,20}}{_CODE})"
)


def scan(low: str) -> Iterator[SecretFinding]:
    if "mnemonic" in low or "seed phrase" in low or "recovery" in low:
        for match in compiled(_PHRASE).finditer(low):
            words = compiled("[a-z]{3,8}").findall(match[1])
            if sum(word in PROSE_WORDS for word in words) <= len(words) // 4:
                yield SecretFinding("recovery phrase", *match.span(1))
    if "recovery" in low or "backup" in low:
        for match in compiled(_CODES).finditer(low):
            codes = compiled("[a-z0-9]{4,}").findall(match[1])
            if sum(any(map(str.isdigit, code)) for code in codes) > len(codes) // 2:
                yield SecretFinding("recovery codes", *match.span(1))
