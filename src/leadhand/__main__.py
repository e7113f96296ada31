"""`python -m leadhand`: the same as the `leadhand` program."""

from leadhand.cli import main

main()
