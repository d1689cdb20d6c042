"""One table of settings; where each value came from can always be asked."""
