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
the run, and resumes the run from a `StoredRun`. Its `tool` is one of `leadhand mcp`.

- `options`: options that commands share with those of leadhand, as typer takes them.
- `output`: printing, so that nothing untrusted reaches the terminal or a report as markup.
- `roles`: planners and synthesizers that are code.
- `findings`: problems in files, verified, merged and ranked by code.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_imports

if TYPE_CHECKING:
    from leadhand.cli.added_commands import Command as Command
    from leadhand.cli.options import ResumeOptions as ResumeOptions
    from leadhand.cli.run.command import follow_up as follow_up
    from leadhand.cli.run.command import print_answer as print_answer
    from leadhand.cli.run.execution import INTERRUPTED as INTERRUPTED
    from leadhand.cli.run.execution import LiveRun as LiveRun
    from leadhand.cli.run.models import choose_models as choose_models
    from leadhand.cli.run.setup import RunSetup as RunSetup
    from leadhand.cli.run.storage import RunStorage as RunStorage
    from leadhand.contracts.team import model_name as model_name
    from leadhand.run.stored import StoredRun as StoredRun
    from leadhand.teams.loader import load as load
else:  # checkers would take any name for one of the module's
    __getattr__ = lazy_imports(__name__)
