"""Several keepers in the same second: distinct checkpoints, one index, nothing lost."""

from pathlib import Path

import pytest

from holdfast.checkpoint import index
from holdfast.checkpoint.verify import verify_projects
from holdfast.wire import places
from tests.checkpoint.documents import final_names, in_project, left_drafts
from tests.concurrent_processes import processes

KEEPER = """
import sys
from holdfast.checkpoint.write import keep
from tests.checkpoint.documents import a_document
project, session, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
for number in range(times):
    print(keep(a_document(project, f"{session} {number}", session_id=session)).id)
"""


def _together(project: Path, sessions: list[str], times: int) -> list[str]:
    """All start at one signal; their answers, one after the other."""
    told = processes(KEEPER, [(str(project), session, str(times)) for session in sessions])
    return " ".join(told).split()


@pytest.mark.requirement("C5", "X6")
@pytest.mark.parametrize("writers", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_keepers_in_the_same_second_get_names_of_their_own(tmp_path: Path, writers: int) -> None:
    found = _together(tmp_path, [f"s{n}" for n in range(writers)], 3)
    assert len(set(found)) == writers * 3
    assert len(final_names(in_project(tmp_path))) == writers * 3
    assert sorted(one.id for one in index.load()) == sorted(found)
    assert all(report.ok for report in verify_projects())
    for session in range(writers):
        mine = [one for one in index.load() if one.session_id == f"s{session}"]
        assert sorted(one.iteration for one in mine) == [1, 2, 3]
    assert not left_drafts(tmp_path, Path(places.home()))


@pytest.mark.slow
@pytest.mark.requirement("C9")
def test_one_state_kept_by_two_at_once_is_one_checkpoint(tmp_path: Path) -> None:
    found = _together(tmp_path, ["s1", "s1"], 1)
    assert len(set(found)) == 1
    assert len(final_names(in_project(tmp_path))) == 1
