"""Turn texts into vectors if the user has an embedder. It works offline by default."""
