"""The machine of an endurance session: a project under git, and programs that imitate real ones."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from itertools import dropwhile
from pathlib import Path

from benchmarks.endurance.story import Stage

# Imitated programs: what they print was written down beforehand, by command line and run.
_PROGRAMS = ("pytest", "cargo", "npx", "go", "make", "gh", "npm", "docker", "kubectl", "terraform")
_IMITATION = """#!/bin/sh
key=$(printf '%s' "{name} $*" | sed 's/ *$//' | cksum | cut -d' ' -f1)
run=$(( $(cat {folder}/$key.runs 2>/dev/null || echo 0) + 1 ))
echo $run > {folder}/$key.runs
if [ -f {folder}/$key.$run ]; then
  cat {folder}/$key.$run
  exit "$(cat {folder}/$key.$run.code)"
fi
echo ok
"""


def build(folder: Path, project: Path, stage: Stage) -> Path:
    """A project under git, and the imitated programs beside it."""
    programs, outputs = folder / "programs", folder / "outputs"
    for made in (folder / "home", project / "notes", project / "scripts", programs, outputs):
        made.mkdir(parents=True)
    (project / "README.md").write_text("# Tidewater\n\nGauges, gates and charts of a harbour.\n")
    (project / "notes" / "layout.md").write_text("lib: shared code\nweb: pages\n")
    for path in stage.files:
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text("// This file is at revision 0.\n")
    for name in ("release", "triage", "notes"):
        (project / ".claude" / "commands").mkdir(parents=True, exist_ok=True)
        command = project / ".claude" / "commands" / f"{name}.md"
        command.write_text(f"---\ndescription: {name}\n---\nPrepare the {name}. $ARGUMENTS\n")
    for name in {*_PROGRAMS, *(_words(line)[0] for line in stage.outputs)}:
        place = project / name if name.startswith("./") else programs / name
        place.write_text(_IMITATION.format(name=name, folder=outputs))
        place.chmod(0o755)
    for line, runs in stage.outputs.items():
        _write_outputs(outputs, line, runs)
    git = ["git", "-C", str(project), "-c", "user.name=Tide", "-c", "user.email=tide@example.net"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "Begin"]):
        subprocess.run([*git, *words], check=True)
    return programs


def _words(line: str) -> list[str]:
    """What a program finds in its arguments: no quotes, and no settings before its name."""
    return [*dropwhile(lambda word: "=" in word, shlex.split(line))]


def _write_outputs(folder: Path, line: str, runs: Sequence[tuple[str, int]]) -> None:
    summed = subprocess.run(
        ["cksum"], input=" ".join(shlex.split(line)).encode(), capture_output=True, check=True
    )
    key = summed.stdout.split()[0].decode()
    for number, (output, code) in enumerate(runs, start=1):
        (folder / f"{key}.{number}").write_text(output + "\n")
        (folder / f"{key}.{number}.code").write_text(str(code))
