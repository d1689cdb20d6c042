"""Other machines: sending what happened here, and fetching messages for agents here."""
