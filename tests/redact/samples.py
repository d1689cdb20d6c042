"""Secrets made up on the spot, in the dress they are met in, and things that only look like them.

Nothing here is a secret as it stands in this file: beginnings are split by `|` and bodies are
drawn, so that no scanner stops at the repository.
"""

import base64
import hashlib
import re
import string
import uuid
from collections.abc import Callable
from random import Random

Maker = Callable[[Random], tuple[str, str]]
ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"
_ALPHABETS = {"w": ALNUM, "-": ALNUM + "-_", "h": HEX, "U": UPPER, "+": ALNUM + "+/"}
WORDS = "acorn badger cobalt dune ferry gravel heron inlet kettle lantern meadow nickel".split()  # noqa: SIM905


def drawn(random: Random, count: int, alphabet: str = ALNUM) -> str:
    """So many characters; the first and last are letters and one of the first is a digit."""
    letters = "abcdef" if alphabet == HEX else "ABCDEF" if alphabet == UPPER else "kwyzHQ"
    middle = "".join(random.choice(alphabet) for _ in range(count - 3))
    return random.choice(letters) + random.choice("23457") + middle + random.choice(letters)


def _password(random: Random) -> str:
    return drawn(random, random.randint(8, 20), ALNUM + "!#%*+_-.")


def _basic(random: Random) -> str:
    return base64.b64encode(f"bob:{drawn(random, 12)}".encode()).decode()


def _uuid(random: Random) -> str:
    return str(uuid.UUID(int=random.getrandbits(128)))


_VALUES: dict[str, Callable[[Random], str]] = {
    "{p}": _password,
    "{k}": lambda random: drawn(random, 40),
    "{h}": lambda random: drawn(random, 32, HEX),
    "{+}": lambda random: drawn(random, 40, ALNUM + "+/"),
    "{U}": lambda random: drawn(random, 32, UPPER),
    "{basic}": _basic,
    "{uuid}": _uuid,
    "{w}": lambda random: " ".join(random.sample(WORDS, 4)),
}
# Beginning, length and alphabet of what follows; several parts make one token.
_TOKENS = """
gh|p_ 36w, gh|o_ 36w, gh|u_ 36w, gh|s_ 36w, gh|r_ 36w, github|_pat_ 82-, gl|pat- 20-, gl|rt- 20-
xo|xb- 48-, xo|xp- 48-, xa|pp-1- 60-, sk_|live_ 24w, rk_|live_ 24w, sk_|test_ 24w, wh|sec_ 32w
sk_|live_51 20w _ 40w, sk|- 48w, sk|-proj- 120-, sk|-ant-api03- 93-, sk|-ant-oat01- 80-
AI|za 35-, ya|29. 60-, GOC|SPX- 28-, AK|IA 16U, AS|IA 16U, np|m_ 36w, py|pi-AgEIcHlwaS5vcmc 120-
h|f_ 34w, dop|_v1_ 64h, dckr|_pat_ 27-, shp|at_ 32h, ATA|TT3 60-, dap|i 32h, glsa|_ 32w _ 8h
hv|s. 60-, d|p.pt. 43w, S|G. 22- . 43-, S|K 32h, ke|y- 32h, fo|1_ 43-, sb|p_ 40h
fm|2_lJPECAAAAAAA 60+
vercel|_blob_rw_ 16w _ 32w, vc|p_ 56w, nf|p_ 36w, sb_|secret_ 31-, pscale|_pw_ 43-, nt|n_ 46w
secret|_ 43w, lin|_api_ 40w, fig|d_ 43-, sq0|atp- 22-, EA|AA 60-, s|l. 136-, dt0c|01. 24U . 64U
NR|AK- 27U, sntry|s_eyJpYXQiOjE3 90-, sq|p_ 40h, PM|AK- 24h - 34h, pu|l- 40h, AGE-SECRET|-KEY-1 58U
xpr|v 107w, p8|e- 32-, LT|AI 20w, AKC|p 69w, gs|k_ 52w, xa|i- 80w, r8|_ 37w, ppl|x- 48w
tvl|y-dev- 32w, nv|api- 64-, pc|sk_ 5w _ 60w, lsv2|_pt_ 32h _ 10h, sk|-or-v1- 64h, sk|-lf- 36-
sk|-ws-01- 80-, secret|-live- 36-, db|tc_ 40-, xa|u_ 36w, re|_ 8w _ 24w, xkey|sib- 64h - 16w
ts|key-auth-k 11w - 32w, HR|KU- 36-, CCI|PAT_ 22w _ 40h, CF|PAT- 43-, waka|_ 36-, bk|ua_ 40h
rzp|_live_ 14w, ph|x_ 43w, tr|_prod_ 20w, jsr|p_ 32w, gitpod|_pat_ 40-, ory|_at_ 43-, napi|_ 60w
acme|_pat_ 40w, widget|_live_ 32w, MY|_sk_ 30w, sha2|56~ 43-, AAAAAAAAAAAA|AAAAAAAAAA 80w
ey|JhbGci 30w .ey|J 60w . 43-, M 23w . 6w . 38-, pat 14w . 64h, SharedAccess|Key= 43w
""".replace("\n", ", ")
# `{…}` is the secret; names that stand in tokens say what is drawn.
_FORMS = r"""
DB_PASSWORD={p}|export SERVICE_TOKEN={k}|CLIENT_SECRET="{k}"|PGPASSWORD={p} psql -l|FERNET_KEY={k}
API_KEY_OPENAI={k}|SECRET_KEY_BASE={h}|RAILS_MASTER_KEY={h}|HEROKU_API_KEY={uuid}|  password: {p}
api_key: {h}|app.secretKey={k}|{"user": "bob", "password": "{p}"}|{'apiKey': '{k}'}|psk="{p}"
"SecretAccessKey": "{+}"|aws_secret_access_key = {+}|password: str = "{p}"|passwd := "{p}"
ds.setPassword("{p}");|<password>{p}</password>|<add key="DbPassword" value="{p}"/>|pw: {p}
- name: DB_PASSWORD\n  value: "{p}"|- name: API_TOKEN\n  value: \|\n    {k}
token: \|\n  {k}\nport: 1
{"name":"API_KEY","value":"{k}"}|<key>Password</key>\n<string>{p}</string>|password => '{p}'
tool --user bob --password {p} --verbose|tool --api-key={k} --verbose|keytool -storepass {p} -x
gh secret set API_TOKEN --body "{k}"|https://x.io/v1?access_token={k}&page=2
variable "api_token" {\n  type = string\n  default = "{k}"\n}
{"gitlab-token": {"git.x.io": "{k}"}}|os.getenv("DB_PASSWORD", "{p}")|auth=("bob", "{p}")
Authorization: Bearer {k}|curl -H "Authorization: token {k}" http://x|Authorization: Basic {basic}
Proxy-Authorization: Basic {basic}|{"auths": {"x.io": {"auth": "{basic}"}}}|X-Api-Key: {h}
Cookie: theme=dark; sid={h}|Set-Cookie: connect.sid=s%3A{k}; Path=/|PHPSESSID={h}|shop_session={k}
postgres://bob:{p}@db.local:5432/app|git clone https://bob:{p}@git.local/a.git|redis://:{p}@r:6379
https://{k}@git.local/a/b.git|bob:{k}@tcp(db:3306)/app|localhost:5432:app:bob:{p}
mysql -u root -p{p} app|["mysql","-u","root","-p{p}"]|sshpass -p {p} ssh host|curl -sSu bob:{p} x
["curl", "-u", "bob:{p}", "https://x.io/"]|redis-cli -h host -a {p} ping|lftp -u bob,{p} sftp://x
docker login -u bob -p {p} registry.local|ssh-keygen -t ed25519 -N {p} -f key|plink -pw {p} host
machine api.x.io login bob password {p}|//registry.npmjs.org/:_authToken={k}|requirepass {k}
The password is {p} for now|my API key is {k}|invalid API key {h} for bob|here: token is {k}
password for staging: {p}|Incorrect API key provided: {k}.|Your API key:\n\n    {h}\n\nKeep it.
API_KEY   {k}|\| API_KEY \| {k} \||- **Password:** {p}|`DB_PASSWORD`: `{p}`|Das Passwort ist {p}
contraseña: {p}|пароль: {p}|密码\uff1a{p}|パスワードは {p}|mot de passe : {p}
https://hooks.slack\x2ecom/services/T01ABCDEF/B02ABCDEF/{k}|otpauth://totp/x:bob?secret={U}&issuer=x
ALTER USER bob WITH PASSWORD '{p}'|CREATE USER bob IDENTIFIED BY '{p}'|$6$salt${k}
AccountName=x;AccountKey={+};EndpointSuffix=y|https://x.blob/c?sv=1&sig={k}%3D|Signature={k}
{"kty":"EC","crv":"P-256","x":"abc","d":"{k}"}
SIGNING_SECRET="{w}"|signing_secret: "{w}"|{"user": "bob", "jwtSecret": "{w}"}|api_key = '{w}'
X-Signing-Secret: "{w}"|encryptionKey: >-\n  {w}|passphrase: {w}|- backup passphrase: {w}
""".replace("\n", "|").replace("\\|", "\0")  # fmt: skip


def _token(parts: str) -> Maker:
    def make(random: Random) -> tuple[str, str]:
        made = ""
        for part in parts.replace("|", "").split():
            length = re.fullmatch(r"([0-9]+)([wUh+-])", part)
            made += drawn(random, int(length[1]), _ALPHABETS[length[2]]) if length else part
        return made, made.partition("=")[2] or made

    return make


def _form(form: str) -> Maker:
    form = form.replace("\0", "|").replace("\\n", "\n").replace("\\x2e", ".")
    mark = next(mark for mark in _VALUES if mark in form)

    def make(random: Random) -> tuple[str, str]:
        secret = _VALUES[mark](random)
        return form.replace(mark, secret).replace("\\uff1a", "\uff1a"), secret

    return make


def _key(title: str, *, cut: str = "") -> Maker:
    """A private key; `cut` leaves out its head or its foot."""

    def make(random: Random) -> tuple[str, str]:
        lines = [drawn(random, 64, ALNUM + "+/") for _ in range(12)]
        head, foot = (f"-----{word} {title}PRIVATE{' KEY'}-----" for word in ("BEGIN", "END"))
        whole = ["" if cut == "head" else head, *lines, "" if cut == "foot" else foot]
        return "\n".join(whole).strip(), random.choice(lines)

    return make


def _phrase(between: str) -> Maker:
    def make(random: Random) -> tuple[str, str]:
        words = random.sample(WORDS, 12)
        text = "".join(f"{between.format(n)}{word}" for n, word in enumerate(words, 1))
        return f"Recovery phrase:{text}\n", f"{between.format(2)}{words[1]}".strip()

    return make


SECRETS: dict[str, Maker] = {
    **{parts.strip(): _token(parts) for parts in _TOKENS.split(",") if parts.strip()},
    **{form.replace("\0", "|"): _form(form) for form in _FORMS.split("|") if form},
    "telegram": lambda r: (f"123456789:A{'A'}{(body := drawn(r, 33))}", body),
    "rsa key": _key("RSA "),
    "ssh key": _key("OPENSSH "),
    "key without head": _key("", cut="head"),
    "key without foot": _key("EC ", cut="foot"),
    "recovery phrase": _phrase(" "),
    "recovery phrase, numbered": _phrase("\n{}. "),
}


def _packed(random: Random, count: int) -> str:
    return base64.b64encode(random.randbytes(count)).decode()


def _sha(random: Random, kind: str = "sha256") -> str:
    return hashlib.new(kind, random.randbytes(9)).hexdigest()


INNOCENT: dict[str, Callable[[Random], str]] = {
    "commit": lambda r: f"commit {_sha(r, 'sha1')}",
    "log line": lambda r: f"{_sha(r, 'sha1')[:7]} Fix the token reader",
    "pip hash": lambda r: f"    --hash=sha256:{_sha(r)} \\",
    "npm integrity": lambda r: f'"integrity": "sha512-{_packed(r, 64)}"',
    "go.sum": lambda r: f"x.io/y v1.2.3 h1:{_packed(r, 32)}",
    "docker digest": lambda r: f"FROM python@sha256:{_sha(r)}",
    "image of a commit": lambda r: f"registry.x.io/app-prod-{_sha(r, 'sha1')}",
    "cache key": lambda r: f"cache_key={_sha(r)}",
    "uuid": lambda r: f'"sessionId":"{_uuid(r)}"',
    "session": lambda r: f"http://x/?sessionId={_uuid(r)}",
    "tool id": lambda r: f'"tool_use_id":"toolu_01{drawn(r, 22)}"',
    "request id": lambda r: f'"requestId":"req_011{drawn(r, 21)}"',
    "stripe ids": lambda r: f"cus_{drawn(r, 14)} pi_{drawn(r, 24)} cs_test_{drawn(r, 40)}",
    "publishable key": lambda r: f"pk_live_{drawn(r, 24)}",
    "public key": lambda r: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{drawn(r, 43)} bob@host",
    "certificate": lambda r: f"-----BEGIN CERTIFICATE-----\n{drawn(r, 64)}\n",
    "image": lambda r: f"data:image/png;base64,{_packed(r, 900)}",
    "etag": lambda r: f'ETag: W/"{drawn(r, 27)}"',
    "pod": lambda r: f"api-{drawn(r, 10, HEX)}-{drawn(r, 5, HEX)}   1/1   Running",
    "signature of a thought": lambda r: f'"signature":"{_packed(r, 200)}"',
    "counts": lambda r: f"max_tokens: {r.randint(1000, 9999)}, used_tokens={r.randint(1, 99999)}",
}
STAND_INS = tuple(r"""
whats teh password after reimnstll?
the password is stored in 1Password
The password is required
PASSWORD_HINT="must be at least 8 characters"
the token 1fc8b3b9a1e18e3b5d6f7a8b9c0d1e2f3a4b5c6d is a commit
unexpected token: 'identifier'
test_token.py::test_password_7[secret-x1] PASSED
we need to pass `MARIN_VLLM_MODE2` on
Enter the passphrase: then wait, it takes 20 seconds or so
password: >\n  The user's password. It has 8 to 64 letters\n  and a digit.
"password": "8 to 64 characters, 1 capital"
credentials: "Rotate every 90 days"
API_KEY="get one from the dashboard, then paste it"
Run `API_KEY=xxx make test2`, and set `TOKEN=` before or `SECRET_KEY=` later
parser.add_argument("--password", help="read from stdin2 if absent")
"apiKey": "see docs/setup.md, section 3"
t.Errorf("password = %q, want %q", got2, want2)
url = '/login?password='+pw2, 'password='+pw2+'&user=b'
TOKEN=${GITHUB_TOKEN:-}
token: ${{ secrets.GITHUB_TOKEN }}
export GITHUB_TOKEN=$(gh auth token)
password: <password>
API_KEY=your_api_key_123
OPENAI_API_KEY=sk-...
password=password
password: changeme
password = os.environ['DB_PASSWORD']
token = tokens[index2]
const token = getToken(user1)
password: Optional[str] = None
f(token=token, secret=self.secret_v2)
!function(e,t){e.token=t.secret,e.password=n(t.pwd)}(0.7);
secret: {{ .Values.secret }}
an interactive `Username:`/`Password:` prompt 2
const hashedPassword = await bcrypt.hash(password, 10);
WAIT_FOR_TOKEN = "waitForTaskToken"
Authorization: Bearer <token>
Bearer authentication is used
PWD=/home/bob/app2
ssh -i ~/.ssh/deploy_key root@65.108.24.131
PRIVATE_KEY_PATH=/etc/keys/app-2024.pem
postgres://user:password@localhost/db
http://example.com:8080/img@2x.png
git@github.com:org/repo.git
docker run -p 8080:80 image
curl -fsSLo tides.tgz https://x.io/
arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/db-AbC123
checksum/secret: 8a28929ac7f9a17e97a421ac2cd63ac73568ebe87bc0cee641a193d91c761577
"nextPageToken": "Cg5zaG9ydC1wYWdlLTEyMw"
"public_key": "04a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b0c1d2e3f4a5b6c7d8e9f0"
signing key fingerprint: SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8
key = f"{prefix}:{user_id}:v2"
class='sk-folding-cube sk-container-id-1'
credentials: 'include'
Claude-Session: https://claude.ai/code/session_01QSSDo3UvRihyoF4f4iZaiW
recovery codes are shown once, keep them in a safe place
| Name | Type |\n|---|---|\n| password | string |\n| hostname1 | string |
| Path | Password | Token |\n|---|---|---|\n| /login | argon2id | none |
| Token | Value |\n|---|---|\n| `--type-h1` | `2.369rem` |
token,lemma,pos\nstrengths,strength,NOUN\nGPT4o,gpt4o,PROPN
from x import user, password, token\nfrom y import alpha, sha256, beta
user,password\nbob,changeme\neve,${EVE_PASSWORD}\nal,<password>\nxi,********
""".strip().replace("\\n", "\0").split("\n"))  # fmt: skip
STAND_INS = tuple(text.replace("\0", "\n") for text in STAND_INS)
