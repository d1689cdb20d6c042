"""What is indexed. Each source has a stamp that changes with it; only changed ones are read."""
