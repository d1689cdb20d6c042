"""Exchange with other machines: send what happened here, fetch messages for agents here."""
