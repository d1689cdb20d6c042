"""Texts as vectors, where the user has an embedder: offline by default, nothing is fetched."""
