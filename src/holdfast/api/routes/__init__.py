"""One module for each resource of the HTTP interface."""
