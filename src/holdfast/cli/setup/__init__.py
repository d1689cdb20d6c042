"""Commands that install, check and configure."""
