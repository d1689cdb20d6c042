"""Commands: each calls one capability and renders the answer."""
