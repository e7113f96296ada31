"""A team for tests of the command line, whose functions do what a test needs of them."""

import threading
from pathlib import Path

from leadhand.contracts.outcome import Handoff
from tests.team_folders import worker, write_team

HOSTILE = (
    "# Findings\n\nRead [the report](https://evil.example/x) and ![a picture](https://evil.example/p)"
    " \x1b]52;c;eA==\x07 \x1b[31mred &#x202e;abc <b onload=x>bold</b>\n\n- `code`\n"
)


def find(handoff: Handoff) -> str:
    return f"Found: {handoff.intent}"


def talk(handoff: Handoff) -> str:
    """Prints, as libraries of agents do."""
    print("not part of the answer")
    return "done"


def attack(handoff: Handoff) -> str:
    """What a hostile page may make a worker say."""
    return HOSTILE


def fail(handoff: Handoff) -> str:
    raise ValueError("no paper left")


def slow(handoff: Handoff) -> str:
    threading.Event().wait()
    return "late"


def support_team(folder: Path, *functions: str) -> Path:
    """A team folder with a worker for each of these functions, named like it."""
    files = {
        name: worker(f"description: Does the part called {name}\noffline: {__name__}:{name}")
        for name in functions or ("find", "attack")
    }
    return write_team(folder / "support", "name: support\n", **files)
