"""Secrets in the columns of tables: in every form that tools print and people paste."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

import pytest

from holdfast.redact import redact
from tests.redact.samples import ALNUM

pytestmark = pytest.mark.requirement("X4")
ROWS = 30
Form = Callable[[list[str]], str]


def _values(count: int, chars: int = 14) -> list[str]:
    """Values as a generator makes them: some have no digit, some look like words."""
    random = Random(count)
    return ["".join(random.choice(ALNUM) for _ in range(chars)) for _ in range(count)]


def _lines(head: str, row: str, foot: str = "") -> Form:
    return lambda values: (
        "\n".join([head, *(row.format(n=n, v=value) for n, value in enumerate(values))]) + foot
    )


PSQL = " id |   email    |    password    | plan \n----+------------+----------------+------"
SQLITE = "id  email   password      \n--  ------  --------------"
MYSQL = "+----+----------------+\n| id | password       |\n+----+----------------+"
BOX = "┏━━━━┳━━━━━━━━━━━━━━━━┓\n┃ id ┃ Password       ┃\n┡━━━━╇━━━━━━━━━━━━━━━━┩"
FORMS: dict[str, Form] = {
    "csv": _lines("id,email,password,plan", "{n},u{n}@x.io,{v},pro"),
    "csv, first column": _lines("password,user", "{v},u{n}"),
    "csv, quoted commas": _lines("id,name,password", '{n},"Doe, Jane ""{n}""",{v}'),
    "csv, all quoted": _lines('"Title","Password","Notes"', '"Site {n}","{v}",""'),
    "csv, long rows": _lines("id,note,password", f"{{n}},{'x ' * 400},{{v}}"),
    "csv, long head": _lines(f"id,{','.join(f'column_{n}' for n in range(90))},password",
                             f"{{n}},{','.join('1' * 90)},{{v}}"),
    "csv, quotation": _lines("> password,user", "> {v},u{n}"),
    "csv, numbered": _lines("     1\tid,email,password", "     2\t{n},u@x.io,{v}"),
    "csv, semicolons": _lines("id;login;pwd", "{n};u{n};{v}"),
    "csv, Windows": _lines("id,password\r", "{n},{v}\r"),
    "csv, below a sentence": _lines("hi bob, here:\nuser,password", "u{n},{v}"),
    "tsv": _lines("id\temail\tpassword", "{n}\tu{n}@x.io\t{v}"),
    "markdown": _lines("| user | password |\n|---|---|", "| u{n} | `{v}` |"),
    "psql": _lines(PSQL, " {n:2} | u{n}@x.io | {v} | pro", "\n(30 rows)\n"),
    "psql, one column": _lines("    password    \n----------------", " {v}", "\n(30 rows)\n"),
    "mysql": _lines(MYSQL, "| {n:2} | {v} |", "\n+----+----------------+\n30 rows in set"),
    "rich": _lines(BOX, "│ {n:2} │ {v} │", "\n└────┴────────────────┘"),
    "sqlite": _lines(SQLITE, "{n:2}  u@x.io  {v}"),
    "aligned by blanks": _lines("NAME     USER   PASSWORD", "db-{n:02}    app    {v}"),
    "copy": _lines("COPY users (id, password, plan) FROM stdin;", "{n}\t{v}\tpro", "\n\\.\n"),
    "insert, calls": lambda values: "INSERT INTO users (id, password) VALUES "
    + ", ".join(f"({n}, crypt('{v}', gen_salt('bf')))" for n, v in enumerate(values)) + ";",
    "insert, comments": lambda values: "INSERT INTO users (id, password) VALUES\n"
    + "".join(f"({n}, '{v}'), -- {'x' * 300}\n/* ({n}) */ # that's (it\n"
              for n, v in enumerate(values)),
    "insert, rows": lambda values: "INSERT INTO users (id, password) OVERRIDING USER VALUE VALUES "
    + ", ".join(f"ROW({n}, '{v}')" for n, v in enumerate(values)),
    "insert, names in quotes": lambda values: "INSERT INTO users (note, password) VALUES "
    + ", ".join(f'("it\'s {n}) done", "{v}")' for n, v in enumerate(values)),
    "insert, standard texts": lambda values: "INSERT INTO users (home, password) VALUES "
    + ", ".join(f"('C:\\', '{v}')" for v in values),
    "insert": lambda values: "INSERT INTO `users` (`id`, `password`, `note`) VALUES\n"
              + ",\n".join(f"({n}, '{value}', 'a, (b)')" for n, value in enumerate(values)),
    **{f"keys, {title}": _lines(f"id,name,{title},plan", "{n},n{n},{v},pro")
       for title in ("token", "api_key", "secret", "secret_key", "access_key", "private_key",
                     "Secret access key", "client_secret", "accessToken")},
}  # fmt: skip
# JSON writes the frame, or the quotes of the texts, as escapes.
NOT_IN_JSON = ("rich", "insert, names in quotes")


@pytest.mark.parametrize("form", FORMS)
def test_a_column_of_secrets_goes_in_every_row_of(form: str) -> None:
    values = _values(ROWS)
    text = FORMS[form](values)
    shown = redact(text)
    assert [value for value in values if value in shown] == []
    if form not in NOT_IN_JSON:
        escaped = redact(json.dumps({"text": text, "next": "a, b"}))
        assert [value for value in values if value in escaped] == []
        json.loads(escaped)


def test_a_long_table_is_read_to_its_end() -> None:
    values = _values(2_000)
    shown = redact(FORMS["csv"](values))
    assert not any(value in shown for value in values)
    assert "u1999@x.io" in shown and "pro" in shown


def test_rows_behind_a_blank_line_belong_to_the_table_and_sentences_do_not() -> None:
    first, second = _values(2)
    shown = redact(f"id,name,password\n1,bob,{first}\n\n2,eve,{second}\n\nThen, again, harbour7\n")
    assert first not in shown and second not in shown
    assert shown.endswith("Then, again, harbour7\n")


def test_a_quoted_cell_may_contain_line_ends() -> None:
    first, second = _values(2)
    shown = redact(f'name,note,password\nbob,"two\nlines, here",{first}\neve,"",{second}\n')
    assert first not in shown and second not in shown and "lines, here" in shown


def test_a_bar_in_a_password_does_not_end_the_table() -> None:
    shown = redact(f"{MYSQL}\n|  1 | a|bK92xx1pQ7x1 |\n|  2 | Zk4tR9wLm2pQ7v |\n")
    assert "K92xx1" not in shown and "Zk4t" not in shown


@pytest.mark.parametrize(
    "table",
    [
        "user,password\nbob,letmein\neve,dragon", "email;pwd\na@x.io;letmein\nb@x.io;dragon",
        " login | password \n-------+----------\n bob   | letmein\n eve   | dragon\n(2 rows)",
        "insert into users (name, password) values ('bob', 'letmein'), ('eve', 'dragon')",
    ],
)  # fmt: skip
def test_words_are_passwords_where_a_column_has_their_users(table: str) -> None:
    shown = redact(table)
    assert "letmein" not in shown and "dragon" not in shown


def test_a_hash_in_a_column_of_passwords_is_one() -> None:
    value = "5f4dcc3b5aa765d61d8327deb882cf99"
    assert value not in redact(f"id,password_hash\n1,{value}\n")


MANUALS = {
    "parameters": "| Name | Type | Required |\n|---|---|---|\n| password | string | yes |\n"
                  "| hostname1 | string | no |\n| token | string | optional |\n| k8s | map | no |",
    "a parameter on top": "| password | required | string |\n|---|---|---|\n| min8 | yes | x |",
    "states": "| user | password | role |\n|---|---|---|\n| admin | required | enum |\n"
              "| guest | partially | x |",
    "methods": "| Path | Password | Token |\n|---|---|---|\n| /login | argon2id | none |\n"
               "| /reset | sha256 | hashed with sha256 |",
    "times and counts": "id,email,password_changed_at,token_count\n"
                        "1,a@x.io,2024-01-01T10:00:00Z,15000\n2,b@x.io,2024-02-01T10:00:00Z,15001",
    "tokens": "model,tokens,cost\nclaude-3-5-sonnet-20241022,123456,0.5",
    "words of a language": "token,lemma,pos\nstrengths,strength,NOUN\nGPT4o,gpt4o,PROPN",
    "names of secrets": "NAME    TYPE     SECRET\nweb     tls      web-tls-2024\n"
                        "api     opaque   api-creds-v2",
    "columns of a table": "| Field    | Type         |\n+----------+--------------+\n"
                          "| password | varchar(255) |\n| created1 | datetime     |",
    "settings": "password    required\nusername12  bob\nhostname1   db1",
    "imports": "from x import user, password, token\nfrom y import alpha, sha256, beta",
    "results of tests": "test,pass,fail\nlogin_v2,12,3\nlogout_v3,13,5",
    "options": "  --user USER          the user\n  --password PASSWORD  the password\n"
               "  --token2 TOKEN       Base64Xy12",
    "a heading": "Password\n--------\nThe password must be changed.\nargon2id",
    "placeholders": "user,password\nbob,changeme\neve,${EVE_PASSWORD}\nal,<password>\nxi,********",
    "parameters of SQL": "insert into users (name, password) values (?, ?), (%s, crypt('x', $2))",
    "a call": "check(user,password)\nverify(alpha,sha256sum)",
}  # fmt: skip


@pytest.mark.parametrize("table", MANUALS)
def test_a_table_that_only_speaks_of_secrets_stays(table: str) -> None:
    text = MANUALS[table]
    assert redact(text) == text
    assert redact(json.dumps(text)) == json.dumps(text)


@pytest.mark.parametrize(
    "odd", ["3,Acme, Inc.,x,y", "# a comment", "...", "\n", "-- 100 rows --", "7,only"]
)
def test_a_line_that_is_no_row_does_not_end_a_table(odd: str) -> None:
    rows = [f"{n},user{n},Tulp{n}Kettle!7,pro" for n in range(40)]
    text = "\n".join(["id,name,password,plan", *rows[:20], odd, *rows[20:]])
    assert "Kettle!7" not in redact(text)


def test_a_key_is_found_among_words_of_its_column() -> None:
    key = "Xk9fQ2mLp7" + "RtZw4Vb8Nc1D"
    text = f"id,token\n1,pending\n2,pending\n3,{key}\n4,revoked\n5,pending\n"
    assert key not in redact(text)


def test_the_last_row_of_a_copy_needs_no_line_end() -> None:
    text = "COPY users (id, password) FROM stdin;\n1\tTulp1Kettle!\n2\tTulp2Kettle!"
    assert "Kettle" not in redact(text)


@pytest.mark.parametrize(
    "text",
    ["Put these values into the table.", "copy the values", "SELECT a INTO b FROM (VALUES (1))"],
)
def test_words_of_sql_without_a_statement_are_left_alone(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("columns", ["name, password", "password"])
@pytest.mark.parametrize("options", ["", " WITH CSV", " WITH (FORMAT csv)"])
def test_prose_behind_a_copy_statement_is_left_alone(columns: str, options: str) -> None:
    text = (
        f"Run COPY users ({columns}) FROM STDIN{options};\n"
        "then look at the rows, build-2024-rc1 too,\nand finally commit, Friday.\n"
        "Use release-7f3a9c21, not main.\n"
    )
    assert redact(text) == text
