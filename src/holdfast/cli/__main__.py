"""`python -m holdfast.cli`, where the console script is not on the path."""

from holdfast.cli.start import main

main()
