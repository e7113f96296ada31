"""The command line. `main` is what the `leadhand` program runs."""

from leadhand.cli.app import main

__all__ = ["main"]
