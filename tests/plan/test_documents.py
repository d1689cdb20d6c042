"""Ten plans that were written from the page alone are read as meant; ten other documents, some
of them with boxes, are refused with the way on."""

from pathlib import Path

import pytest

from holdfast.plan import room
from holdfast.plan.estimate import Past
from holdfast.plan.load import load_plan
from holdfast.plan.planner import make_workflow
from holdfast.plan.task import BadPlan

HERE = Path(__file__).parent / "documents"
BATCHES = {
    "api.md": "T1 T2 T3, T4 T5",
    "migration.md": "2 3, 4 5 6, 7 8",
    "speckit.md": "T001 T002 T003, T004 T005 T006, T010 T011 T012, T014",
    "short.md": "fix-the-login-redirect add-a-favicon update-readme",
    "steps.md": "cover-the-parser cover-the-writer enforce-90-in-ci",
    "plan.yaml": "extract-users extract-mail wire, remove-the-old-modules",
    "plan.json": "T1 T2, T3",
    "tasks-section.md": "1 2 3, 4",
    "parallel.md": "API-1 API-2 API-3, API-4 API-5",
    "out-of-order.md": "D1 C1 D2, C2 L1",
}
OTHERS = sorted((HERE / "others").iterdir())


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(("name", "batches"), BATCHES.items())
def test_a_plan_in_a_documented_form_becomes_the_batches_that_it_means(
    name: str, batches: str, tmp_path: Path
) -> None:
    plan = load_plan(HERE / "plans" / name, tmp_path)
    flow = make_workflow(plan, room.stated_room(120_000, 3), Past(), tmp_path)
    shape = (" ".join(piece.task.id for piece in batch.pieces) for batch in flow.batches)
    assert ", ".join(shape) == batches


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("document", OTHERS, ids=lambda path: str(path.stem))
def test_any_other_document_is_refused_with_the_way_on(document: Path) -> None:
    with pytest.raises(BadPlan) as error:
        load_plan(document)
    assert error.value.exit_code == 2
    assert error.value.hint.endswith(f"/holdfast:plan {document}")
