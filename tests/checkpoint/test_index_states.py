"""Checkpoints and their index against a set of files: saved, killed, damaged, pruned, rebuilt."""

import os
import tempfile
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from holdfast.checkpoint import index
from holdfast.checkpoint.prune import prune
from holdfast.checkpoint.verify import rebuild, verify, verify_projects
from holdfast.checkpoint.write import keep
from tests.checkpoint.documents import NOON, a_document, a_retention, final_names, in_project
from tests.checkpoint.killing import killed_at
from tests.state_machines import play

pytestmark = pytest.mark.slow  # forks, and many files
PROJECTS, SESSIONS = st.sampled_from(("tide", "moor")), st.sampled_from(("s1", "s2"))


class IndexMachine(RuleBasedStateMachine):
    """`saved` are the checkpoints of each project that were reported, and not removed since."""

    def __init__(self) -> None:
        super().__init__()
        self.place = tempfile.TemporaryDirectory()
        self.home = os.environ["HOLDFAST_HOME"]
        os.environ["HOLDFAST_HOME"] = f"{self.place.name}/home"
        self.saved: dict[str, set[str]] = {}
        self.count = 0
        for name in ("tide", "moor"):
            (self._project(name)).mkdir()
            self.saved[name] = set()

    def teardown(self) -> None:
        try:
            self._rebuilds_to_the_same()
        finally:
            os.environ["HOLDFAST_HOME"] = self.home
            self.place.cleanup()

    def _rebuilds_to_the_same(self) -> None:
        found = rebuild([str(self._project(name)) for name in self.saved])
        assert {one.path for one in found.entries} == set.union(*self.saved.values())
        assert not found.damaged and not found.foreign
        assert all(report.ok for report in verify_projects())

    def _project(self, name: str) -> Path:
        return Path(self.place.name).resolve() / name

    def _files(self, name: str) -> set[str]:
        folder = in_project(self._project(name))
        return {str(folder / one) for one in final_names(folder)} if folder.exists() else set()

    @rule(name=PROJECTS, session=SESSIONS)
    def save(self, name: str, session: str) -> None:
        self.count += 1
        created = NOON + timedelta(seconds=self.count)
        text = f"state {self.count}"
        kept = keep(a_document(self._project(name), text, session_id=session, created=created))
        assert not kept.reused and kept.path not in self.saved[name]
        self.saved[name].add(kept.path)
        assert kept.path in {one.path for one in index.load()}
        again = keep(a_document(self._project(name), text, session_id=session, created=created))
        assert again.reused and again.path == kept.path

    @rule(name=PROJECTS, at=st.integers(1, 80))
    def save_and_die(self, name: str, at: int) -> None:
        """There is a whole checkpoint or none."""
        self.count += 1
        document = a_document(self._project(name), f"state {self.count}", session_id="s3")
        killed_at(at, partial(keep, document))
        new = self._files(name) - self.saved[name]
        assert len(new) <= 1
        self.saved[name] |= new

    @rule(name=PROJECTS)
    def remove_a_file(self, name: str) -> None:
        if self.saved[name]:
            path = min(self.saved[name])
            Path(path).unlink()
            self.saved[name].discard(path)

    @rule(at=st.integers(0, 4000), data=st.binary(max_size=40))
    def damage_the_index(self, at: int, data: bytes) -> None:
        """It is not believed where the files say otherwise, and the next save makes it again."""
        path = Path(index.path())
        if path.exists():
            old = path.read_bytes()
            path.write_bytes(old[:at] + data)

    @rule()
    def lose_the_index(self) -> None:
        Path(index.path()).unlink(missing_ok=True)

    @rule(name=PROJECTS, most=st.integers(1, 4))
    def remove_old_ones(self, name: str, most: int) -> None:
        """The newest of each session stays."""
        now = NOON + timedelta(seconds=self.count)
        prune(str(self._project(name)), now, a_retention(at_most=most))
        left = self._files(name)
        assert left <= self.saved[name]
        assert bool(left) == bool(self.saved[name])
        self.saved[name] = left

    @rule()
    def make_it_again(self) -> None:
        self._rebuilds_to_the_same()

    @invariant()
    def what_was_saved_is_there_and_verifies(self) -> None:
        for name, paths in self.saved.items():
            assert self._files(name) == paths
            assert {one.path for one in index.of_project(str(self._project(name)))} == paths
            assert all(verify(path).document is not None for path in paths)


@pytest.mark.requirement("C5", "C7", "C10", "X6")
@pytest.mark.timeout(600)
def test_whatever_happens_to_the_index_the_files_are_the_truth() -> None:
    play(IndexMachine, most_examples=15, steps=18)
