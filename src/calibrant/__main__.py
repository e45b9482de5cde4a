"""`python -m calibrant` is the command `calibrant`."""

from calibrant.cli import main

main()
