"""The HTTP interface: parse, call one capability, render. See docs/api.md."""
