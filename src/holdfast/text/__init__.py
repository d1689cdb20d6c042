"""Text for people and models: escaping, quoting, sentences, numbers and times."""
