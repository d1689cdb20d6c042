"""Names in the source: one public class per name, modules are nouns, functions are verbs."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "holdfast"
MOST_FILES = 25
# Words that tell nothing about what a module holds.
_PARTICIPLES = (
    "asked asserted begun carried carrying done found gathering given gone heard held judging kept "
    "keeping known leaning left made met noting said saying seen sharing standing taken taking "
    "told uncut waking wanted"
)
_PRONOUNS_AND_ADVERBS = (
    "ahead alone anew apart aside at_once away beside elsewhere here it now one one_by_one others "
    "own same some such that them there these this those what which who whole"
)
_FIGURES = "company deeds desk floor met seat slips trouble utils helpers misc common"
FORBIDDEN = frozenset(f"{_PARTICIPLES} {_PRONOUNS_AND_ADVERBS} {_FIGURES}".split())


def _modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


@pytest.mark.slow
def test_no_two_public_classes_have_the_same_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in _modules():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(SOURCE)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_modules_are_named_by_nouns() -> None:
    assert [str(path) for path in _modules() if path.stem in FORBIDDEN] == []


def test_no_folder_holds_too_many_files() -> None:
    folders: dict[str, int] = defaultdict(int)
    for path in _modules():
        folders[str(path.parent.relative_to(SOURCE))] += path.name != "__init__.py"
    folders.pop("cli")  # a module for each command
    assert {name: count for name, count in folders.items() if count > MOST_FILES} == {}
