"""Run as `python -I -S …/hook/__main__.py`: no site, no environment, nothing but ourselves."""

import sys

# -I and -S leave the standard library alone on the path; ours is three folders up.
sys.path.insert(0, __file__.rsplit("/", 3)[0])

from holdfast.hook.entry import main

main(sys.argv[1:])
