"""`python -m holdfast.cli`, where the console script is not on the path."""

from holdfast.cli.main import main

main()
