"""Run as `python -I …/mcp/__main__.py`, as the client starts us: nothing of the folder it stands in
is importable, and our own packages are found wherever we are installed."""

import os
import sys

PARENT = os.getppid()  # before all else: it may die while we load
sys.path.insert(0, __file__.rsplit("/", 3)[0])

from holdfast.mcp.stdio import serve  # noqa: E402

if __name__ == "__main__":
    serve(PARENT)
