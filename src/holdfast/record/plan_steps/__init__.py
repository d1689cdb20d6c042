"""Steps of a plan: how texts state them, how words name them, what shows that one was taken."""
