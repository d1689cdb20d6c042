"""What is made of one session: its checkpoint, brief and budget, and reports on its compactions."""
