"""Messages between agents, claims, and who waits for whom."""
