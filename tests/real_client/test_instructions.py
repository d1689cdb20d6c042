"""The client's own requests judge what we say it loads, and what a compaction leaves of it."""

import json
from pathlib import Path

import pytest

from holdfast.client import instructions
from holdfast.client.memory_folder import find_memory_folder
from tests.trial.cycle import SUMMARY
from tests.trial.script import Acts, ScriptedAnswer, ScriptedToolCall, bash, usage_of

from .stage import Stage, perform

BELOW = 6  # more than the five files the client reads again by itself


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _set_up(stage: Stage) -> None:
    claude = stage.home / ".claude"
    _put(claude / "CLAUDE.md", "TK-user\n@imported.md\n")
    _put(claude / "imported.md", "TK-userimport\n")
    _put(claude / "rules" / "u.md", "TK-userrule\n")
    _put(stage.project.parent / "CLAUDE.md", "TK-above\n")
    _put(stage.project / "CLAUDE.md", "TK-project\n@docs/a.md `@docs/code.md`\n@../out.md\n")
    _put(stage.project / "docs" / "a.md", "TK-import\n")
    _put(stage.project / "docs" / "code.md", "TK-code\n")
    _put(stage.project.parent / "out.md", "TK-out\n")
    _put(stage.project / "CLAUDE.local.md", "TK-local\n")
    _put(stage.project / ".claude" / "rules" / "r.md", "TK-rule\n")
    scoped = "---\npaths: sub0/*.txt\n---\nTK-scoped (ENFORCED) scoped rule\n"
    _put(stage.project / ".claude" / "rules" / "p.md", scoped)
    for n in range(BELOW):
        _put(
            stage.project / f"sub{n}" / "CLAUDE.md", f"TK-below{n} (ENFORCED) rule of folder {n}\n"
        )
        _put(stage.project / f"sub{n}" / "file.txt", "hello\n")
    memory = Path(find_memory_folder(str(stage.project), {"HOME": str(stage.home)}).path)
    _put(memory / "MEMORY.md", "- TK-memory\n")


def _script(stage: Stage) -> Acts:
    files = [str(stage.project / f"sub{n}" / "file.txt") for n in range(BELOW)]
    main = [
        ScriptedAnswer(
            "Look.", (ScriptedToolCall("Read", {"file_path": file}),), usage_of(20_000 + n)
        )
        for n, file in enumerate(files)
    ]
    for n, used in enumerate((30_000, 31_000, 169_000, 12_000)):
        main.append(ScriptedAnswer(f"Round {n}.", (bash(f"sleep 0.15; echo {n}"),), usage_of(used)))
    return Acts(main, summary=[ScriptedAnswer(SUMMARY, usage=usage_of(3_000, output_tokens=200))])


@pytest.mark.real_client
@pytest.mark.requirement("M4", "M1")
def test_the_client_loads_what_we_say_and_forgets_what_we_pin(binary: Path, stage: Stage) -> None:
    _set_up(stage)
    trial = perform(binary, stage, _script(stage))
    asked = trial.asked("main")
    first = json.dumps(asked[0].body)
    environ = {"HOME": str(stage.home)}
    ours = {
        one.text.split()[0]
        for one in instructions.find_loaded_at_start(str(stage.project), environ)
    }
    everything = {f"TK-{name}" for name in ("code", "out", "scoped")} | ours
    assert {one for one in everything if one in first} == ours
    assert "TK-memory" in first, "the folder is where we look for it"

    at = next(n for n, one in enumerate(trial.requests) if one.kind == "summary")
    after = next(one for one in trial.requests[at:] if one.kind == "main")
    texts = json.dumps(after.body)
    assert all(one in texts for one in ours), "what is loaded at the start comes back"
    by_itself = texts.replace(_brief_in(texts), "")
    lost = [n for n in range(BELOW) if f"rule of folder {n}" not in by_itself]
    assert lost, "the client reads five files again at most"
    assert all(f"rule of folder {n}" in texts for n in range(BELOW))
    assert "scoped rule" in texts


def _brief_in(text: str) -> str:
    begin, end = text.index("<holdfast-brief"), text.index("</holdfast-brief>")
    return text[begin:end]
