"""The shared work as a small file beside a window, which hooks can read without a database."""
