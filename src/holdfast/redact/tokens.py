"""Tokens that say whose they are: a known beginning, and a body long enough.

No pattern per issuer: one for the body serves them all.
"""

from __future__ import annotations

import re

from holdfast.redact.finding import Finding
from holdfast.redact.rule import begins, places
from holdfast.redact.value import masked, random_looking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.redact.page import Page

# kind: beginnings, each with the shortest body. `_` after the number: the body may hold `_` and
# `-`, and must then be mixed, since `npm_config_registry` and `sk-folding-cube` are names.
_TABLE = {
    "github token": "ghp_30 gho_30 ghu_30 ghr_30 ghs_30_ github_pat_30_",
    "gitlab token": "glpat-16_ gldt-16_ glrt-16_ glptt-30_ glcbt-16_ glft-16_ glsoat-16_",
    "slack token": "xoxa-10_ xoxb-10_ xoxp-10_ xoxr-10_ xoxs-10_ xoxe-10_ xoxo-10_ xoxc-10_ "
    "xoxd-10_ xapp-10_",
    "stripe key": "sk_live_16 sk_test_16 rk_live_16 rk_test_16 whsec_24",
    "anthropic key": "sk-ant-20_",
    "openai key": "sk-20 sk-proj-20_ sk-svcacct-20_ sk-admin-20_ sk-None-20_",
    "api key": "sk-or-v1-20 sk-lf-20_ gsk_40 xai-40 r8_30 pplx-40 tvly-24_ fw_24 nvapi-40_ "
    "PMAK-40_ NRAK-24 lin_api_32 figd_30_ csk-40 jina_40 pcsk_40_",
    "google api key": "AIza35_",
    "google oauth token": "GOCSPX-24_ 1//030_",
    "npm token": "npm_36",
    "pypi token": "pypi-AgE50_ pypi-AgEN50_",
    "hugging face token": "hf_30 api_org_30",
    "digitalocean token": "dop_v1_60 doo_v1_60 dor_v1_60",
    "docker token": "dckr_pat_20_ dckr_oat_20_",
    "shopify token": "shpat_30 shpca_30 shppa_30 shpss_30",
    "atlassian token": "ATATT330_ ATCTT330_ ATBB24",
    "databricks token": "dapi32",
    "grafana token": "glsa_32_ glc_40",
    "token": "ntn_40 sbp_40 pscale_tkn_30_ pscale_pw_30_ rubygems_40 sntrys_40 sntryu_40 "
    "fo1_40_ EAAG60 tskey-20_ pul-40 HRKU-30_ hvs.20_ hvb.20_ dp.pt.40 cio30 nfp_36 "
    "rnd_24 sq0atp-20_ sq0csp-40_ ops_eyJ60_",
    "age key": "AGE-SECRET-KEY-150",
    "mailgun key": "key-32",
}
CUT_MARKED_CHARS, CUT_CHARS = 6, 16
ENDS = ("", '"', "\n")
_READ: list[tuple[str, str, int, bool]] = []
_ALNUM = r"[A-Za-z0-9]*"
_WORD = r"[A-Za-z0-9_-]*"
_HEX_ONLY = ("key-", "dapi", "sk-or-v1-", "sbp_", "dop_v1_", "doo_v1_", "dor_v1_", "pul-")
_TAIL = r"(?:\.[A-Za-z0-9_-]+){0,3}"  # the newest server tokens end like a JWT


def scan(page: Page) -> Iterator[Finding]:
    if not page.long:
        return
    for kind, beginning, shortest, wide in _entries():
        if beginning in page.long:
            yield from _found(page.text, kind, beginning, shortest, wide)


def _entries() -> list[tuple[str, str, int, bool]]:
    """The table, read once, when the first text with a long word comes."""
    if not _READ:
        _READ.extend(
            (kind, *_read(entry)) for kind, all_ in _TABLE.items() for entry in all_.split()
        )
    return _READ


def _read(entry: str) -> tuple[str, int, bool]:
    """ "ghs_30_" is (ghs_, 30, may hold `_` and `-`)."""
    wide = entry.endswith("_")
    entry = entry.rstrip("_") if wide else entry
    return entry[:-2], int(entry[-2:]), wide


def _found(text: str, kind: str, beginning: str, shortest: int, wide: bool) -> Iterator[Finding]:
    body = re.compile((_WORD if wide else _ALNUM) + (_TAIL if beginning == "ghs_" else ""))
    done = 0
    for at in places(text, beginning):
        if at < done or not begins(text, at):
            continue
        match = body.match(text, at + len(beginning))
        if not match or (len(match[0]) < shortest and not _is_cut(text, match)):
            continue
        done = match.end()  # also of what is refused: a run of beginnings is read once
        if _real(beginning, match[0], wide or len(match[0]) < shortest):
            yield Finding(kind, at, done)


def _is_cut(text: str, body: re.Match[str]) -> bool:
    """Too short for its kind, because a text was cut there: shown by a mark, or by its end."""
    after = text[body.end() : body.end() + 2]
    if after[:1] == "…" or after == " …":
        return len(body[0]) >= CUT_MARKED_CHARS
    return len(body[0]) >= CUT_CHARS and after[:1] in ENDS


def _real(beginning: str, body: str, wide: bool) -> bool:
    if beginning in _HEX_ONLY and body.strip("0123456789abcdef"):
        return False
    return not masked(body) and (random_looking(body) or (not wide and len(body) >= 30))
