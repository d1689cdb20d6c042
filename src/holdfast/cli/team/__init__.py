"""Commands for agents and teams, and the shared database."""
