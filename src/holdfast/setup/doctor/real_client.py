"""The real client through fill, alert and compaction: what of ours it passed on."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from holdfast.setup.doctor.compaction import kept_in
from holdfast.setup.trial.cycle import run_cycle
from holdfast.setup.trial.outcome import compactions, heard, hook_faults
from holdfast.setup.trial.run import Trial
from holdfast.setup.wiring import hook_table
from holdfast.text.fence import TAG

STEERS = "Keep these word for word in the summary:"
_MISSED = {
    "alerts_the_api_received": "no alert reached the API",
    "checkpoint_kept": "no checkpoint was kept",
    "summariser_got_our_text": "the summariser did not get our text",
    "brief_in_next_request": "the brief was not in the request after the compaction",
}


def try_cycle(binary: Path) -> dict[str, Any]:
    """Against a scripted API, cut off from any network, in folders of its own."""
    with tempfile.TemporaryDirectory(prefix="holdfast-doctor-") as folder:
        home, project = Path(folder, "home"), Path(folder, "project")
        home.mkdir()
        project.mkdir()
        trial = run_cycle(
            binary,
            project,
            home,
            settings={"hooks": hook_table()},
            env={"HOLDFAST_HOME": str(home / ".holdfast")},
        )
        return {"binary": os.fspath(binary)} | judged(trial, kept=kept_in(project))


def judged(trial: Trial, *, kept: bool) -> dict[str, Any]:
    """What the API received of ours; whatever did not come is a trouble."""
    times = compactions(trial)
    found = {
        "requests": len(trial.requests),
        "compactions": times,
        "alerts_the_api_received": sorted({t for one in trial.requests for t in heard(one)}),
        "checkpoint_kept": kept,
        "summariser_got_our_text": any(STEERS in _text(one.body) for one in trial.asked("summary")),
        "brief_in_next_request": f"<{TAG} " in _next_request(trial),
    }
    troubles = hook_faults(trial)
    if not times:
        return found | {"troubles": [*troubles, "the client did not compact"]}
    return found | {"troubles": troubles + [_MISSED[name] for name in _MISSED if not found[name]]}


def in_words(client: dict[str, Any]) -> list[str]:
    told = [f"real client: {client['requests']} requests, {client['compactions']} compaction"]
    told += [f"  the API received: {text}" for text in client["alerts_the_api_received"]]
    done = {
        "checkpoint_kept": "a checkpoint was kept",
        "summariser_got_our_text": "the summariser got our text",
        "brief_in_next_request": "our brief was in the next request",
    }
    return told + [f"  {words}" for name, words in done.items() if client[name]]


def _next_request(trial: Trial) -> str:
    """The first turn the model was asked for after the summary."""
    asked = iter(trial.requests)
    for request in asked:
        if request.kind == "summary":
            return next((_text(one.body) for one in asked if one.kind == "main"), "")
    return ""


def _text(body: dict[str, Any]) -> str:
    return json.dumps(body.get("messages"), ensure_ascii=False)
