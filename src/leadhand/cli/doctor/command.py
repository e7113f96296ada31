"""`leadhand doctor`: checks the installation, the models that would be used, and whether they
work. Never prints a key, nor a part of one."""

import asyncio
import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rich.table import Table
from rich.text import Text

from leadhand import __version__
from leadhand.cli.home import state_folder
from leadhand.cli.run.models import choose_models, roles_by_model
from leadhand.cli.standard_streams import writing_output
from leadhand.cli.views.consoles import DataConsole, print_page
from leadhand.cli.views.terminal import print_json, sentence
from leadhand.contracts.team import Team, model_name
from leadhand.errors import InputError
from leadhand.models.choice import models_by_role, models_of
from leadhand.models.defaults import PROVIDERS
from leadhand.teams.sources import team_of

EXTRAS = {
    "sql": "duckdb",
    "mcp": "fastmcp",
    "postgres": "psycopg",
    "agents": "agno",
    "router": "sklearn",
    "otel": "opentelemetry.exporter.otlp.proto.http",
    "teams": "ucumvert",
    "web": "prometheus_client",
    "bedrock": "boto3",
    "cohere": "cohere",
    "google": "google.genai",
    "groq": "groq",
    "huggingface": "huggingface_hub",
    "mistral": "mistralai",
}
"""leadhand's extras, `pip install leadhand[NAME]`, each with a module that only it installs."""


class Check(NamedTuple):
    name: str
    passed: bool
    found: str
    fix: str = ""
    """How to fix a failure."""


class Models(NamedTuple):
    why: str = ""
    roles: Mapping[str, str] = {}
    trials: Mapping[str, Sequence[Check]] = {}
    """By model."""


def doctor_command(
    *, team: str | None, trust: bool, model: str | None, no_model: bool, as_json: bool
) -> int:
    """Check, print what was found, and return the exit status: 0, or 3 if a check failed."""
    subject = team_of(team, trust=trust) if team is not None else Team("any", workers=())
    checks = _surroundings()
    try:
        models = _models(subject, model=model, no_model=no_model)
    except InputError as error:
        checks, models = [*checks, Check("models", False, str(error))], Models()
    every = (*checks, *(one for tried in models.trials.values() for one in tried))
    failed = [check.name for check in every if not check.passed]
    with writing_output():
        if as_json:
            trials = {
                name: [one._asdict() for one in tried] for name, tried in models.trials.items()
            }
            print_json(
                {
                    "healthy": not failed,
                    "checks": [check._asdict() for check in checks],
                    "models": {"why": models.why, "roles": models.roles},
                    "trials": trials,
                }
            )
        else:
            _show(checks, models, failed)
    return 3 if failed else 0


def _models(team: Team, *, model: str | None, no_model: bool) -> Models:
    choice = choose_models(team, model=model, no_model=no_model)
    specs = models_of(choice.team)
    if not specs:
        return Models(choice.why)
    # Imported here because only models are tried.
    from leadhand.cli.doctor.trials import trials_of

    trials = {
        model_name(spec): asyncio.run(trials_of(spec, state_folder(os.environ))) for spec in specs
    }
    return Models(choice.why, models_by_role(choice.team), trials)


def _surroundings() -> list[Check]:
    git = shutil.which("git")
    home = state_folder(os.environ)
    there = [name for name, package in EXTRAS.items() if _installed(package)]
    lacking = ", ".join(name for name in EXTRAS if name not in there)
    extras = (", ".join(there) or "none") + (f" (not installed: {lacking})" if lacking else "")
    keys = [row.variable for row in PROVIDERS if os.environ.get(row.variable, "").strip()]
    set_keys = ", ".join(dict.fromkeys(keys))
    return [
        Check("leadhand", True, __version__),
        Check("python", True, f"{platform.python_version()} at {sys.executable}"),
        Check("extras", True, extras),
        Check("git", git is not None, git or "not found", "install git: reviews need it"),
        Check("state", *_writable(home)),
        Check("keys", True, f"{set_keys} (not shown)" if set_keys else "none set"),
    ]


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def _writable(folder: Path) -> tuple[bool, str, str]:
    """Creates nothing."""
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        return True, str(folder) if folder.exists() else f"{folder} (created when needed)", ""
    return False, f"{folder} can't be written", "set LEADHAND_HOME to a folder that can"


def _show(checks: Sequence[Check], models: Models, failed: Sequence[str]) -> None:
    console = DataConsole()
    print_page(console, _table(checks))
    if models.why:
        print_page(console, Text(f"\n{'models: ' if models.roles else ''}{models.why}"))
    for model, names in roles_by_model(models.roles).items():
        print_page(console, Text(f"  {model}: {', '.join(names)}", "dim"))
    for model, tried in models.trials.items():
        print_page(console, Text(f"\ntrials of {sentence(model)}"))
        print_page(console, _table(tried))
    end = f"\nfailed: {', '.join(failed)}" if failed else "\neverything works"
    print_page(console, Text(end, "bold"))


def _table(checks: Sequence[Check]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in checks:
        line = Text(sentence(check.found))
        if check.fix and not check.passed:
            line.append(f"\n{sentence(check.fix)}", "yellow")
        mark = Text("✓", "green") if check.passed else Text("✗", "red")
        table.add_row(mark, check.name, line)
    return table
