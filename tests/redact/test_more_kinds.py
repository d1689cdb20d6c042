"""Kinds that samples of a stranger showed to be missing, each beside what only looks like it."""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Callable
from random import Random

import pytest

from holdfast.redact import find, redact
from tests.redact.samples import ALNUM, HEX, UPPER, drawn

pytestmark = pytest.mark.requirement("X4")
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
WORDS = ["acorn", "badger", "cobalt", "dune", "ferry", "gravel", "heron", "inlet", "kettle"]


def _hex(count: int) -> Callable[[Random], str]:
    return lambda random: drawn(random, count, HEX)


def _alnum(count: int) -> Callable[[Random], str]:
    return lambda random: drawn(random, count)


def _digits(count: int) -> Callable[[Random], str]:
    return lambda random: "".join(random.choice("123456789") for _ in range(count))


def _password(random: Random) -> str:
    return f"{random.choice(WORDS).title()}-{random.choice(WORDS).title()}{random.randint(10, 99)}"


def _words(random: Random) -> str:
    return "-".join([*random.sample(WORDS, 3), str(random.randint(10, 99))])


def _letters(random: Random) -> str:
    """Capitals and small letters by turns, as no name has them."""
    return "".join(random.choice("qRtYpLkJhGfDsZxCvBnM"[one % 2 :: 2]) for one in range(11))


def _case(random: Random) -> str:
    """Letters in any case and no digit, as one token in thirty has by chance."""
    return "".join(random.choice(string.ascii_letters) for _ in range(20))


def _salt(random: Random) -> str:
    signs = "!@#$%^&*()-_ []{}<>~`+=,.;:/?|"
    return ";)" + "".join(random.choice(ALNUM + signs) for _ in range(61)) + "x"


def _keytab(random: Random) -> str:
    packed = b"\x05\x02\x00\x00\x00\x50" + random.randbytes(94)
    return base64.b64encode(packed).decode()


def _form(form: str, value: Callable[[Random], str]) -> tuple[str, Callable[[Random], str]]:
    return form, value


FORMS = [
    _form("xo" + "xd-{}", lambda random: f"{drawn(random, 40)}%2B{drawn(random, 40)}"),
    _form("fm" + "2_{}", lambda r: f"{drawn(r, 44)}+{drawn(r, 9)}/{drawn(r, 30)}="),
    _form("{}-us14", _hex(32)),
    _form("{}", lambda r: f"{drawn(r, 14)}.atlas" + f"v1.{drawn(r, 60, ALNUM + '-')}"),
    _form("wallet: {}", lambda random: "L" + "".join(random.choice(BASE58) for _ in range(51))),
    _form("xp" + "rv9s21{}", lambda random: "".join(random.choice(BASE58) for _ in range(105))),
    _form("s" + "qp_{}", _hex(40)),
    _form("AKIA" + "QWERTYUIOP234567 / {}", lambda random: drawn(random, 40, ALNUM + "+/")),
    _form("SSWS {}", lambda random: f"00{drawn(random, 40)}"),
    _form('Authorization: Digest username="bob", response="{}"', _hex(32)),
    _form("https://x.io/f?Expires=1&Signature={}", _alnum(80)),
    _form("https://x.io/f?X-Goog-Signature={}", _hex(128)),
    _form("https://x.io/callback?code={}&state=a", _alnum(40)),
    _form("SAMLResponse={}", _alnum(200)),
    _form("shop_session={}", _alnum(60)),
    _form('{"kty":"EC","crv":"P-256","x":"abc","d":"{}"}', _alnum(43)),
    _form("BitLocker: {}", lambda random: "-".join(_digits(6)(random) for _ in range(8))),
    _form("SCRAM-SHA-256$4096:{}", lambda random: f"{drawn(random, 22)}==${drawn(random, 43)}="),
    _form("'md5{}'", _hex(32)),
    _form("bob:1001:{}:::", lambda random: f"{drawn(random, 32, HEX)}:{drawn(random, 32, HEX)}"),
    _form("rtmp://live.x.io/app/{}", lambda random: drawn(random, 24, ALNUM)),
    _form("jdbc:oracle:thin:scott/{}@//db:1521/X", _password),
    _form("ALTER USER bob IDENTIFIED BY {};", _password),
    _form("WIFI:T:WPA;S:Cafe;P:{};;", _password),
    _form("WPA2 key: {}", _password),
    _form("snmp-server community {} RO", _password),
    _form('expect "assword:" { send "{}\\r" }', _password),
    _form("requirepass {}", _words),
    _form("masterauth {}", _password),
    _form("bindpw {}", _password),
    _form("ldap_default_authtok = {}", _password),
    _form("a1 LOGIN bob {}", lambda random: drawn(random, 14)),
    _form("Zugangsdaten: bob / {}", _password),
    _form("melde dich mit bob und {} an", _password),
    _form("2FA setup key {}", lambda random: drawn(random, 32, UPPER)),
    _form("the SIM PIN is {}", _digits(8)),
    _form("PUK: {}", _digits(8)),
    _form("door code {}", _digits(6)),
    _form("your verification code is {}", _digits(6)),
    _form('{"id":"password","type":"CONCEALED","value":"{}"}', _password),
    _form("// Recovery codes:\n// 1. {}\n// 2. 6828a-a1a67", lambda r: f"{drawn(r, 5, HEX)}-09f6c"),
    _form("conf/a.env:17:mysql -u root -p{} app", _password),
    _form("<![CDATA[net user bob {} /add]]>", _password),
    _form("curl -u bob:'{}' http://x", lambda random: f"blue {drawn(random, 6)} whale"),
    _form("bob:{}@tcp(db.local:3306)/app", _password),
    _form('MYSQL_DSN="bob:{}@unix(/tmp/mysql.sock)/app"', _password),
    _form("connect scott/{}@//db.local:1521/X", _password),
    _form("PROXY=bob:{}@10.0.0.1:3128", _password),
    _form("gl" + "pat-{}", _case),
    _form("keytabBase64: {}", _keytab),
    _form("keytab:\n  {}", lambda r: _keytab(r)[:76] + "\n  " + _keytab(r)[76:]),
    _form("echo {} | base64 -d > /etc/krb5.keytab", _alnum(400)),
    _form("base64 -d <<< {} > /etc/tls/server.key", _alnum(400)),
    _form("echo '{}' | base64 -d | docker secret create tls -", _alnum(400)),
    _form("keystore_secret: {}", _alnum(3000)),
    _form('"keystoreSecret": "{}"', _alnum(9000)),
    _form("the secret that you need: {}", _alnum(3000)),
    _form("define( 'AUTH_KEY', '{}' );", _salt),
    _form("define('NONCE_SALT',       '{}');", _salt),
    _form("LOGGED_IN_KEY='{}'", _salt),
    _form("CONTRASENA_BD={}", _password),
    _form("DB_PAROL={}", _password),
    _form("MOT_DE_PASSE={}", _password),
    _form("haslo: {}", _password),
    _form("зайди под bob, паролем {} и жди", _password),
    _form("contraseña incorrecta '{}' para bob", _password),
    _form("echo '{}' > .vault_pass", _words),
    _form("echo {} >> ~/.db_password", _password),
    _form("printf '%s\\n' '{}' | sudo tee -a /etc/app/db_pass.txt", _password),
    _form('printf %s {} > "/run/app/api_token"', _password),
    _form(
        "2026-01-02T03:04:05.678Z app-1 | Backup codes:\n"
        "2026-01-02T03:04:05.678Z app-1 | {}\n2026-01-02T03:04:05.678Z app-1 | 6828 1167",
        lambda random: f"{_digits(4)(random)} {_digits(4)(random)}",
    ),
    _form("Recovery codes (once)<br>{}<br>6828a-a1a67", lambda r: f"{drawn(r, 5, HEX)}-09f6c"),
    _form("wg set wg0 private-key <(echo {})", lambda random: f"{drawn(random, 43)}="),
    _form("SECRET_KEY = 'django-insecure-{}'", lambda r: f"{drawn(r, 20)}$(={drawn(r, 20)}"),
]  # fmt: skip
STAYS = [
    "Twilio account AC" + "50552eeb38dbab888d902186e7b5aecc (public id)",
    'NO_TOKEN = Refusal(401, "no token")',
    "md5:9e107d9d372bb6826bd81d3542a419d6  file.iso",
    "session_id=2026-01-12-second-session-2",
    "the exit code is 12345678",
    "Pin the version of numpy to 1.26.4.",
    "pin: 12",
    "https://x.io/docs?code=snippet-of-a-longer-example",
    '{"kty":"EC","crv":"P-256","x":"vhZW3qKnOJ27qBQ8UyiT6yr33g35","kid":"k1"}',
    "| file | PASS | notes |\n|---|---|---|\n| a | 12 | Verified (E4-05 added) |",
    "| Feature | Password | OAuth |\n|---|---|---|\n| reset | supported | none |",
    "password = userPassword",
    "password: encodedValueFromForm",
    "our community is growing",
    "the password is stored in 1Password",
    "a password that will have been used with care",
    'PASSWORD_PROMPT="Enter the password: "',
    'WRONG_PASSWORD = "The password is wrong. Try again"',
    "secret: {{ vault_secret_42 }}",
    "identified by number",
    '{"nextPageToken": "Cg5zaG9ydC1wYWdlLTEyMw", "next_token": "a81Zk2mQ9vT4wL7xB3nR"}',
    "pageToken=Cg5zaG9ydC1wYWdlLTEyMw",
    "checksum/secret: 8a28929ac7f9a17e97a421ac2cd63ac73568ebe87bc0cee641a193d91c761577",
    "checksum/db-credentials: 8a28929ac7f9a17e97a421ac2cd63ac73568ebe87bc0cee641a193d91c761577",
    "https://x.io/docs/Password-policy-97dc284cf580da5ebef4aa4b47c13dce",
    "user:password@tcp(localhost:3306)/db",
    'fmt.Sprintf("%s:%s@tcp(%s:%d)/%s", user, password, host, port, name)',
    "ssh bob@host:22, image:v1.2@sha256:1234",
    "gl" + "pat-yourPersonalAccessToken",
    "gl" + "pat-Your-Token-Goes-Here-Okay-Now",
    "gl" + "pat-MY-OWN-KEY-IS-IN-THE-ENV",
    "define('AUTH_KEY', 'put your unique phrase here, and do not forget it');",
    'echo "3 passed" > results_pass.txt',
    'echo "export const x = 1" > src/tokens.ts',
    "echo $? > last_pass",
]


@pytest.mark.slow
@pytest.mark.parametrize(("form", "value"), FORMS, ids=[form[:30] for form, _ in FORMS])
def test_a_value_goes_from_the_form_it_is_met_in(form: str, value: Callable[[Random], str]) -> None:
    for seed in range(6):
        secret = value(Random(seed))
        shown = redact(form.replace("{}", secret))
        assert secret not in shown and secret[-14:] not in shown, shown


@pytest.mark.parametrize("text", STAYS)
def test_what_only_looks_like_one_of_them_stays(text: str) -> None:
    assert find(text) == [], redact(text)


@pytest.mark.parametrize(
    "form",
    ["password: {}", "password={}", "the password is {}", "API_SECRET = '{}'", "token = {}",
     "vault_password={}", "secret={}"],
)  # fmt: skip
def test_random_letters_without_a_digit_are_a_password(form: str) -> None:
    for seed in range(20):
        secret = _letters(Random(seed))
        assert secret not in redact(form.format(secret)), form.format(secret)


@pytest.mark.parametrize("form", ["use {} as the password", "login with bob / {}", "wachtwoord {}"])
def test_three_words_and_a_number_are_a_password(form: str) -> None:
    for seed in range(6):
        secret = _words(Random(seed))
        assert secret not in redact(form.format(secret))


SENTENCES = [
    "mdp: {}", "parola d'ordine: {}", "salasana: {}", "jelszó: {}", "adgangskode: {}",
    "lösenordet är {}", "passord: {}", "κωδικός είναι {}", "รหัสผ่าน: {}", "kata sandi: {}",
    "口令\uff1a{}", "密碼: {}", "パスワードは {} です", "パスワードは「{}」です",
    "비밀번호는 {} 입니다",
    "密码是{}", "пароль от базы: {}", "mot de passe du wifi, c'est {}", "mật khẩu là {}",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_password_is_found_in_a_sentence_of_another_language(sentence: str) -> None:
    for secret in (_password(Random(1)), _words(Random(2))):
        text = sentence.format(secret)
        assert secret not in redact(text), text
        assert secret not in redact(f"«{text}»")


@pytest.mark.parametrize("sentence", ["contraseña: {}", "密码: {}", "şifre: {}"])
def test_a_name_with_escaped_letters_is_found(sentence: str) -> None:
    secret = _password(Random(3))
    once = json.dumps({"note": sentence.format(secret)})
    for text in (once, json.dumps({"body": once})):
        assert "\\u" in text
        assert secret not in redact(text)
        json.loads(redact(text))


@pytest.mark.parametrize(
    "table",
    [
        "| user | password |\n|---|---|\n| bob | {} |\n| eve | {} |",
        "name,mail,password\nbob,b@x.io,{}\neve,e@x.io,{}",
        "> user\tdb password\tnote\n> bob\t{}\told\n> eve\t{}\tnew",
    ],
)
def test_a_column_of_passwords_goes_in_every_row(table: str) -> None:
    first, second = _password(Random(4)), _letters(Random(5))
    for text in (table.format(first, second), json.dumps(table.format(first, second))):
        shown = redact(text)
        assert first not in shown and second not in shown, shown
        assert "bob" in shown and "eve" in shown


@pytest.mark.parametrize(
    "command",
    ["X-Auth-Key: {}", "app.secretKey={}", "redis-cli -a {} ping", "PGPASSWORD={} psql -l"],
)
def test_a_value_that_a_terminal_cut_at_its_last_column_goes_whole(command: str) -> None:
    for secret in (_words(Random(6)), drawn(Random(7), 36, HEX)):
        line = command.format(secret)
        for shown_chars in (5, 9, len(secret) - 4):
            lead = 80 - line.index(secret) - shown_chars - 1
            text = f"{'x' * lead} {line}"
            cut = f"{text[:80]}\n{text[80:]}\nnext line"
            shown = redact(cut)
            assert secret[:shown_chars] not in shown and secret[shown_chars:] not in shown, shown
            assert shown.endswith("\nnext line")


def test_a_line_that_fills_the_terminal_by_chance_keeps_the_next_one() -> None:
    line = f"{'word ' * 12}password is Heron-Dune42"
    text = f"{line:.<80}\nand the next line begins here"
    assert redact(text).endswith("\nand the next line begins here")


@pytest.mark.parametrize(
    "form",
    [
        'password: "{}"', '--password "{}" --verbose', 'BORG_PASSPHRASE="{}"',
        "gpg --passphrase '{}' x",
        '{"password": "{}"}', r'{\"password\": \"{}\"}', "curl -u bob:'{}' x", "mysql -p'{}' app",
    ],
)  # fmt: skip
def test_a_quoted_passphrase_goes_whole(form: str) -> None:
    for phrase in ("blue whale 42 sings", "17 green Bottles stand"):
        shown = redact(form.replace("{}", phrase))
        assert not any(word in shown for word in phrase.split() if len(word) > 3), shown


def test_a_passphrase_in_an_env_line_may_have_any_signs() -> None:
    shown = redact('RESTIC_PASSPHRASE="tulips (red): are = 42, yes"')
    assert shown == 'RESTIC_PASSPHRASE="[redacted: password]"'


def test_what_follows_recovery_codes_stays() -> None:
    shown = redact("Recovery codes\n6828a-a1a67\n5728b-a1a68\nlistening on 8080")
    assert shown == "Recovery codes[redacted: recovery codes]\nlistening on 8080"


def test_an_app_password_in_four_groups_goes_whole() -> None:
    for form in ("tool -smtp-password {}", "app password: {}", 'SMTP_PASSWORD="{}"'):
        shown = redact(form.format("akwy jnni rycs ewih"))
        assert "rycs" not in shown and "akwy" not in shown, shown


def test_a_path_behind_a_token_stays() -> None:
    token = "np" + "m_" + drawn(Random(8), 36)
    assert redact(f"https://x.io/{token}/packages/list") == (
        "https://x.io/[redacted: npm token]/packages/list"
    )


def test_basic_credentials_are_still_read_from_base64() -> None:
    packed = base64.b64encode(f"bob:{_password(Random(9))}".encode()).decode()
    assert packed not in redact(f"_auth = {packed}")
    assert set(packed) <= set(string.ascii_letters + string.digits + "+/=")
