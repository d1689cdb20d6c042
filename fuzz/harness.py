"""The process of one target: `python -m fuzz.harness TARGET CORPUS ARTIFACTS SECONDS SEED`.

atheris counts the branches of Holdfast's own modules, so these are imported while it watches.
"""

from __future__ import annotations

import gc
import importlib
import pkgutil
import re
import sys
import tempfile
from pathlib import Path

import atheris

LONGEST_BYTES, TIMEOUT_S, MEMORY_MB = 20_000, 60, 4_096
WORD = re.compile(rb'"?[A-Za-z_][A-Za-z0-9_]{2,30}"?:?')
PACKAGES = {
    "transcript": ("transcript", "record"),
    "payload": ("wire",),
    "hook": ("hook", "wire", "events", "window", "transcript"),
    "checkpoint": ("checkpoint",),
    "settings": ("settings",),
    "client_settings": ("setup",),
    "plan": ("plan",),
}


def main(target: str, corpus: str, artifacts: str, seconds: str, seed: str) -> None:
    with atheris.instrument_imports(include=["holdfast"]):
        for name in PACKAGES[target]:
            _import_all(f"holdfast.{name}")
        from fuzz.seeds import SEEDS
        from fuzz.targets import TARGETS
    run = TARGETS[target]

    def one(data: bytes) -> None:
        run(data)
        gc.enable()  # a hook turns it off, as it lives for a tenth of a second

    with tempfile.TemporaryDirectory(prefix="holdfast-fuzz-") as folder:
        seeds, words = Path(folder, "seeds"), Path(folder, "words")
        _write_seeds(seeds, SEEDS[target]())
        _write_words(words, SEEDS[target]())
        options = [f"-max_total_time={seconds}", f"-seed={seed}"]
        options += [f"-dict={words}"] if words.stat().st_size else []  # choices have no words
        options += [f"-artifact_prefix={artifacts}/", f"-max_len={LONGEST_BYTES}"]
        options += [f"-timeout={TIMEOUT_S}", f"-rss_limit_mb={MEMORY_MB}"]
        atheris.Setup(["fuzz", *options, corpus, str(seeds)], one)
        atheris.Fuzz()


def _import_all(package: str) -> None:
    for found in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)


def _write_seeds(folder: Path, seeds: list[bytes]) -> None:
    folder.mkdir()
    for number, seed in enumerate(seeds):
        (folder / str(number)).write_bytes(seed)


def _write_words(path: Path, seeds: list[bytes]) -> None:
    """The fuzzer puts these into inputs: names of fields and the like."""
    words = sorted({word for seed in seeds for word in WORD.findall(seed)})
    escaped = [word.decode().replace('"', '\\"') for word in words]
    path.write_text("".join(f'"{word}"\n' for word in escaped), encoding="ascii")


if __name__ == "__main__":
    main(*sys.argv[1:])
