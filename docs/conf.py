"""The documentation as a site, built by `make docs` from the Markdown that a code host shows.

The folder that is built is the project's own, so that README, changelog and docs/ link to each
other in the site as they do on a code host.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from posixpath import normpath
from typing import TYPE_CHECKING

from pygments.lexers.special import TextLexer

import holdfast

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "Holdfast"
author = "the Holdfast authors"
version = release = holdfast.__version__
extensions = ["myst_parser"]
include_patterns = ["*.md", "docs/**.md"]
exclude_patterns = [".*", "benchmarks", "build", "demo", "src", "tests"]
root_doc = "README"
html_theme = "furo"
html_title = f"Holdfast {release}"
html_copy_source = False
myst_heading_anchors = 4  # named as code hosts name them

HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
LINK = re.compile(r"\]\(([\w./-]+)\.md\)")
TOCTREE = "\n```{{toctree}}\n{options}\n\n{pages}\n```\n"


def setup(app: Sphinx) -> None:
    app.add_lexer("demo", TextLexer)
    app.connect("source-read", add_contents)
    app.connect("build-finished", copy_front_page)


def add_contents(app: Sphinx, page: str, source: list[str]) -> None:
    """Make the sidebar from the contents page, so that pages are listed in one place only."""
    if page == root_doc:
        contents = Path(app.srcdir, "docs", "README.md")
        app.env.note_dependency(contents)
        _, *parts = HEADING.split(contents.read_text(encoding="utf-8"))
        source[0] += TOCTREE.format(options=":hidden:", pages="docs/README")
        for heading, text in zip(parts[::2], parts[1::2], strict=True):
            pages = "\n".join(normpath(f"docs/{one}") for one in LINK.findall(text))
            source[0] += TOCTREE.format(options=f":hidden:\n:caption: {heading}", pages=pages)
    elif page in ("docs/formats/README", "docs/decisions/README"):
        source[0] += TOCTREE.format(options=":glob:\n:maxdepth: 1", pages="*")


def copy_front_page(app: Sphinx, failure: Exception | None) -> None:
    """Web servers look for `index.html`; the front page is the README."""
    if failure is None:
        folder = Path(app.outdir)
        shutil.copyfile(folder / f"{root_doc}.html", folder / "index.html")
