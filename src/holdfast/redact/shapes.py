"""Secrets known by their shape: cloud keys, signed tokens, webhooks, passwords inside URLs."""

from __future__ import annotations

import re

from holdfast.redact.rule import (
    APART,
    BETWEEN_LINES,
    START,
    Rule,
    SecretFinding,
    compiled,
    positions,
)
from holdfast.redact.value import (
    is_key,
    is_masked,
    is_mixed,
    is_password,
    is_phrase,
    is_placeholder,
    is_uuid,
    like_a_password,
    looks_random,
    user_and_password,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.redact.rule import SearchPage

# Long shapes without any word, all in one pattern: to try each at every dot or dash takes 1 ms.
_LONG_SHAPES = (
    rf"{START}(?:(?P<bitcoin_key>[5KL][1-9A-HJ-NP-Za-km-z]{{50,51}}(?![A-Za-z0-9]))"
    r"|(?P<mailgun_key>[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-]))"
    r"|(?P<recovery_key>[0-9]{6}(?:-[0-9]{6}){7}(?![0-9-])))"
    r"|(?P<discord_token>[MNO](?:[\w-]{23}|[\w-]{25})\.[\w-]{6}\.[\w-]{27,}+)"
)
_BLANK = r"(?:\s|\\[nrt]|[0-9]{1,6}(?:→|\t|: )){1,40}+"  # numbered lines too
# A JSON web key names its parts by a letter; these are the private ones.
_JWK_PRIVATE = r"[\"'](?:d|k|p|q|dp|dq|qi)\\{0,7}[\"']\s{0,4}:\s{0,4}\\{0,7}[\"']([\w-]{20,2048})"
# Whose code opens a door, an account or a card; an exit code opens none.
_LOCKS = "|".join(
    rf"(?<={word} )"
    for word in (
        *("door", "gate", "entry", "access", "security", "alarm", "safe", "verification"),
        *("login", "sms", "time"),
    )
)
_OPEN = r"\\{0,3}[\"']"
# An address without its scheme: `bob:…@tcp(db:3306)/app`, `scott/…@//db/X`, `bob:…@proxy:3128`.
_HOST = r"@(?:(?P<dsn>(?:tcp|unix)\(|//)|[\w.-]{1,80}:[0-9]{2,5}(?!\w))"
_USER = (
    r"(?<![\w.$#+/:-])[\w.$#+-]{1,64}(?P<mark>[:/])"
    r"(?P<password>[^\s\"'`<>\\/][^\s\"'`<>\\]{0,127})\Z"
)
_USER_CHARS = 200
# A code alone on its line, and what grep, lists, quotes or a log put before it.
_CODE_LINE = (
    r"(?:\r?\n|\\n|<br ?/?>)"
    r"(?:\[?[0-9]{4}-[0-9]{2}-[0-9]{2}[^\r\n|]{0,60}[|\]:][ \t]|[\w.-]{1,40}[ \t]{0,20}\|[ \t]"
    r"|[\w./-]{1,80}[-:][0-9]{1,6}[-:])?"
    r"(?:[ \t>+#*|/-]|[0-9]{1,6}(?:→|\t|\.|:)){0,40}"
    r"[A-Za-z0-9]{4,12}(?:[ -][A-Za-z0-9]{4,12}){0,3}(?![\w:-]| [A-Za-z])"
)


def _not_masked(value: str) -> bool:
    return not is_masked(value)


def _is_packed(value: str) -> bool:
    """Whether it is base64 of JSON with a password, as Kubernetes stores a registry's."""
    from binascii import Error, a2b_base64

    try:
        plain = a2b_base64(value + "=" * (-len(value) % 4)).decode("ascii").lower()
    except (Error, ValueError):
        return False
    return '"password"' in plain or '"auth"' in plain or '"private_key"' in plain


def _url_password(value: str) -> bool:
    return not is_placeholder(value) and not value.isdigit()


def _is_salt(value: str) -> bool:
    """Whether it has as many different characters as a random key of this length. A sentence has
    about 20."""
    return len(set(value)) >= 24


def _url_user(value: str) -> bool:
    return looks_random(value) and is_key(value, literal=True)


RULES = (
    Rule(
        "aws access key",
        "AKIA ASIA ABIA ACCA",
        START + r"(A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16,}+)",
        _not_masked,
    ),
    Rule(
        "aws secret key",
        "AKIA ASIA",
        r"A[KS]IA[A-Z0-9]{16}[\s,:;|/\"']{1,12}?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
        looks_random,
    ),
    Rule("jwt", "eyJ", APART + r"(eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+){0,3}+)"),
    Rule("sendgrid key", "SG.", START + r"(SG\.[\w-]{16,}+\.[\w-]{16,}+)", looks_random),
    Rule("google oauth token", "ya29.", START + r"(ya29\.[\w.-]{20,}+)"),
    # `AC…` is the id of an account, and public.
    Rule("twilio key", "SK", START + r"(SK[0-9a-f]{32})(?![0-9A-Za-z])", looks_random),
    Rule("mailchimp key", "-us", START + r"([0-9a-f]{32}-us[0-9]{1,2})(?![\w-])", back=32),
    Rule("terraform token", ".atlasv1.", r"([A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}+)", back=14),
    Rule("telegram token", ":AA", r"(?<=[0-9]{8}):(AA[\w-]{33,}+)"),
    Rule("telegram token", "%3AAA", r"(?<=[0-9]{8})%3A(AA[\w-]{33,}+)"),
    Rule("airtable token", "pat", START + r"(pat[A-Za-z0-9]{14}\.[0-9a-f]{40,}+)"),
    Rule("twitter token", "A" * 20, START + r"(A{20}[\w%]{40,}+)", looks_random),
    Rule("firebase key", "AAAA", START + r"(AAAA[\w-]{7}:[\w-]{130,}+)"),
    Rule("azure key", "accountkey= accesskey=", r"\w{9,10}=([\w+/%-]{40,}+={0,2})", any_case=True),
    Rule("azure signature", "sig=", r"(?<=[?&;])sig=([\w%+/=-]{30,}+)", any_case=True),
    Rule("azure signature", "sig\\u003d", r"sig\\u003d([\w%+/=-]{30,}+)", any_case=True),
    Rule("azure secret", "8Q~", r"(?<=\w{3})(8Q~[\w.~-]{31,34}+)", looks_random),
    Rule(
        "signature",  # of a URL or a request: whoever has it can send it again until it expires
        "signature=",
        r"signature=([\w%+/=~-]{20,}+)",
        looks_random,
        any_case=True,
    ),
    Rule(
        "one-time code",
        "?code= &code= samlresponse=",
        r"(?:[?&]code|samlresponse)=([\w%+/=.~-]{20,}+)",
        lambda value: looks_random(value) and not is_placeholder(value) and not is_uuid(value),
        any_case=True,
    ),
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
        r"identified[ \t]{1,4}(?:with[ \t]{1,4}\w{1,40}[ \t]{1,4})?by[ \t]{1,4}\\{0,7}[\"']"
        r"([^\s\"'\\]{1,255})",
        _url_password,
        any_case=True,
        within="words_low",
    ),
    Rule(
        "password",
        "identified",  # Oracle's has no quotes
        r"identified[ \t]{1,4}by[ \t]{1,4}(?:values[ \t]{1,4})?([^\s\"'\\;]{4,128})",
        lambda value: is_password(value, literal=False),
        any_case=True,
        within="words_low",
    ),
    Rule(
        "password",
        "jdbc:oracle:",  # `jdbc:oracle:thin:scott/…@//db`
        r"jdbc:oracle:\w{1,8}:\\{0,3}[\"']?[\w.$#-]{1,64}/\\{0,3}[\"']?([^\s\"'@\\/]{1,128})",
        lambda value: not is_placeholder(value),
        any_case=True,
    ),
    Rule(
        "password",
        "wifi:",  # what the QR code of a wireless network holds
        r"wifi:[^\r\n\"]{0,120}?(?<=[:;])p:((?:\\.|[^;\\\r\n]){4,128});",
        lambda value: not is_placeholder(value),
        any_case=True,
        within="words_low",
    ),
    Rule(
        "password",
        "pwd={",  # in braces, as ODBC takes one with a semicolon
        r"pwd=\{([^{}\r\n]{4,128})\}(?:;|\\?[\"']|\s|\Z)",
        lambda value: is_password(value, literal=False),
        any_case=True,
        within="words_low",
    ),
    Rule(
        "password",
        "form-data;",  # a field of a form, and below it its value
        r"form-data; name=\\{0,7}\"[\w.-]{0,40}(?:pass|secret|token)[\w.-]{0,20}\\{0,7}\""
        rf"{BETWEEN_LINES}{{2,40}}([^\s\"\\]{{4,256}})",
        lambda value: is_password(value, literal=True),
        any_case=True,
        within="words_low",
    ),
    Rule(
        "password",
        "::add-mask::",  # what a build is told to hide
        r"::add-mask::([^\s\"'\\]{4,256})",
        lambda value: is_password(value, literal=True),
    ),
    Rule(
        "cookie",
        "TRUE\t FALSE\t TRUE\\ FALSE\\",  # a line of curl's cookie jar
        r"(?:TRUE|FALSE)(?:\t|\\{1,7}t)/[^\s\\]{0,80}(?:\t|\\{1,7}t)(?:TRUE|FALSE)(?:\t|\\{1,7}t)[0-9]{1,12}"
        r"(?:\t|\\{1,7}t)[\w.-]{1,64}(?:\t|\\{1,7}t)([^\s\"'\\]{8,4096})",
        lambda value: is_key(value, literal=True),
        within="text",
    ),
    Rule(
        "password",
        "community",  # of SNMP
        r"community[ \t]{1,4}([^\s\"'\\]{6,64})",
        like_a_password,
        any_case=True,
        within="words_low",
    ),
    Rule(
        "password",
        "assword",  # `expect "assword:" { send "…\r" }`
        r"assword[^\r\n]{0,60}?\bsend[ \t]{1,4}(?:--?[ \t]{1,4})?\\{0,7}\"([^\"\\\r\n]{3,128})",
        lambda value: is_password(value, literal=True),
        within="words",
        begins=('assword:"', 'assword: "', "assword*", "assword:\\", "assword: \\"),
    ),
    Rule(
        "stream key",
        "rtmp",
        r"rtmps?://[^\s\"'/]{1,128}/(?:[\w.-]{1,40}/){0,2}([\w-]{12,128})",
        is_mixed,
    ),
    Rule(
        "pin",
        "pin puk",
        START + r"(?:pin(?:[ -]?(?:code|number))?|puk[12]?)[\\\"'`*]{0,6}"
        r"(?:[ \t]?[:=]| is| ist)?[\\\"'`* \t]{1,8}([0-9]{4,12})(?![\w-]|[.:][0-9])",
        any_case=True,
        within="words_low",
    ),
    Rule(
        "access code",
        "code",
        rf"(?:{_LOCKS})code[\\\"'`*]{{0,6}}(?:[ \t]?[:=]| is| ist)?"
        r"[\\\"'`* \t]{1,8}([0-9]{4,12}|[0-9]{3} [0-9]{3})(?![\w-]|[.:][0-9])",
        any_case=True,
        within="words_low",
        begins=("code ", "code:", "code=", 'code"', "code`", "code*"),
    ),
    Rule(
        "key",
        "AUTH_KEY AUTH_SALT LOGGED_IN_ NONCE_",  # of WordPress; they may hold blanks and any sign
        r"(?:AUTH|LOGGED_IN|NONCE)_(?:KEY|SALT)\\{0,3}[\"']?\s{0,4}(?:,|=>?|:)\s{0,8}\\{0,3}[\"']"
        r"([^\"'\\\r\n]{40,128})",
        _is_salt,
        within="words",
    ),
    Rule(
        "keytab",
        "BQIAAA",  # of Kerberos, in base64, also in lines
        START + r"(BQIAAA[A-Za-z0-9+/]{40,}+(?:(?:\s|\\n){1,40}[A-Za-z0-9+/]{20,}+){0,80}+"
        r"(?:(?:\s|\\n){1,40}[A-Za-z0-9+/]{2,75}=)?={0,2})",
    ),
    Rule("key data", "client-key-data", r"client-key-data\W{1,8}([A-Za-z0-9+/=]{20,}+)"),
    Rule(
        "netrc password",
        "login",
        rf"login{_BLANK}[^\s\\]{{1,255}}+{_BLANK}(?:account{_BLANK}[^\s\\]{{1,255}}+{_BLANK})?"
        r"password[ \t]{1,8}([^\s\"'\\]{1,255})",
        lambda value: is_password(value, literal=True),
        within="words",
    ),
    Rule(
        "password",
        ":5432: :5433: :6432: :*:",  # a line of `.pgpass`
        r":(?:[0-9]{2,5}|\*):[\w*-]{1,64}:[\w*.@-]{1,64}:([^\s:\"'\\]{4,128})",
        lambda value: is_password(value, literal=True),
    ),
    Rule(
        "password",
        "securestring",
        rf"securestring(?:[ \t]+-\w{{1,20}}){{0,4}}[ \t]+{_OPEN}([^\"'\r\n]{{3,128}})[\"']",
        lambda value: not is_placeholder(value),
        any_case=True,
        within="words_low",
    ),
    Rule(
        "password",
        "auth credential login signin connect",  # `auth=("bob", "…")`, `login("bob", "…")`
        rf"(?:auth|credentials?|login|signin|connect)\w{{0,20}}[\"']?\s{{0,2}}[:=]?\s{{0,2}}[(\[]\s{{0,20}}"
        rf"(?:{_OPEN}[^\"'\\\r\n]{{1,80}}\\{{0,3}}[\"'],\s{{0,20}}){{1,2}}(?:\w{{1,20}}\()?"
        rf"{_OPEN}([^\"'\\\r\n]{{4,128}})\\{{0,3}}[\"']\s{{0,4}}[)\],]",
        lambda value: is_password(value, literal=False) and " " not in value,
        any_case=True,
        within="words_low",
    ),
    Rule(
        "key",
        "fernet( jwt. hmac.new( fromhex( createhmac(",
        rf"[\w.]{{3,14}}\((?:[^()\"']{{0,80}},\s{{0,20}})?(?:{_OPEN}[^\"'\\\r\n]{{1,12}}\\{{0,3}}[\"'],\s{{0,4}})?"
        rf"b?{_OPEN}([^\"'\\\r\n]{{16,256}})",
        lambda value: not is_placeholder(value) and looks_random(value),
        any_case=True,
        within="words_low",
    ),
    Rule(
        "password hash",
        "$",
        r"(\$(?:[1567y]|2[aby]|apr1|argon2\w{1,2}|scrypt|pbkdf2[\w-]{0,8})\$[\w./$=,+-]{20,200})",
    ),
    Rule("password hash", "SCRAM-SHA-", r"SCRAM-SHA-[0-9]{1,3}\$[0-9]{1,8}:([\w+/=$:]{40,200})"),
    Rule("password hash", "md5", r"(?<![A-Za-z0-9])md5([0-9a-f]{32})(?!\w)"),  # PostgreSQL's
    Rule("password hash", ":::", r"([0-9a-f]{32}:[0-9a-f]{32}):::", any_case=True, back=65),
    Rule(
        "password hash",
        "{ssha {sha {crypt} {smd5}",
        r"\{\w{3,9}\}([A-Za-z0-9+/=.$]{16,200})",
        any_case=True,
        within="words_low",
    ),
    Rule(
        "recovery codes",
        "recovery backup scratch",
        r"(?:recovery|backup|scratch)[ _-]codes?\b[^\r\n\\]{0,80}?"
        rf"((?:{_CODE_LINE}){{2,20}})",
        lambda value: any(map(str.isdigit, value)),
        any_case=True,
        within="words_low",
    ),
    Rule(
        "passphrase",
        "passphrase",
        r"passphrase(?: is| was)?[:=]?[ \t]{1,4}[\"'`]?((?:[a-z]{3,10} ){3,9}[a-z]{3,10})"
        r"[\"'`.]?(?:[\r\n\\\"]|\Z)",
        lambda value: is_phrase(value, False),
        any_case=True,
        within="words_low",
    ),
    Rule(
        "registry password", "eyJ", START + r"(eyJ[A-Za-z0-9+/]{40,}+={0,2})(?![.\w-])", _is_packed
    ),
    Rule(
        "password",
        "cred log sign entra melde zugangsdaten identifiants",  # `creds: bob / …`
        r"(?:cred(?:en\w{1,8})?s?|log[ -]?in\w{0,4}|sign[ -]?in|entra|melde|zugangsdaten"
        r"|identifiants)\b\**"
        r"(?: (?:are|is|as|with|using|user|con|dich|mit|via|for [\w.-]{1,40})){0,3}\**"
        r"[ \t]{0,2}[:=]?\**[ \t]{1,2}[\"'`]?[\w.@+-]{1,64}[\"'`]?"
        r"(?:[ \t]?[:/][ \t]?| (?:and|und|y|et|e) )[\"'`]?([^\s\"'`/:,»\]]{6,64})",
        lambda value: like_a_password(value) or (is_mixed(value) and len(value) >= 12),
        any_case=True,
        within="words_low",
        begins=(
            *("cred", "login", "log in", "log-in", "signin", "sign in", "sign-in"),
            *("entra", "melde", "zugangsdaten", "identifiants"),
        ),
    ),
    Rule(
        "password",
        "sqlplus expdp impdp",  # `sqlplus scott/…@db`
        r"(?:sqlplus|expdp|impdp)[^\r\n]{0,60}?\s\\{0,3}[\"']?[\w.$#-]{1,64}/\\{0,3}[\"']?([^\s\"'@\\/]{3,128})",
        lambda value: not is_placeholder(value),
        within="words",
    ),
    Rule(
        "one-time password seed",
        "otpauth://",
        r"otpauth://[^\s\"']{1,200}?secret=([A-Za-z2-7]{8,128})",
    ),
    Rule(
        "one-time password seed",
        "otp 2fa mfa authenticator seed",
        r"(?:otp|2fa|mfa|authenticator|seed)[\w -]{0,30}?[\"'`]?(?:[:=]| is | key | secret )"
        r"[ \t]{0,3}[\"'`]?"
        r"([A-Z2-7]{16,64}|(?:[a-z2-7]{4} ){3,15}[a-z2-7]{4})(?![\w-])",
        lambda value: value.isupper() or " " in value,
        any_case=True,
        within="words_low",
    ),
    Rule(
        "seed phrase",
        "mnemonic phrase seed",
        r"(?:mnemonic|phrase|seed)[\w -]{0,30}?[\\\"'`]{0,8}(?:[:=]| is )[ \t]{0,3}[\\\"'`]{0,8}"
        r"((?:[a-z]{3,8} ){11,23}[a-z]{3,8})(?![\w-])",
        any_case=True,
        within="words_low",
    ),
)


def scan(page: SearchPage) -> Iterator[SecretFinding]:
    for rule in RULES:
        yield from rule.scan(page)
    for match in re.finditer(_LONG_SHAPES, page.very_long):
        for at in positions(page.text, match[0]):
            yield SecretFinding(str(match.lastgroup).replace("_", " "), at, at + len(match[0]))
    if "@" in page.long:
        yield from _scan_addresses(page.text)
    if "kty" in page.words:
        for match in re.finditer(_JWK_PRIVATE, page.text):
            yield SecretFinding("private key", *match.span(1))


def _scan_addresses(text: str) -> Iterator[SecretFinding]:
    """Find passwords in addresses without a scheme. Of a host and its port alone, the password must
    look like one."""
    done = 0
    for at in positions(text, "@"):
        if text[at - 1 : at].isspace():  # decorators; the pattern costs 1 % of a hook to compile
            continue
        host = compiled(_HOST, re.A).match(text, at)
        if not host:
            continue
        user = compiled(_USER, re.A).search(text, max(done, at - _USER_CHARS), at)
        done = host.end()
        if not user:
            continue
        judge = _url_password if host["dsn"] else like_a_password
        if (user["mark"] == ":" or host[0] == "@//") and judge(user["password"]):
            yield SecretFinding("password", *user.span("password"))
