"""The program as an ordinary user, whom a read-only folder keeps out. For root only."""

import importlib
import os
import pkgutil

import leadhand.cli
import leadhand.trace
from leadhand.cli.app import main

NOBODY = 65_534


def as_nobody() -> None:
    """Drop root, then run the program."""
    # Before: an ordinary user may not be allowed to read the interpreter's folder.
    for package in (leadhand.cli, leadhand.trace):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    main()
