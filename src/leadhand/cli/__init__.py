"""The command line. `main` is what the `leadhand` program runs."""

from leadhand.cli import began as began  # first of all: it looks at the clock
from leadhand.cli.app import main

__all__ = ["main"]
