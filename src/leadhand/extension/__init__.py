"""What a package needs to add a team with a command of its own to leadhand. Provisional.

The names here and in the modules below may change in any release; all others that leadhand
documents keep their meaning. An installed package adds what its entry points name:

    [project.entry-points."leadhand.teams"]
    audit = "acme.audit"                     # a package with a team.yaml: `--team audit`

    [project.entry-points."leadhand.commands"]
    audit = "acme.audit.command:command"     # a `Command`: `leadhand audit`

    [project.entry-points."leadhand.formats"]
    "audit.csv" = "acme.audit.formats:csv"   # `RunView` -> text: `leadhand show RUN --format csv`

A command keeps its runs in a `RunStorage`, shows each as a `LiveRun`, and prints its answer with
`print_answer`, or its own report and then `follow_up`. It stores its options as a `RunSetup` with
the run, and resumes the run from a `StoredRun`.

- `options`: options that commands share with those of leadhand, as typer takes them.
- `output`: printing, so that nothing untrusted reaches the terminal or a report as markup.
- `roles`: planners and synthesizers that are code.
- `findings`: problems in files, verified, merged and ranked by code.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_attributes

if TYPE_CHECKING:
    from leadhand.cli.added_commands import Command
    from leadhand.cli.options import ResumeOptions
    from leadhand.cli.run.command import follow_up, print_answer, watch_of
    from leadhand.cli.run.execution import INTERRUPTED, LiveRun
    from leadhand.cli.run.models import choose_models
    from leadhand.cli.run.setup import RunSetup
    from leadhand.cli.run.storage import RunStorage
    from leadhand.contracts.team import model_name
    from leadhand.run.stored import StoredRun
    from leadhand.teams.loader import load

__all__ = [
    "INTERRUPTED",
    "Command",
    "LiveRun",
    "ResumeOptions",
    "RunSetup",
    "RunStorage",
    "StoredRun",
    "choose_models",
    "follow_up",
    "load",
    "model_name",
    "print_answer",
    "watch_of",
]

_MODULES = {
    "cli.added_commands": "Command",
    "cli.run.command": "follow_up print_answer watch_of",
    "cli.run.execution": "INTERRUPTED LiveRun",
    "cli.run.models": "choose_models",
    "cli.options": "ResumeOptions",
    "cli.run.setup": "RunSetup",
    "cli.run.storage": "RunStorage",
    "contracts.team": "model_name",
    "run.stored": "StoredRun",
    "teams.loader": "load",
}

if not TYPE_CHECKING:  # else checkers would take any name for one of the package's
    __getattr__ = lazy_attributes(__name__, _MODULES, within="leadhand")
