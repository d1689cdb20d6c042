"""The memory folder that the client loads into every session, and that it writes too."""
