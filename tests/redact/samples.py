"""Secrets made up on the spot, in the dress they are met in, and things that only look like them.

Each maker gives a text and the part of it that must go. Nothing here is a secret as it stands in
this file: beginnings are split and bodies are drawn, so that no scanner stops at the repository.
"""

from __future__ import annotations

import base64
import hashlib
import string
import uuid
from collections.abc import Callable
from random import Random

Maker = Callable[[Random], tuple[str, str]]
ALNUM = string.ascii_letters + string.digits
URL64 = ALNUM + "-_"
HEX = "0123456789abcdef"
BASE64 = ALNUM + "+/"


def drawn(random: Random, count: int, alphabet: str = ALNUM) -> str:
    """So many characters; the first and last are letters and one in the middle is a digit."""
    letters = "abcdef" if alphabet == HEX else "ABCDEF" if alphabet == UPPER else "kwyzHQ"
    middle = "".join(random.choice(alphabet) for _ in range(count - 3))
    return random.choice(letters) + random.choice("23457") + middle + random.choice(letters)


UPPER = string.ascii_uppercase + "234567"


def _token(*parts: str, count: int, alphabet: str = ALNUM) -> Maker:
    def make(random: Random) -> tuple[str, str]:
        secret = "".join(parts) + drawn(random, count, alphabet)
        return secret, secret

    return make


def _inside(form: str, count: int, alphabet: str = ALNUM) -> Maker:
    """`{}` of the form is the secret."""

    def make(random: Random) -> tuple[str, str]:
        secret = drawn(random, count, alphabet)
        return form.replace("{}", secret), secret

    return make


def _password(form: str) -> Maker:
    def make(random: Random) -> tuple[str, str]:
        secret = drawn(random, random.randint(8, 20), ALNUM + "!#%*+_-.")
        return form.replace("{}", secret), secret

    return make


def _jwt(random: Random) -> tuple[str, str]:
    secret = f"ey{'J'}{drawn(random, 30)}.ey{'J'}{drawn(random, 60)}.{drawn(random, 43, URL64)}"
    return secret, secret


def _sendgrid(random: Random) -> tuple[str, str]:
    secret = f"S{'G'}.{drawn(random, 22, URL64)}.{drawn(random, 43, URL64)}"
    return secret, secret


def _discord(random: Random) -> tuple[str, str]:
    secret = f"{drawn(random, 6)}.{drawn(random, 38, URL64)}"
    return f"M{drawn(random, 23)}.{secret}", secret


def _basic(form: str) -> Maker:
    def make(random: Random) -> tuple[str, str]:
        secret = base64.b64encode(f"bob:{drawn(random, 12)}".encode()).decode()
        return form.replace("{}", secret), secret

    return make


def _block(title: str, *, cut: str = "") -> Maker:
    """A private key; `cut` leaves out its head or its foot."""

    def make(random: Random) -> tuple[str, str]:
        lines = [drawn(random, 64, BASE64) for _ in range(12)]
        head, foot = (f"-----{word} {title}-----" for word in ("BEGIN", "END"))
        head, foot = ("" if cut == "head" else head), ("" if cut == "foot" else foot)
        return "\n".join([head, *lines, foot]).strip(), lines[random.randrange(12)]

    return make


def _packed(random: Random, count: int) -> str:
    return base64.b64encode(random.randbytes(count)).decode()


_PRIVATE = "PRIVATE" + " KEY"
SECRETS: dict[str, Maker] = {
    "aws access key": _token("AK", "IA", count=16, alphabet=UPPER),
    "aws secret": _inside("aws_secret_access_key = {}", 40, BASE64),
    "aws secret, json": _inside('"SecretAccessKey": "{}"', 40, BASE64),
    **{f"github {mark}": _token("gh", mark, "_", count=36) for mark in "pousr"},
    "github, fine grained": _token("github", "_pat_", count=82, alphabet=ALNUM + "_"),
    "gitlab": _token("gl", "pat-", count=20, alphabet=URL64),
    **{f"slack {m}": _token("xo", f"x{m}-", count=48, alphabet=ALNUM + "-") for m in "abprs"},
    "slack webhook": _inside("https://hooks.slack" + ".com/services/T01ABCDEF/B02ABCDEF/{}", 24),
    "discord webhook": _inside("https://discord.com/api" + "/webhooks/123456789012345678/{}", 68),
    **{f"stripe {m}": _token(m[:3], m[3:], count=24) for m in ("sk_live_", "rk_live_", "sk_test_")},
    "openai": _token("sk", "-", count=48),
    "openai, project": _token("sk", "-proj-", count=120, alphabet=URL64),
    "anthropic": _token("sk", "-ant-api03-", count=93, alphabet=URL64),
    "google api": _token("AI", "za", count=35, alphabet=URL64),
    "google oauth": _token("ya", "29.", count=60, alphabet=URL64),
    "google client": _token("GOC", "SPX-", count=28, alphabet=URL64),
    "npm": _token("np", "m_", count=36),
    "npmrc": _inside("//registry.npmjs.org/:_authToken={}", 36),
    "pypi": _token("py", "pi-AgEIcHlwaS5vcmc", count=120, alphabet=URL64),
    "twilio": _token("S", "K", count=32, alphabet=HEX),
    "sendgrid": _sendgrid,
    "mailgun": _token("ke", "y-", count=32, alphabet=HEX),
    "hugging face": _token("h", "f_", count=34),
    "discord bot": _discord,
    "telegram bot": _inside("1234567890:A" + "A{}", 33, URL64),
    "jwt": _jwt,
    "rsa key": _block("RSA " + _PRIVATE),
    "ssh key": _block("OPENSSH " + _PRIVATE),
    "pgp key": _block("PGP " + _PRIVATE + " BLOCK"),
    "pkcs8 key": _block(_PRIVATE),
    "key without foot": _block("EC " + _PRIVATE, cut="foot"),
    "key without head": _block("RSA " + _PRIVATE, cut="head"),
    "kubeconfig": _inside("    client-key-data: {}", 400, BASE64),
    "azure storage": _inside("AccountName=x;Account" + "Key={}==;EndpointSuffix=y", 86, BASE64),
    "azure sas": _inside("https://x.blob.core.windows.net/c?sv=2024-01-01&sig={}%3D", 43),
    "url": _password("postgres://bob:{}@db.local:5432/app"),
    "url, http": _password("git clone https://bob:{}@git.local/a/b.git"),
    "url, token only": _inside("https://{}@git.local/a/b.git", 40),
    "bearer": _inside("Authorization: Bearer {}", 40),
    "bearer, curl": _inside('curl -H "Authorization: Bearer {}" http://x', 40),
    "basic": _basic("Authorization: Basic {}"),
    "docker auth": _basic('{"auths": {"https://index.docker.io/v1/": {"auth": "{}"}}}'),
    "cookie": _inside("Cookie: theme=dark; sid={}", 32),
    "set-cookie": _inside("Set-Cookie: connect.sid=s%3A{}; Path=/; HttpOnly", 32),
    "x-api-key": _inside("X-Api-Key: {}", 32),
    "env password": _password("DB_PASSWORD={}"),
    "env, exported": _inside("export SERVICE_TOKEN={}", 32),
    "env, quoted": _inside('CLIENT_SECRET="{}"', 32),
    "yaml password": _password("  password: {}"),
    "yaml key": _inside("api_key: {}", 32),
    "json password": _password('{"user": "bob", "password": "{}"}'),
    "json key": _inside("{'apiKey': '{}'}", 32),
    "python": _password('password: str = "{}"'),
    "go": _password('passwd := "{}"'),
    "java": _password('ds.setPassword("{}");'),
    "xml": _password("<password>{}</password>"),
    "kubernetes env": _password('- name: DB_PASSWORD\n  value: "{}"'),
    "flag": _password("tool --user bob --password {} --verbose"),
    "flag, equals": _inside("tool --api-key={} --verbose", 32),
    "query": _inside("https://x.io/v1?access_token={}&page=2", 32),
    "mysql": _password("mysql -u root -p{} app"),
    "curl user": _password("curl -u bob:{} https://x.io/"),
    "curl user, joined flags": _password("curl -sSu bob:{} https://x.io/"),
    "curl user, no scheme": _password("curl -s bob:{}@x.io/tides"),
    "curl user, list": _password('["curl", "-u", "bob:{}", "https://x.io/"]'),
    "mysql, list": _password('["mysql","-u","root","-p{}"]'),
    "sshpass, list": _password("run(['sshpass', '-p', '{}', 'ssh', 'gauge'])"),
    "sshpass, list in lines": _password('[\n  "sshpass",\n  "-p",\n  "{}",\n  "ssh"\n]'),
    "sshpass, escaped list": _password('[\\"sshpass\\",\\"-p\\",\\"{}\\",\\"ssh\\"]'),
    "wrapped in a type": _password('password: Some("{}")'),
    "yaml, typed": _password("password: !!str {}"),
    "three quotes": _password('password = \"\"\"\n{}\"\"\"'),
    "value above its name": _password("- value: {}\n  name: DB_PASSWORD"),
    "odbc, braces": _password("DRIVER={x};UID=sa;PWD={{}};"),
    "form": _password('form-data; name="password"\n\n{}\n--x'),
    "masked in a build": _password("::add-mask::{}"),
    "cookie jar": _password("#HttpOnly_x.io\tFALSE\t/\tTRUE\t0\tsid\t{}"),
    "table of variables": _password("DB_PASSWORD                    {}"),
    "sshpass": _password("sshpass -p {} ssh host"),
    "redis": _password("redis-cli -h host -a {} ping"),
    "docker login": _password("docker login -u bob -p {} registry.local"),
    "netrc": _password("machine api.x.io login bob password {}"),
    "prose": _password("The password is {} for now"),
    "prose key": _inside("my API key is {}", 40),
    "blank": _inside("aws configure set aws_secret_access_key {}", 40, BASE64),
    "table": _inside("| API_KEY | {} |", 40),
    "sql": _password("CREATE USER bob IDENTIFIED BY '{}'"),
    "sql, password": _password("ALTER USER bob WITH PASSWORD '{}'"),
    "fallback": _password('os.getenv("DB_PASSWORD", "{}")'),
    "markdown": _password("- **Password:** {}"),
    **{
        f"form: {form[:24]}": _password(form)
        for form in (
            "psk=\"{}\"",
            "keytool -genkey -storepass {} -alias a",
            "keytool -genkey -keypass {} -alias a",
            "redis-server --requirepass {}",
            "ssh-keygen -t ed25519 -N {} -f key",
            "$p = ConvertTo-SecureString '{}' -AsPlainText -Force",
            "rabbitmqctl add_user bob {}",
            "lftp -u bob,{} sftp://host",
            "docker run -e PASS={} image",
            "user: bob, pass: {}",
            "pw: {}",
            "http --auth bob:{} GET x.io",
            "localhost:5432:*:bob:{}",
            "plink -pw {} host",
            "auth=(\"bob\", \"{}\")",
            "<add key=\"DbPassword\" value=\"{}\"/>",
            "echo '{}' | docker secret create db_password -",
            "Use {} as the database password.",
        )
    },
    **{
        f"form: {form[:24]}": _inside(form, 40)
        for form in (
            "FERNET_KEY={}",
            "MAILCHIMP_KEY={}",
            "Authorization: SSWS {}",
            "nuget push a.nupkg -k {} -Source y",
            "variable \"api_token\" {\n  type    = string\n  default = \"{}\"\n}",
            "Error: invalid client secret provided: {}",
            "My Acme token changed, the new one is \"{}\". Update it.",
            "{\"gitlab-token\": {\"git.x.io\": \"{}\"}}",
        )
    },
    "notion": _token("secret", "_", count=43),
    "airtable": lambda r: (f"{(t := 'pa' + 't' + drawn(r, 14) + '.' + drawn(r, 64, HEX))}", t[3:]),
    "doppler": _token("dp", ".pt.", count=43),
    "dropbox": _token("s", "l.", count=136, alphabet=URL64),
    "square": _token("sq0", "atp-", count=22, alphabet=URL64),
    "square, newer": _token("EA", "AA", count=60, alphabet=URL64),
    "twitter bearer": _token("A" * 22, count=80),
    "netrc, numbered": _password("    1\tmachine a.io\n     2\t  login bob\n     3\t  password {}"),
    "one-time password": _inside("otpauth://totp/x:bob?secret={}&issuer=x", 32, UPPER),
    "next line": _password("PASSWORD = (\n    \"{}\"\n)"),
}  # fmt: skip

INNOCENT: dict[str, Callable[[Random], str]] = {
    "commit": lambda r: f"commit {hashlib.sha1(r.randbytes(9)).hexdigest()}",
    "log line": lambda r: f"{hashlib.sha1(r.randbytes(9)).hexdigest()[:7]} Fix the token reader",
    "sha256": lambda r: f"sha256:{hashlib.sha256(r.randbytes(9)).hexdigest()}",
    "pip hash": lambda r: f"    --hash=sha256:{hashlib.sha256(r.randbytes(9)).hexdigest()} \\",
    "npm integrity": lambda r: f'"integrity": "sha512-{_packed(r, 64)}"',
    "go.sum": lambda r: f"x.io/y v1.2.3 h1:{_packed(r, 32)}",
    "cargo": lambda r: f'checksum = "{hashlib.sha256(r.randbytes(9)).hexdigest()}"',
    "uuid": lambda r: f'"sessionId":"{uuid.UUID(int=r.getrandbits(128))}"',
    "session": lambda r: f"http://x/?sessionId={uuid.UUID(int=r.getrandbits(128))}",
    "tool id": lambda r: f'"tool_use_id":"toolu_01{drawn(r, 22)}"',
    "request id": lambda r: f'"requestId":"req_011{drawn(r, 21)}"',
    "image": lambda r: f"data:image/png;base64,{_packed(r, 900)}",
    "public key": lambda r: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{drawn(r, 43, BASE64)} bob@host",
    "certificate": lambda r: f"-----BEGIN CERTIFICATE-----\n{drawn(r, 64, BASE64)}\n",
    "minified": lambda r: f"!function(e,t){{e.token=t.secret,e.password=n(t.pwd)}}({r.random()});",
    "minified pair": lambda r: "{password:e.password,token:t.accessToken,apiKey:r.k2.apiKey}",
    "etag": lambda r: f'ETag: W/"{drawn(r, 27)}"',
    "docker digest": lambda r: f"FROM python@sha256:{hashlib.sha256(r.randbytes(9)).hexdigest()}",
    "cache key": lambda r: f"cache_key={hashlib.sha256(r.randbytes(9)).hexdigest()}",
    "test id": lambda r: f"test_token.py::test_password_{r.randint(1, 99)}[secret-x1] PASSED",
    "counts": lambda r: f"max_tokens: {r.randint(1000, 9999)}, used_tokens={r.randint(1, 99999)}",
}  # fmt: skip

STAND_INS = (
    'password: "Enter your password"', 'PASSWORD_HINT="must be at least 8 characters"',
    "--- PASS: TestTokenV2/ok (0.00s)", "kubectl get secret app-tls -o yaml",
    "git log -p HEAD~12", "cargo test -p my-crate2", "pytest -k TestFoo12",
    "cache key: v2:9aa1e33946e84f7c63ec10eda8113a831755b1ddaa90db12a58b6e64a72025cd",
    "API_KEY not set\n2026-02-28T11:47:40.2863056Z done",
    '"API_KEY": "***", "GIT_COMMIT": "0dd1b9e29e63569b05c83adaf67ec56a3308af9a"',
    "TOKEN=$TOKEN",
    "TOKEN=${GITHUB_TOKEN:-}",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "password: <password>",
    "api_key=your-key-here",
    "API_KEY=xxxxxxxxxxxxxxxxxxxx",
    "password: changeme",
    "password = os.environ['DB_PASSWORD']",
    "token: process.env.API_TOKEN_2",
    "const token = getToken(user1)",
    "token: str",
    "password: Optional[str] = None",
    "password=password",
    "f(token=token, secret=self.secret_v2)",
    "secret: {{ .Values.secret }}",
    "password: z.string().min(8)",
    'type: "password", placeholder: "Password"',
    "if password == user.password2:",
    "unexpected token: 'identifier'",
    "The password is required",
    "Bearer authentication is used",
    "Basic Operations",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "PWD=/home/bob/app2",
    "postgres://user:password@localhost/db",
    "postgres://user:${DB_PASS}@localhost/db",
    "http://localhost:8080/a@b",
    "mysql -u root -p app",
    '["mysql", "-u", "root", "-p", "app"]',
    '["ssh", "-p", "2222", "gauge"]',
    '["curl", "-u", "bob:$PASSWORD", "https://x.io/"]',
    'curl -sSu "$BOB:$PASSWORD" https://x.io/',
    "curl -fsSLo tides.tgz https://x.io/",
    "curl localhost:8080/a@b",
    'password: Some("password")',
    "PWD={password};",
    "password                    required",
    "docker run -p 8080:80 image",
    "mkdir -p src/a1/b2",
    "passed ? 'PASS' : 'FAIL'",
    "pass: 12, fail: 3",
    "npm_config_registry npm_package_version_1234",
    "class='sk-folding-cube sk-container-id-1'",
    "risk-assessment-2024-final-version-of-the-thing",
    'the file before the "-----BEGIN RSA " "PRIVATE KEY-----" and after "-----END RSA"',
    'WAIT_FOR_TOKEN = "waitForTaskToken"',
    "the token 1fc8b3b9a1e18e3b5d6f7a8b9c0d1e2f3a4b5c6d is a commit",
    "secret_name: app-tls", "token_count = 15000", "tokenizer: cl100k_base",
)  # fmt: skip
