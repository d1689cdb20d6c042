"""What is remembered: the client's own memory files, and deep recall over all that was kept."""
