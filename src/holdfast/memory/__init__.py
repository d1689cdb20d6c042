"""Memory: the client's own memory files, and search over everything that was saved."""
