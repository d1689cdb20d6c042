"""What the tools do: a function `answer_<tool>` for each tool of the model."""
