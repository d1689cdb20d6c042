"""Secrets in tables that are not as they should be: odd lines, odd rows, odd line ends."""

from __future__ import annotations

import json
from random import Random

import pytest

from holdfast.redact import are_clean, find, redact
from holdfast.redact.rule import TABLE_END
from tests.redact.samples import drawn

pytestmark = pytest.mark.requirement("X4")
ROWS = 8
HEADS = {
    "csv": ("id,name,password,plan", "{n},user{n},{v},{note}"),
    "csv, quoted": ('"id","name","password","plan"', '"{n}","user{n}","{v}","{note}"'),
    "tabs": ("id\tname\tpassword\tplan", "{n}\tuser{n}\t{v}\t{note}"),
    "bars": ("| id | name | password | plan |", "| {n} | user{n} | {v} | {note} |"),
    "psql": (" id | name  | password     | plan\n----+-------+--------------+-----",
             " {n}  | user{n} | {v} | {note}"),
    "blanks": ("ID  NAME   PASSWORD      PLAN", "{n}   user{n}  {v}  {note}"),
}  # fmt: skip
ODD = {
    "a comment": "# exported on monday",
    "an unusual ruler": "~~~~ ~~~~ ~~~~",
    "dots": "....",
    "an empty line": "",
    "two empty lines": "\n",
    "a sentence": "Here are the accounts, as you asked.",
    "what looks like an end": "~.~.~",
    "many lines": "\n".join(f"log line {n}" for n in range(30)),
}


def _values(count: int = ROWS) -> list[str]:
    return [drawn(Random(seed), 12) for seed in range(count)]


def _rows(form: str, values: list[str], note: str = "pro") -> list[str]:
    row = HEADS[form][1]
    return [row.format(n=n, v=value, note=note) for n, value in enumerate(values)]


def _left(text: str, values: list[str]) -> list[str]:
    """Return the values that are left in the text, as it is and in JSON."""
    shown = redact(text) + redact(json.dumps({"text": text, "next": "a, b"}))
    return [value for value in values if value in shown]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("form", HEADS)
def test_odd_lines_below_the_head_hide_no_table(form: str, odd: str) -> None:
    values = _values()
    assert _left("\n".join([HEADS[form][0], ODD[odd], *_rows(form, values)]), values) == []


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("form", HEADS)
def test_odd_lines_between_rows_do_not_end_a_table(form: str, odd: str) -> None:
    values = _values()
    rows = _rows(form, values)
    text = "\n".join([HEADS[form][0], *rows[:4], ODD[odd], *rows[4:]])
    assert _left(text, values) == []


@pytest.mark.parametrize("note", ["api key", "password reset", "token", "lost password"])
@pytest.mark.parametrize("form", HEADS)
def test_a_row_that_names_a_secret_in_another_cell_is_still_a_row(form: str, note: str) -> None:
    values = _values()
    assert _left("\n".join([HEADS[form][0], *_rows(form, values, note)]), values) == []


@pytest.mark.parametrize(
    "odd", ["3,Acme, Inc.,{v},pro", "3,bob,{v},pro,x,y", "3,bob,{v}", "{v},pro", "3,b,c,d,{v},e"]
)
def test_a_secret_goes_from_a_row_with_a_cell_too_many_or_too_few(odd: str) -> None:
    first, second, hidden = _values(3)
    rows = _rows("csv", [first, second])
    text = "\n".join([HEADS["csv"][0], rows[0], odd.format(v=hidden), rows[1]])
    assert _left(text, [first, second, hidden]) == []


def test_a_secret_goes_from_a_row_that_is_not_aligned() -> None:
    first, second, hidden = _values(3)
    rows = _rows("blanks", [first, second])
    odd = f"3   a-very-long-user-name  {hidden}  pro"
    text = "\n".join([HEADS["blanks"][0], rows[0], odd, rows[1]])
    assert _left(text, [first, second, hidden]) == []


def test_another_head_of_the_same_shape_adds_its_column() -> None:
    first, second = _values(2)
    text = f"id,name,password\n1,bob,{first}\n\nid,token,plan\n2,{second},pro\n"
    assert _left(text, [first, second]) == []
    assert "id,token,plan" in redact(text)


def test_a_table_of_another_shape_among_the_rows_is_read() -> None:
    values = _values(3)
    text = "id,name,password\n1,bob,{}\nuser,token\nbob,{}\n2,eve,{}\n".format(*values)
    assert _left(text, values) == []


def test_a_long_cell_does_not_end_a_table_nor_hide_its_row() -> None:
    values = _values(3)
    rows = _rows("csv", values)
    long = rows[1].replace("user1", "x" * 20_000)
    assert _left("\n".join([HEADS["csv"][0], rows[0], long, rows[2]]), values) == []


@pytest.mark.parametrize("form", HEADS)
def test_lines_may_end_in_a_carriage_return_alone(form: str) -> None:
    values = _values()
    text = "\n".join([HEADS[form][0], *_rows(form, values), ""])
    assert _left(text.replace("\n", "\r"), values) == []


def test_quoted_cells_may_contain_carriage_returns_in_such_a_table() -> None:
    first, second = _values(2)
    text = f'name,note,password\rbob,"two\rlines, here",{first}\reve,"",{second}\r'
    shown = redact(text)
    assert first not in shown and second not in shown


def _html(head: str, cells: str, gap: str = "") -> str:
    titles = gap.join(f"<{head} class='a'>{title}</{head}>" for title in ("ID", "User", "Password"))
    return f"<table>{gap}<tr>{gap}{titles}{gap}</tr>{gap}{cells}{gap}</table>"


@pytest.mark.parametrize("gap", ["", "\n", "\n    ", "\r\n"])
@pytest.mark.parametrize("head", ["th", "td", "TH"])
def test_a_column_of_an_html_table_goes(head: str, gap: str) -> None:
    values = _values()
    cells = "<td>{n}</td>{gap}<td>u{n}</td>{gap}<td><code>{v}</code></td>"
    rows = [cells.format(n=n, v=value, gap=gap) for n, value in enumerate(values)]
    text = _html(head, gap.join(f"<tr>{gap}{row}{gap}</tr>" for row in rows), gap)
    assert _left(text, values) == []
    assert "<td>u3</td>" in redact(text)


def test_html_without_its_closing_tags_is_read() -> None:
    values = _values(3)
    rows = "".join(f"<tr><td>{n}<td>{value}" for n, value in enumerate(values))
    assert _left(f"<table><tr><th>id<th>password{rows}", values) == []


@pytest.mark.parametrize("name", ["Password", "API key"])
@pytest.mark.parametrize("tag", ["th", "td"])
def test_a_value_beside_its_name_goes_from_an_html_table(tag: str, name: str) -> None:
    value = "q8Zt4Lm2" + "Xw9Rv5Kb7Nc3"
    rows = [("User", "bob"), (name, value), ("Host", "db1.example.org")]
    cells = "".join(f"<tr><{tag}>{left}</{tag}><td>{right}</td></tr>" for left, right in rows)
    assert _left(f"<table>{cells}</table>", [value]) == []


def test_words_are_passwords_in_html_where_a_column_has_their_users() -> None:
    shown = redact(_html("th", "<tr><td>1</td><td>bob</td><td>letmein</td></tr>"))
    assert "letmein" not in shown and "<td>bob</td>" in shown


@pytest.mark.parametrize(
    "options",
    ["WITH (FORMAT csv)", "WITH CSV", "CSV HEADER", "\nWITH (FORMAT csv)",
     "WITH (FORMAT csv, DELIMITER ';')", "WITH DELIMITER '|'"],
)  # fmt: skip
@pytest.mark.parametrize("way", ["FROM stdin", "TO STDOUT"])
def test_the_rows_of_a_copy_go_in_any_format(way: str, options: str) -> None:
    values = _values()
    mark = ";" if ";" in options else "|" if "|" in options else ","
    rows = [mark.join((f"{n}", f'"u {n}"', value)) for n, value in enumerate(values)]
    text = "\n".join([f"COPY users (id, name, password) {way} {options};", *rows, "\\.", ""])
    assert _left(text, values) == []


def test_quoted_cells_of_a_copy_may_contain_commas_and_line_ends() -> None:
    first, second = _values(2)
    head = "COPY users (name, note, password) FROM stdin WITH (FORMAT csv);"
    shown = redact(f'{head}\nbob,"two\nlines, here",{first}\n"Doe, J","",{second}\n\\.\n')
    assert first not in shown and second not in shown and "lines, here" in shown


def test_texts_that_are_searched_together_share_no_table() -> None:
    assert not find(f"user,password\n{TABLE_END}\nbob,letmein\n")
    assert not find(f"<table><tr><th>user<th>password\n{TABLE_END}\n<tr><td>bob<td>letmein")
    assert are_clean(["user,password", "bob,letmein"])


CLEAN = {
    "prose below a head": "user,password\n\nThe list follows, in a moment.\nBob7, of course, left.",
    "code below a head": "from x import user,password\n\n\ndef run(a):\n    return a\n\n\n"
                         "call(alpha,sha256sum)",
    "prose far below a table": "id,password\n1,changeme\n" + "and so on\n" * 9 + "a,harbour\n",
    "pairs in html": "<table><tr><td>Password</td><td>required</td></tr>"
                     "<tr><td>hostname1</td><td>db1</td></tr></table>",
    "a manual in html": "<table><tr><th>Name</th><th>Type</th></tr>"
                        "<tr><td>password</td><td>string</td></tr>"
                        "<tr><td>username12</td><td>string</td></tr></table>",
    "a parameter on top in html": "<table><tr><td>password</td><td>string</td><td>required</td>"
                                  "</tr><tr><td>hostname1</td><td>string</td><td>no</td></tr>",
    "counts in html": "<table><tr><th>Model</th><th>Tokens</th></tr>"
                      "<tr><td>sonnet-20241022</td><td>123456</td></tr></table>",
    "placeholders in a copy": "COPY users (id, password) FROM stdin CSV;\n1,changeme\n2,********\n",
}  # fmt: skip


@pytest.mark.parametrize("text", CLEAN)
def test_a_text_without_a_secret_stays(text: str) -> None:
    assert redact(CLEAN[text]) == CLEAN[text]
    assert redact(json.dumps(CLEAN[text])) == json.dumps(CLEAN[text])
