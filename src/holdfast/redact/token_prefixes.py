"""Tokens with a known beginning, private keys in blocks, and credentials in request headers.

Tokens need no pattern per issuer: a known beginning and one pattern for the body serve them all.
"""

from __future__ import annotations

import re

from holdfast.redact.rule import LONG_CHARS, Rule, SecretFinding, can_begin, positions
from holdfast.redact.value import (
    is_key,
    is_masked,
    is_placeholder,
    is_random,
    is_scrambled,
    looks_random,
    user_and_password,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.redact.rule import SearchPage


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
    "service token": "secret_40 dp.st.20_ dp.ct.20_ dp.sa.20_ dp.scim.20_ dp.audit.20_ sl.60_ "
    "EAAA50_ "
    "lin_oauth_32 aio_24 CFPAT-40_ CCIPAT_30_ CLOJARS_50 duffel_live_30_ duffel_test_30_ "
    "EZAK40 EZTK40 FLWSECK-20_ FLWSECK_TEST-12_ fio-u-40_ GR134894120_ glagent-30_ "
    "gloas-40 glimt-20_ lsv2_pt_30_ lsv2_sk_30_ mlsn.40 NRII-24_ NRJS-16 oy240 pnu_30 "
    "pnb_30 rdme_40 tk-us-40_ xkeysib-60_ xsmtpsib-60_ sm_aat_16 sm_pat_16 shippo_live_30 "
    "shippo_test_30 sgp_36_ sgd_30 sga_30 hawk.20_ sb_secret_20_ tfp_40_ waka_30_ AKCp60 "
    "bkua_30 bkct_30 rzp_live_12 rzp_test_12 tgp_v1_30_ e2b_30 napi_40 n8n_api_30_ ATTA60 "
    "ATTT50 LTAI14 AQVN30_ wandb_v1_30_ vcp_40 cfut_30 key_live_16 key_test_16 "
    "access-production-30_ access-sandbox-30_ access-development-30_ pat-na1-30_ "
    "pat-eu1-30_ dnkey-30_ s-s4t2ud-50 hapikey-30_ dt0c01.20_ dt0s01.20_ fm1_40_ fm2_40_ "
    "tok_live_16 apify_api_30 sha256~40_ hcp.20_ ghost_30 phc_40 phx_40 sqp_40 squ_40 sqa_40 "
    "cmVmdGtuO40 dtn_40 mdb_sa_sk_30_ glffct-16_ hf_oauth_30_ vck_40 tr_prod_20 tr_dev_20 re_30_ "
    "polar_oat_30 polar_pat_30 signkey-30_ fc-32 ctx7sk-30_ 3MVG940_ npg_12 bb_live_30_ rpa_40 "
    "ABSK80 nfc_36 nfo_36 nfu_36 nfb_36 hvr.20_ v1.0-60_",
    "wallet key": "xprv90 yprv90 zprv90 tprv90 nsec150",
    "age key": "AGE-SECRET-KEY-150",
    "mailgun key": "key-32",
}
_MORE = r"((?:(?:%[0-9A-Fa-f]{2}|[+/=~])+[A-Za-z0-9_-]+)+={0,2})"
_JOINTS = ("%", "+", "/", "=", "~")
_MORE_CHARS = 1024
CUT_MARKED_CHARS, CUT_CHARS = 6, 16
NO_DIGIT_CHARS = 20
NAME_HUMP_CHARS = 4  # `waitForTaskToken` changes case every four letters, a random body sooner
_DIGITS = frozenset("0123456789")
ENDS = ("", '"', "\n")
_READ: list[tuple[str, str, int, bool]] = []
_ALNUM = r"[A-Za-z0-9]*"
_WORD = r"[A-Za-z0-9_-]*"
_HEX_ONLY = ("key-", "dapi", "sk-or-v1-", "sbp_", "dop_v1_", "doo_v1_", "dor_v1_", "pul-")
_TAILED = ("ghs_", "dp.st.", "dt0c01.", "dt0s01.", "secret_", "sk.", "hcp.", "hawk.")
_TAIL = r"(?:\.[A-Za-z0-9_-]+){0,3}"  # the newest server tokens end like a JWT
KIND = "private key"
LONGEST_CHARS = 24_000  # an RSA key of 16,384 bits has 12,800
_BEGIN = "-----BEGIN"
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
_PUTTY = rf"Private-Lines: [0-9]{{1,3}}((?:{_BETWEEN}++[A-Za-z0-9+/=]{{4,64}}){{1,200}}+)"
_TEXT = r"[^\s\x00-\x1f\"'`\\<>,;(){}\[\]]"
_GAP = r"(?:[\"'`\\]{0,4}[ \t]{0,4}[:=,][ \t]{0,4}[\"'`\\]{0,4}|[ \t]{1,4}\\{0,3}[\"'])"
_SCHEME = r"[a-z][\w-]{1,24}[ \t]{1,4}"


def scan_tokens(page: SearchPage) -> Iterator[SecretFinding]:
    if not page.long:
        return
    # 200 searches: only through words that can hold one. Paths do not, nor do words without digits.
    apart = set(page.long.replace("/", " ").split())
    runs = " ".join([one for one in apart if len(one) >= LONG_CHARS and _may_be_made(one)])
    for kind, beginning, shortest, wide in _entries():
        if beginning in (page.long if "/" in beginning else runs):
            yield from _scan_prefix(page.text, kind, beginning, shortest, wide)


def _may_be_made(word: str) -> bool:
    """Whether a machine may have made it: it has digits, or is so long that they may be missing
    by chance."""
    return not _DIGITS.isdisjoint(word) or (len(word) > NO_DIGIT_CHARS and not word.islower())


def _entries() -> list[tuple[str, str, int, bool]]:
    """Parse the table once, for the first text with a long word."""
    if not _READ:
        _READ.extend(
            (kind, *_read(entry)) for kind, all_ in _TABLE.items() for entry in all_.split()
        )
    return _READ


def beginnings() -> list[str]:
    return [beginning for _, beginning, _, _ in _entries()]


def _read(entry: str) -> tuple[str, int, bool]:
    """ "ghs_30_" is (ghs_, 30, may hold `_` and `-`)."""
    wide = entry.endswith("_")
    entry = entry.rstrip("_") if wide else entry
    return entry[:-2], int(entry[-2:]), wide


def _scan_prefix(
    text: str, kind: str, beginning: str, shortest: int, wide: bool
) -> Iterator[SecretFinding]:
    body = re.compile((_WORD if wide else _ALNUM) + (_TAIL if beginning in _TAILED else ""))
    done = 0
    for at in positions(text, beginning):
        if at < done or not (can_begin(text, at) or not text[at - 1].isascii()):
            continue  # Chinese and Japanese put no blank between a word and a token
        match = body.match(text, at + len(beginning))
        if not match or (len(match[0]) < shortest and not _is_cut(text, match)):
            continue
        done = match.end()  # also of what is refused: a run of beginnings is read once
        if _real(beginning, match[0], wide or len(match[0]) < shortest):
            done = _end_of_token(text, done)
            yield SecretFinding(kind, at, done)


def _end_of_token(text: str, end: int) -> int:
    """Return the end of the token with what follows a sign of base64 or of a URL: `fm2_…+…/…=`,
    `xoxd-…%2B…`. Behind a slash may stand a path, so what follows must look random."""
    if text[end : end + 1] not in _JOINTS:
        return end
    match = re.compile(_MORE).match(text, end, end + _MORE_CHARS)
    return match.end() if match and looks_random(match[1]) else end


def _is_cut(text: str, body: re.Match[str]) -> bool:
    """Whether it is too short for its kind because the text was cut: there is a mark, or the
    text ends."""
    after = text[body.end() : body.end() + 2]
    if after[:1] == "…" or after == " …":
        return len(body[0]) >= CUT_MARKED_CHARS
    return len(body[0]) >= CUT_CHARS and after[:1] in ENDS


def _real(beginning: str, body: str, wide: bool) -> bool:
    if beginning in _HEX_ONLY and body.strip("0123456789abcdef"):
        return False
    if is_masked(body):
        return False
    return (
        looks_random(body)
        or is_scrambled(body)
        or (len(body) >= NO_DIGIT_CHARS and _is_run(body, wide))
    )


def _is_run(body: str, wide: bool) -> bool:
    """Whether it is one long run: names of 20 characters have a dash between their words. Letters
    alone must change case more often than names do: 1 body in 30 has no digit by chance."""
    if not wide and len(body) >= 30:
        return True
    if body.isalnum() and not body.islower() and not _DIGITS.isdisjoint(body):
        return True
    humps = len(re.findall("[A-Z]?[a-z]+|[A-Z]+", body)) - body.count("-") - body.count("_")
    return len(body) < NAME_HUMP_CHARS * humps


def scan_keys(page: SearchPage) -> Iterator[SecretFinding]:
    text = page.text
    if "-----" in text and ("PRIVATE KEY" in text or "Static key" in text):
        yield from _key_blocks(text)
    if "LS0tLS1CRUdJTi" in page.long:  # "-----BEGIN" in base64, as in a kubeconfig
        for match in re.finditer(_ENCODED, text):
            yield SecretFinding(KIND, *match.span())
    if "Private-Lines: " in text:
        for match in re.finditer(_PUTTY, text):
            yield SecretFinding(KIND, *match.span(1))


def _key_blocks(text: str) -> Iterator[SecretFinding]:
    marks = list(re.finditer(_MARK, text))
    ended = 0
    for number, mark in enumerate(marks, 1):
        if mark.start() < ended:
            continue
        if not _begins_block(mark):
            start = _before_block(text, ended, mark.start())
            ended = mark.end()
            if start < mark.start():
                yield SecretFinding(KIND, start, ended)
            continue
        ended = _end_of_block(text, mark, marks[number] if number < len(marks) else None)
        if re.compile(_BODY).search(text, mark.end(), ended):  # prose names such marks too
            yield SecretFinding(KIND, mark.start(), ended)


def _begins_block(mark: re.Match[str]) -> bool:
    return mark[0].startswith(_BEGIN)


def _end_of_block(text: str, mark: re.Match[str], after: re.Match[str] | None) -> int:
    if after and not _begins_block(after) and after.start() - mark.end() < LONGEST_CHARS:
        return after.end()
    match = re.compile(_AFTER).match(text, mark.end())
    return match.end() if match else mark.end()


def _before_block(text: str, floor: int, at: int) -> int:
    """Return where the lines of a key begin if its head was cut off."""
    floor = max(floor, at - LONGEST_CHARS)
    match = re.match(_BACKWARDS, text[floor:at][::-1])
    return at - match.end() if match else at


def _credential(value: str) -> bool:
    """After a scheme: short words are prose, as in "basic authentication"."""
    return not is_placeholder(value) and (is_key(value, literal=True) or user_and_password(value))


def _bearer(value: str) -> bool:
    return is_key(value, literal=True) and looks_random(value)


def _cookies(value: str) -> bool:
    """Whether any of the pairs looks like a session key."""
    pairs = (pair.partition("=") for pair in value.split(";"))
    return any(is_key(part.strip(), literal=False) for _, _, part in pairs)


def _session(value: str) -> bool:
    """Claude Code calls its own sessions by a uuid, and those must stay."""
    if value.count("-") == 4:
        return False
    return is_random(value) or (value.isalnum() and is_key(value, literal=True))


RULES = (
    Rule(
        "authorization",
        "authorization",
        rf"authorization{_GAP}(?:{_SCHEME})?({_TEXT}{{6,2048}}+)",
        _credential,
        any_case=True,
        within="words_low",
    ),
    Rule(
        "authorization",
        "authorization",  # by parameters: `Digest username="bob", …, response="…"`
        r"authorization[^\r\n]{1,400}?(?:response|oauth_signature|nonce|mac)=\\{0,3}[\"']([\w%+/=-]{16,512})",
        looks_random,
        any_case=True,
        within="words_low",
    ),
    Rule(
        "authorization",
        "SSWS",  # Okta's scheme
        r"SSWS ([\w-]{30,})",
        looks_random,
        within="words",
    ),
    Rule(
        "password",
        "basic",
        r"basic[ \t]{1,4}([A-Za-z0-9+/=]{6,}+)",
        user_and_password,
        any_case=True,
        within="words_low",
    ),
    Rule(
        "bearer token",
        "bearer",
        rf"bearer[ \t]{{1,4}}({_TEXT}{{12,4096}}+)",
        _bearer,
        any_case=True,
        within="words_low",
    ),
    Rule(
        "cookie",
        "cookie",
        rf"cookie{_GAP}([\w.%-]{{1,64}}=[^\r\n\x1b\"'`\\]{{8,4096}})",
        _cookies,
        any_case=True,
        within="words_low",
        once=True,
    ),
    Rule(
        "session cookie",
        "phpsessid= jsessionid= connect.sid= sessionid= session= session_id=",
        rf"[\w.]{{7,11}}=({_TEXT}{{16,4096}}+)",
        _session,
        any_case=True,
    ),
)


def scan_headers(page: SearchPage) -> Iterator[SecretFinding]:
    for rule in RULES:
        yield from rule.scan(page)
