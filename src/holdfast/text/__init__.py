"""Text for people and models: escaped, fenced, cut into sentences, numbers in words."""
