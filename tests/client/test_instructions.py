"""Instruction files are found as the client finds them; the tables are what it was seen to do."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.main import holdfast_command
from holdfast.client import instructions
from holdfast.client.instructions import MAX_RULES, collect_marked_rules

WRITTEN = {
    "yes": [
        *("*.txt", "sub", "/sub/*.txt", "file.txt", "**/file.txt", "SUB/*.txt", "sub/*", "sub/"),
        *("sub/**/**/file.txt", "sub/fil?.txt", "sub/[f]ile.txt", "*/file.txt", "sub/**"),
        *("sub/**/*.txt", "sub/*.{txt,py}", "sub/*.txt, other/**"),
    ],
    "no": ["./sub/*.txt", "!sub/**", "../project/sub/*.txt", "other/**", "sub/*.py", "ub/file.txt"],
}


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _scope(value: str) -> tuple[str, ...]:
    return instructions.parse_paths(f'---\npaths:\n  - "{value}"\n---\nrule\n')


@pytest.mark.requirement("M4")
@pytest.mark.parametrize("pattern", WRITTEN["yes"])
def test_a_pattern_means_what_git_would_mean(pattern: str) -> None:
    assert instructions.matches(_scope(pattern), "sub/file.txt")


@pytest.mark.requirement("M4")
@pytest.mark.parametrize("pattern", WRITTEN["no"])
def test_what_the_client_did_not_take_for_a_match_is_none(pattern: str) -> None:
    assert not instructions.matches(_scope(pattern), "sub/file.txt")


@pytest.mark.requirement("M4")
@pytest.mark.parametrize(
    ("head", "patterns"),
    [
        ("paths: sub/*.txt, other/**", ("sub/*.txt", "other/**")),
        ("paths: [\"sub/*.txt\", 'x']", ("sub/*.txt", "x")),
        ("description: hi\npaths:\n  - a\n  - b", ("a", "b")),
        ('paths: "**"', ()),
    ],
)
def test_paths_are_read_in_every_spelling(head: str, patterns: tuple[str, ...]) -> None:
    assert instructions.parse_paths(f"---\n{head}\n---\nrule\n") == patterns


@pytest.mark.requirement("X7")
@given(st.text(max_size=300), st.text(max_size=100))
def test_no_head_and_no_pattern_takes_long_or_breaks(head: str, path: str) -> None:
    instructions.matches(instructions.parse_paths(f"---\npaths: {head}\n---\n"), path)
    instructions.matches(("*a" * 40, "**/" * 40 + "x"), "a" * 300 + path)


@pytest.mark.requirement("M4")
def test_an_import_is_a_word_that_begins_with_an_at_sign_outside_of_code() -> None:
    text = (
        "@a.md\n`@code.md`\n```\n@fence.md\n```\nSee @b.md for it, mail x@c.md\n- @d.md\n"
        "<!-- @comment.md\n@too.md --> (@paren.md)\n    @e.md\n@f\\ g.md\n@h.md#part\n@i.md, and\n"
    )
    assert instructions.find_imports(text) == [
        *("a.md", "b.md", "d.md", "e.md", "f g.md", "h.md", "i.md,")
    ]


@pytest.mark.requirement("M4")
def test_imports_go_four_steps_deep_round_no_circle_and_not_out_of_the_project(
    tmp_path: Path,
) -> None:
    project = tmp_path / "p"
    put(project / "CLAUDE.md", "@docs/1.md\n@../out.md\n@~/out.md\n@missing.md\n")
    put(tmp_path / "out.md", "outside")
    for n in range(1, 7):
        put(project / f"docs/{n}.md", f"@{n + 1}.md\n@1.md\n@../CLAUDE.md\n")
    found = instructions.follow_imports(
        str(project / "CLAUDE.md"), "@docs/1.md\n@../out.md\n@~/out.md", str(project), str(tmp_path)
    )
    assert [Path(path).name for path, _ in found] == ["1.md", "2.md", "3.md", "4.md"]


@pytest.mark.requirement("M4")
def test_what_is_loaded_at_the_start_is_found_in_the_client_s_order(
    tmp_path: Path, own_home: Path
) -> None:
    project = tmp_path / "p"
    for path in (
        own_home / ".claude/CLAUDE.md",
        own_home / ".claude/rules/u.md",
        tmp_path / "CLAUDE.md",
        project / "CLAUDE.md",
        project / ".claude/CLAUDE.md",
        project / ".claude/rules/deep/r.md",
        project / "CLAUDE.local.md",
        project / "sub/CLAUDE.md",
        project / "AGENTS.md",
    ):
        put(path, "words\n")
    put(project / ".claude/rules/scoped.md", "---\npaths: sub/**\n---\nwords @../../docs/x.md\n")
    put(project / "docs/x.md", "imported\n")
    put(project / ".claude/rules/text.txt", "no rule\n")
    found = instructions.find_loaded_at_start(str(project), {"HOME": str(own_home)})
    assert [(Path(one.path).name, one.kind) for one in found] == [
        *(("CLAUDE.md", "user"), ("u.md", "rule"), ("CLAUDE.md", "project")),
        *(("CLAUDE.md", "project"), ("CLAUDE.md", "project"), ("r.md", "rule")),
        *(("x.md", "import"), ("CLAUDE.local.md", "local")),
    ]


@pytest.mark.requirement("M4")
def test_marked_rules_of_what_was_read_are_told_and_no_others(
    tmp_path: Path, own_home: Path
) -> None:
    rules = {
        "CLAUDE.md": "comes back by itself",
        "sub/CLAUDE.md": "of a folder",
        "sub/deep/CLAUDE.local.md": "of an inner folder",
        "other/CLAUDE.md": "of a folder nobody looked into",
        "sub/.claude/rules/n.md": "of a rule in a folder",
    }
    for name, words in rules.items():
        put(tmp_path / name, f"- not marked\n- (ENFORCED) {words}\n")
    put(tmp_path / ".claude/rules/p.md", "---\npaths: sub/**\n---\n(CRITICAL) of a path\n")
    put(tmp_path / ".claude/rules/q.md", "---\npaths: never/**\n---\n(CRITICAL) of no path\n")
    put(own_home / ".claude/rules/u.md", '---\npaths: "*.py"\n---\n(CRITICAL) of the user\n')
    told = collect_marked_rules(str(tmp_path), ["sub/deep/x.py", "/etc/passwd", "../y.py"])
    assert set(told) == {
        "(CRITICAL) of a path",
        "(CRITICAL) of the user",
        "(ENFORCED) of a folder",
        "(ENFORCED) of an inner folder",
        "(ENFORCED) of a rule in a folder",
    }
    assert collect_marked_rules(str(tmp_path), []) == []


@pytest.mark.requirement("M4")
def test_what_the_user_excludes_is_not_told_and_there_is_a_bound(
    tmp_path: Path, own_home: Path
) -> None:
    put(tmp_path / "sub/CLAUDE.md", "".join(f"(ENFORCED) rule {n}\n" for n in range(40)))
    assert len(collect_marked_rules(str(tmp_path), ["sub/x.py"])) == MAX_RULES
    settings = {"claudeMdExcludes": ["**/sub/CLAUDE.md"]}
    put(own_home / ".claude/settings.json", json.dumps(settings))
    assert collect_marked_rules(str(tmp_path), ["sub/x.py"]) == []


@pytest.mark.requirement("M4", "X7")
def test_hostile_places_are_read_without_harm(tmp_path: Path) -> None:
    """A folder where a file should be, a pipe, a link that leads round, a very long file."""
    import os

    (tmp_path / "sub" / "CLAUDE.md").mkdir(parents=True)
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "rules").symlink_to(tmp_path / ".claude")
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "CLAUDE.md")
    put(tmp_path / "long/CLAUDE.md", "(ENFORCED) first\n" + "x" * (1 << 20))
    files = ["sub/a.py", "pipe/a.py", "long/a.py", "a/" * 200 + "x.py"]
    assert collect_marked_rules(str(tmp_path), files) == ["(ENFORCED) first"]


@pytest.mark.requirement("M4", "U3")
def test_the_command_shows_every_file_and_what_becomes_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "CLAUDE.md", "one\n(ENFORCED) Tests first.\n@docs/x.md\n")
    put(tmp_path / "docs/x.md", "imported\n")
    put(tmp_path / "sub/CLAUDE.md", "(CRITICAL) Careful.\n")
    found = CliRunner().invoke(holdfast_command, ["memory", "rules"])
    assert found.exit_code == 0, found.output
    assert (
        f"{tmp_path}/CLAUDE.md [project]: comes back\n  2: (ENFORCED) Tests first." in found.output
    )
    assert (
        "loaded by files in sub/]: its marked rules are pinned once it was loaded" in found.output
    )
