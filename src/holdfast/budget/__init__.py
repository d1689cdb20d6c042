"""Five compartments that share a brief's tokens."""
