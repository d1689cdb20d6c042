"""The licence that an installed package declares."""

from __future__ import annotations

import re
from importlib import metadata

UNKNOWN, ABSENT = "unknown", "not installed on this system"
LONGEST = 60  # some put the whole text of the licence into the field
# Whoever distributes these with a program owes its source code; the LGPL asks for less.
COPYLEFT = re.compile(r"\b(?:AGPL|GPL|SSPL|GNU (?:Affero )?General Public)")
BY_HAND = {  # read in the package's own files; its metadata names no licence
    "protobuf": "BSD-3-Clause",
    "atheris": "Apache-2.0",
}


def declared(name: str) -> str:
    """An SPDX expression where there is one, else the words of the package."""
    try:
        told = metadata.metadata(name).json
    except metadata.PackageNotFoundError:
        return ABSENT
    if expression := told.get("license_expression"):
        return str(expression)
    words = str(told.get("license", "")).strip()
    if words and words != "UNKNOWN" and len(words) <= LONGEST and "\n" not in words:
        return words
    kinds = [one.rsplit(" :: ", 1)[1] for one in told.get("classifier", []) if _is_one(one)]
    return " / ".join(kinds) or BY_HAND.get(name, UNKNOWN)


def _is_one(classifier: str) -> bool:
    return classifier.startswith("License :: ") and classifier != "License :: OSI Approved"


def problem(name: str) -> str:
    """Why somebody has to look at the licence; empty if nobody has."""
    found = declared(name)
    return found if found == UNKNOWN or COPYLEFT.search(found) else ""
