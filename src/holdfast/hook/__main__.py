"""Run as `python -I -S …/hook/__main__.py`: no site, no environment, nothing but ourselves."""

import sys

# -I and -S leave the standard library alone on the path; ours is three folders up.
sys.path.insert(0, __file__.rsplit("/", 3)[0])

try:
    from holdfast.hook.entry import main
except (EOFError, ValueError, TypeError, ImportError):  # a full disk cut bytecode short
    sys.pycache_prefix = sys.executable  # not a folder: what helps us is imported from its source
    from holdfast.wire import bytecode

    bytecode.recover()
    from holdfast.hook.entry import main

main(sys.argv[1:])
