"""What sessions and agents share: the tree of work, the board, and the team's server."""
