"""Passwords on command lines whose flags do not say so: `mysql -pX`, `curl -u user:X`.

A command is cut into its arguments; the table says which of them is the password.
"""

from __future__ import annotations

import re
from itertools import accumulate, pairwise

from holdfast.redact.rule import (
    BETWEEN_LINES,
    SearchPage,
    SecretFinding,
    can_begin,
    compiled,
    positions,
)
from holdfast.redact.value import (
    is_mixed,
    is_password,
    is_phrase,
    is_placeholder,
    is_random,
    is_scrambled,
    like_a_password,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Argument = re.Match[str]

LONGEST_CHARS, MOST_ARGUMENTS, LONGEST_ARGUMENT = 2000, 60, 256
_ENDS = r"\n|\\n|&&|\|\||;"  # of one command; escaped line ends too
_ARGUMENT = (
    r"(?:\\{0,3}\"[^\"\\\r\n]{0,256}\\{0,3}\"|\\{0,3}'[^'\\\r\n]{0,256}\\{0,3}'"
    r"|[^\s\"'\\\x1b`]{1,512}+|\\(?![nr])[^\s\"']?|[\"'`\\\x1b])+"
)
# Tools, and the flags that give them a password: `-p` as the next argument, `-p*` glued to it,
# `-p?` either way, `login -p` only behind that verb. Elsewhere `-p` is a port, a path, a project.
_FLAGS = {
    "mysql mysqldump mysqladmin mysqlimport mariadb mariadb-dump 7z 7za 7zz rar unrar": "-p* -hp*",
    "sshpass mongo mongosh mongodump mongorestore mongoexport mongoimport cqlsh rdesktop "
    "evil-winrm crackmapexec netexec nxc arangosh psexec hydra mqtt useradd usermod": "-p?",
    "docker podman nerdctl buildah skopeo oras helm az oc cf registry crane": "login -p?",
    "sqlcmd bcp zip unzip ipmitool mosquitto_pub mosquitto_sub tsql isql fisql": "-P?",
    "ssh-keygen": "-N -P",
    "redis-cli keydb-cli valkey-cli redis-benchmark": "-a",
    "ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd ldapmodrdn": "-w -s -a",
    "nuget": "-k -ApiKey",
    "dotnet": "push -k",
    "openssl": "-k -K -passin -passout -pass",
    "plink pscp psftp putty kitty": "-pw",
    "xfreerdp wfreerdp xfreerdp3": "/p:*",
    "schtasks": "/rp /p",
    "cmdkey": "/pass:*",
    "snmpget snmpwalk snmpset snmpbulkwalk": "-c -A -X",
    "doctl snyk glab vercel netlify railway supabase sentry-cli flyctl fly": "-t",
}
# Tools that take user and password in one argument, and what parts the two.
_BOTH = {
    "curl wget http https httpie xh ab siege": (":", "-u? --user --proxy-user -U -a --auth -A"),
    "smbclient smbmap rpcclient winexe smbget": ("%", "-U? --user"),
    "lftp": (",", "-u? --user"),
}
# Verbs, and behind them so many arguments, of which the last is the password.
_ARGUMENTS = {
    "rabbitmqctl": "add_user:2 change_password:2 authenticate_user:2",
    "mysqladmin": "password:1",
    "net": "user:2 use:3",
    "bw": "unlock:1 login:2",
    "vault": "login:1 unseal:1",
    "wpa_passphrase": ":2",
    "htpasswd": ":3",
    "cargo snyk wandb": "login:1 auth:1",
}
_ANY_BOTH = (" -u ", " -a ", " --auth ", " --auth=", " --user ", " --user=", " --creds ",
             " --cred ", " --userpwd ",
             " --basic-auth ", " --basic-auth=", " --login ", " --proxy-user ",
             " --credentials ", " --http-basic ")  # fmt: skip
# Flags of tools we do not know: the value alone must look like a password, or like a key.
_PASSWORD_FLAGS = ("-p", "-P", "-pw", "-w", "-upw", "-opw", "-W", "-Z")
_KEY_FLAGS = (*_PASSWORD_FLAGS, "-t", "-k", "-K", "-a", "-s", "-x", "-T", "-A")
# What neither looks like: a word of fewer than eight characters.
_SHORT = r"[\w./&|-]{1,7}(?:[\s\"'`]|\\[nr\"'])"
# Verbs of tools we do not know: one of their arguments does.
_VERBS = ("auth", "login", "AUTH", "LOGIN", "passwd", "adduser", "unseal", "unlock", "revoke",
          "add_user", "set-password", "http-basic", "smbpasswd", "mosquitto_passwd")  # fmt: skip
_TWO_VERBS = ("user add", "alias set", "users add", "account add", "user create")
# What is piped or fed to a command that speaks of secrets, or asks for one.
_ASKS = (
    r"(?:passw|passphrase|secret|token|credential|login|\bauth\b|kinit|sudo -\w*S|\bsu\b|luks"
    r"|cryptsetup|stdin|gpg|openssl|keychain|vault|\bkey)"
)
# What is written to a file for a password, and how the file is called.
_FILE = (
    r"(?:>|\btee(?:[ \t]-a)?[ \t])[ \t]{0,2}\\{0,3}[\"']?[\w./~-]{0,80}"
    r"(?:(?:pass|pwd|secret|token|credential|keytab)[\w-]{0,12}(?:\.(?:txt|env|conf|b64))?|\.key)"
    r"(?=[\s\"'`;&|)<\\]|\Z)"
)
_FILE_CHARS = 6  # of a value in such a file; a shorter one is a count or a state
_SAYS = (
    r"(?:echo|printf)[ \t](?:-\w+[ \t]){0,2}"
    r"(?:\\{0,3}[\"']?%s(?:\\{1,3}n)?(?:%s(?:\\{1,3}n)?)?\\{0,3}[\"']?[ \t])?"
)
# Base64 of a key or a keytab is long.
_SAID = (
    r"(?:\\{0,3}(?P<q>[\"'])(?P<quoted>[^\"'\r\n]{3,4096}?)(?:\\{1,3}n)?\\{0,3}(?P=q)"
    r"|(?P<bare>(?:[^\s\"'|<>()\\]|\\(?![nr])){3,4096}))"
)
_PIPED = rf"{_SAYS}{_SAID}(?=[ \t|>])"
_HERE = rf"(?:<<<[ \t]{{0,2}}|<\({_SAYS}){_SAID}"
# `["curl", "-u", "bob:…"]`: arguments as a program passes them, also escaped or one per line.
_LIST_QUOTE = r"\\{0,7}[\"']"
_ELEMENT = rf"{_LIST_QUOTE}[^\"'\\\r\n]{{1,256}}{_LIST_QUOTE}"
_LIST_GAP = rf"{BETWEEN_LINES}{{0,40}},{BETWEEN_LINES}{{0,40}}"
_LIST = rf"{_ELEMENT}(?:{_LIST_GAP}{_ELEMENT}){{1,60}}"
_LIST_MARKS = rf"\A{_LIST_QUOTE}|{_LIST_QUOTE}{_LIST_GAP}{_LIST_QUOTE}|{_LIST_QUOTE}\Z"
_USERINFO = r"[\w.+-]{1,64}:[^\s:/@\"']{4,128}@[\w.-]+(?:[:/]|\Z)"  # `curl bob:…@host`
_HEAD_CHARS = 240
_COLOUR = r"\x1b\[[0-9;]{0,7}m|\\u001b\[[0-9;]{0,7}m"
_GLUED = (
    "/",
    "(",
    "'",
    "`",
    "\\n",
    "\\t",
    "=",
    "→",
    "+",
    ":",
    "[",
    "«",
)  # `$(mysql`, `/usr/bin/mysql`
_TOOLS = frozenset(
    tool for tools in (*_FLAGS, *_BOTH, *_ARGUMENTS) for tool in tools.split()
).union(
    (flag.strip() for flag in _ANY_BOTH),
    _KEY_FLAGS,
    _VERBS,
    (both.split()[-1] for both in _TWO_VERBS),
)


def scan(page: SearchPage) -> Iterator[SecretFinding]:
    there = _tools(page)
    if there:
        yield from _scan_commands(page, there)
    yield from _scan_pipes(page)
    if '"-' in page.text or "'-" in page.text:
        yield from _scan_lists(page.text)


def _scan_lists(text: str) -> Iterator[SecretFinding]:
    """Find passwords among the arguments in a list. All lists are read at once, each as a line of
    its own, with blanks in place of quotes and commas so that nothing moves."""
    from bisect import bisect_right  # few texts have such lists

    found = [one for one in compiled(_LIST).finditer(text) if re.search(r"[\"']--?\w", one[0])]
    lines = [compiled(_LIST_MARKS).sub(_blanks, one[0]) for one in found]
    page = SearchPage("\n".join(lines))
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    for one in _scan_commands(page, _tools(page)):
        number = bisect_right(starts, one.start) - 1
        moved = found[number].start() - starts[number]
        yield SecretFinding(one.kind, one.start + moved, one.end + moved)


def _tools(page: SearchPage) -> frozenset[str]:
    """Return which of our tools and flags occur in the text, by sets rather than one search for
    each."""
    words = re.sub(_COLOUR, " ", page.words) if "\x1b" in page.words else page.words
    for glue in _GLUED:
        words = words.replace(glue, f"{glue} " if glue == "=" else " ")
    apart = words.split()
    if "\n-" in page.text or page.text[:1] == "-" or "\\n-" in page.text:  # lines a diff takes out
        apart += [word[1:] for word in apart if word[0] == "-"]
    return _TOOLS.intersection(apart)


def _blanks(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _scan_commands(page: SearchPage, there: frozenset[str]) -> Iterator[SecretFinding]:
    for tools, flags in _FLAGS.items():
        for arguments in _commands(page, there, tools):
            yield from _passwords(_flag_values(arguments, flags))
    for tools, (mark, flags) in _BOTH.items():
        for arguments in _commands(page, there, tools):
            yield from _passwords_after(_flag_values(arguments, flags), mark)
            yield from _passwords_after(_values_of_joined_flags(arguments, flags), mark)
            if mark == ":":
                yield from _userinfo(arguments)
    for tools, verbs in _ARGUMENTS.items():
        for arguments in _commands(page, there, tools):
            yield from _passwords(_positional_values(arguments, verbs), literal=tools != "net")
    yield from _anybody(page, there)
    yield from _any_flag(page, there)
    yield from _any_verb(page, there)


def _commands(page: SearchPage, there: frozenset[str], tools: str) -> Iterator[list[Argument]]:
    """The arguments of each command that begins with one of these tools."""
    for tool in tools.split():
        if tool not in there:
            continue
        start, end = f"{tool} ", 0
        for at in positions(page.text, start):
            if at >= end and _begins(page.text, at):
                end = _command_end(page.text, at + len(start))
                yield _arguments(page.text, at + len(start), end)


def _begins(text: str, at: int) -> bool:
    """As `can_begin`. In addition, `not-mysql` is another tool, and `-mysql` is a line removed
    in a diff."""
    if text[at - 1 : at] == "-":
        return at == 1 or text[at - 2] == "\n" or text[max(0, at - 3) : at - 1] == "\\n"
    return can_begin(text, at) and text[at - 1 : at] != "."


def _command_end(text: str, at: int) -> int:
    """Return the end of the command; a backslash at the end of a line continues it."""
    stop = at + LONGEST_CHARS
    for match in compiled(_ENDS).finditer(text, at, stop):
        if match[0] not in ("\n", "\\n") or not text[at : match.start()].endswith("\\"):
            return match.start()
    return min(len(text), stop)


def _arguments(text: str, at: int, end: int) -> list[Argument]:
    found = compiled(_ARGUMENT).finditer(text, at, end)
    return [one for _, one in zip(range(MOST_ARGUMENTS), found, strict=False)]


Place = tuple[str, int, int]


def _place(one: Argument, skip: int = 0) -> Place:
    """Return an argument without its quotes, and its span; JSON around it is not part of it."""
    text = one[0][skip:]
    inner = text.lstrip("\\\"'`")
    opened = text[: len(text) - len(inner)].strip("\\")[-1:]
    parts = re.split(opened or "[\"'`]", inner, maxsplit=2)
    is_glued = (
        not opened and len(parts) == 3 and parts[0].rstrip("\\").endswith((":", "="))
    )  # `bob:'…'`
    value = inner[: len(inner) - len(parts[2]) - 1] if is_glued else parts[0]
    value = value.rstrip("\\")
    start = one.start() + len(one[0]) - len(inner)
    return value, start, start + len(value)


def _next(text: str, at: int) -> Place:
    found = compiled(_ARGUMENT).search(text, at, at + LONGEST_ARGUMENT)
    return _place(found) if found else ("", at, at)


def _flag_values(arguments: Sequence[Argument], flags: str) -> Iterator[Place]:
    words = [one[0] for one in arguments]
    verbs = [flag for flag in flags.split() if flag[0] not in "-/"]
    if verbs and not any(verb in words for verb in verbs):
        return
    for flag in flags.split():
        name, how = (flag[:-1], flag[-1]) if flag[-1] in "*?" else (flag, "")
        for number, word in enumerate(words):
            if word == name and how != "*" and number + 1 < len(words):
                yield _place(arguments[number + 1])
            elif how and word.startswith(name) and len(word) > len(name) and word[1] != "-":
                yield _place(arguments[number], len(name))
            elif word.startswith(name + "=") and name.startswith("--"):
                yield _place(arguments[number], len(name) + 1)


def _values_of_joined_flags(arguments: Sequence[Argument], flags: str) -> Iterator[Place]:
    """Yield the values of flags that are joined to others: `curl -sSu bob:…`."""
    letters = "".join(flag[1] for flag in flags.split() if flag[-1] == "?")
    for flag, value in pairwise(arguments):
        if compiled(rf"-[A-Za-z]{{1,6}}[{letters}]").fullmatch(flag[0]):
            yield _place(value)


def _userinfo(arguments: Sequence[Argument]) -> Iterator[SecretFinding]:
    """Find the password in `bob:…@host`, an address without its scheme."""
    for value, start, _ in map(_place, arguments):
        if compiled(_USERINFO).match(value):
            user, _, rest = value.partition(":")
            secret, at = rest.partition("@")[0], start + len(user) + 1
            if is_password(secret, literal=False):
                yield SecretFinding("password", at, at + len(secret))


def _positional_values(arguments: Sequence[Argument], verbs: str) -> Iterator[Place]:
    words = [one[0] for one in arguments]
    for word in verbs.split():
        verb, _, count = word.partition(":")
        if verb and verb not in words:
            continue
        after = arguments[words.index(verb) + 1 :] if verb else arguments
        plain = [one for one in after if one[0][0] not in "-/<>|"]
        if len(plain) >= int(count):
            yield _place(plain[int(count) - 1])


def _passwords(places_: Iterator[Place], *, literal: bool = True) -> Iterator[SecretFinding]:
    for value, start, end in places_:
        for mark in ("pass:", "file:", "env:", "stdin", "fd:"):  # as openssl names its sources
            if value.startswith(mark):
                value, start = (value[5:], start + 5) if mark == "pass:" else ("", end)
        if value and value[0] not in "-/$" and is_password(value, literal):
            yield SecretFinding("password", start, end)


def _passwords_after(places_: Iterator[Place], mark: str) -> Iterator[SecretFinding]:
    for value, _, end in places_:
        user, parted, secret = value.partition(mark)
        secret = secret.lstrip("\\\"'")
        if parted and user and secret and not is_placeholder(secret):
            yield SecretFinding("password", end - len(secret), end)


def _anybody(page: SearchPage, there: frozenset[str]) -> Iterator[SecretFinding]:
    """Find `--auth user:password` of unknown tools."""
    for flag in _ANY_BOTH:
        if flag.strip() not in there:
            continue
        for at in positions(page.text, flag):
            value, _, end = _next(page.text, at + len(flag))
            user, colon, secret = value.partition(":")
            secret = secret.lstrip("\\\"'")
            if colon and user and "/" not in value and _sure(secret):
                yield SecretFinding("password", end - len(secret), end)


def _sure(secret: str) -> bool:
    return is_password(secret, literal=False) and not secret.isdigit()


def _any_flag(page: SearchPage, there: frozenset[str]) -> Iterator[SecretFinding]:
    for flag in _KEY_FLAGS:
        if flag not in there:
            continue
        for at in positions(page.text, f" {flag} "):
            if compiled(_SHORT).match(page.text, at + len(flag) + 2):
                continue
            value, start, end = _next(page.text, at + len(flag) + 2)
            if is_random(value) or (flag in _PASSWORD_FLAGS and _in_a_command(value)):
                yield SecretFinding("password", start, end)


def _any_verb(page: SearchPage, there: frozenset[str]) -> Iterator[SecretFinding]:
    for verb in (*_VERBS, *_TWO_VERBS):
        if verb.split()[-1] not in there:
            continue
        for at in positions(page.text, f"{verb} "):
            after = at + len(verb) + 1
            if not _begins(page.text, at):
                continue
            for one in _arguments(page.text, after, _command_end(page.text, after))[:6]:
                value, start, end = _place(one)
                if is_random(value) or (_in_a_command(value) and _is_drawn(value)):
                    yield SecretFinding("password", start, end)


def _is_drawn(value: str) -> bool:
    return is_mixed(value) or is_scrambled(value)


def _in_a_command(value: str) -> bool:
    return like_a_password(value) and not re.search(r"[/:=,(){}]", value)


def _scan_pipes(page: SearchPage) -> Iterator[SecretFinding]:
    text = page.text
    for word in ("echo ", "printf "):
        for at in positions(text, word) if word.strip() in page.words else ():
            match = compiled(_PIPED).match(text, at)
            if match:
                after = _rest_of_command(text, match.end())
                yield from _fed_password(match, _reader(after), after)
    for word in ("<<<", "<(echo ", "<(printf "):
        for at in positions(text, word):
            if text.startswith("<", at + 3):  # a run of them feeds nothing: 50,000 took 3 s
                continue
            match = compiled(_HERE).match(text, at)
            if match:
                line = text[max(0, at - _HEAD_CHARS) : at].rpartition("\n")[2]
                yield from _fed_password(match, line, _rest_of_command(text, match.end()))


def _rest_of_command(text: str, at: int) -> str:
    return compiled(_ENDS).split(text[at : at + _HEAD_CHARS], maxsplit=1)[0]


def _reader(after: str) -> str:
    """Return the command that reads what is piped here: the one behind `base64 -d`, if any."""
    first, _, second = after.partition("|")[2].partition("|")
    return first + second if "base64 " in first else first


def _fed_password(match: re.Match[str], reader: str, after: str) -> Iterator[SecretFinding]:
    """Find what is fed to a command that asks for a secret, or written to a file that is called
    like one."""
    if compiled(_ASKS).search(reader):
        yield from _piped_password(match, user="chpasswd" in reader)
    elif compiled(_FILE, re.I).search(after):
        value, start, end = _fed_value(match)
        is_made = is_password(value, literal=False) and not value.isdigit()
        if len(value) >= _FILE_CHARS and (is_phrase(value, False) if " " in value else is_made):
            yield SecretFinding("password", start, end)


def _fed_value(match: re.Match[str]) -> Place:
    group = "quoted" if match["quoted"] is not None else "bare"
    return match[group], *match.span(group)


def _piped_password(match: re.Match[str], *, user: bool) -> Iterator[SecretFinding]:
    value, start, _ = _fed_value(match)
    if user and ":" in value:
        start, value = start + value.index(":") + 1, value.partition(":")[2]
    if "=" in value[:24] and "\\n" in value:  # fields, as `git credential` reads them
        return
    if is_phrase(value, True) if " " in value else is_password(value, literal=True):
        yield SecretFinding("password", start, start + len(value))
