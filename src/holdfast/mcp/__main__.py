"""The file that Claude Code starts: `python -I …/mcp/__main__.py`.

Isolated mode keeps modules of the user's project from being imported; our own package is found
by the path of this file, wherever it is installed.
"""

import os
import sys

PARENT = os.getppid()  # read first: the client may die while we load
sys.path.insert(0, __file__.rsplit("/", 3)[0])

from holdfast.wire import bytecode  # noqa: E402

bytecode.survive_cut_files()

from holdfast.files.lock import hold_environment  # noqa: E402
from holdfast.mcp.server import serve  # noqa: E402

if __name__ == "__main__":
    hold_environment()
    serve(PARENT)
