"""`python -m calibrant.cli` is the command `calibrant`."""

from calibrant.cli._main import main

main()
