"""Tools for the model; each one calls one capability."""
