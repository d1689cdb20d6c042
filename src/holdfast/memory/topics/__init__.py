"""What the client itself loads into every session: its memory folder, shared with it politely."""
