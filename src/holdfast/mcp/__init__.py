"""Tools for the model, over stdio; each one calls one capability."""
