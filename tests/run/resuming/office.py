"""A team folder whose workers are models with tools, and what to type to have it work."""

from pathlib import Path

from tests.run.resuming.thinkers import MODEL, REQUEST
from tests.team_folders import write_team

TOOLS = "tests.run.resuming.thinkers"
RUN_IT = ("run", REQUEST, "--team", "office", "--model", MODEL, "--json", "--quiet")
RESUME_IT = ("resume", "last", "--json", "--quiet")
REQUESTS = 7
"""What it takes: a plan, three steps and two, and a synthesis."""


def office(folder: Path) -> Path:
    """The team folder `office` in `folder`."""
    return write_team(
        folder / "office",
        "name: office\n",
        survey=_worker("Heights", f"{TOOLS}:find_heights", f"{TOOLS}:read_heights"),
        rules=_worker("Rules", f"{TOOLS}:find_rules"),
    )


def _worker(description: str, *tools: str) -> str:
    front = f"description: {description}\ntools: [{', '.join(tools)}]"
    known = "You know all about it. " * 120  # so that a budget is used up before the work is done
    return f"---\n{front}\n---\n\n{known}\n"
