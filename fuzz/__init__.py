"""Fuzzing that follows the coverage: whatever a reader is given, its laws hold.

`make fuzz SECONDS=300` runs every target for so long. `python -m fuzz --only plan` runs one.
An input that breaks a law is stored in `tests/fuzz/found`, where it is a test from then on.
"""
