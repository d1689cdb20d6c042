"""Commands for every day: how full the window is, what was lost, what was said before."""
