"""`leadhand teams try`: a team on its own sample, and what to type for files of one's own."""

import shlex
from pathlib import Path

from leadhand.cli.options import LimitOptions, OutputOptions, RunCommandOptions
from leadhand.cli.run.command import run_command
from leadhand.cli.views.consoles import print_note
from leadhand.teams.loader import find
from leadhand.teams.samples import sample_of


def try_team(
    team: str,
    sample: str | None,
    limits: LimitOptions,
    output: OutputOptions,
    *,
    out: Path | None,
    home: str | None,
    trust: bool,
) -> int:
    """Run a sample, say how to run the team on other files, and return the exit status."""
    folder = find(team)
    request, inputs = sample_of(folder, sample)
    out = out or Path(f"{folder.resolve().name}-report")
    options = RunCommandOptions(
        team=team,
        request=request,
        inputs=inputs or None,
        limits=limits,
        output=output,
        out=out,
        home=home,
        trust=trust,
    )
    status = run_command(options)
    given = " --input PATH" if inputs else ""
    command = f"leadhand run {shlex.quote(request)} --team {shlex.quote(team)}{given} --out DIR"
    print_note(f"on your own files: {command}" if given else f"with your own request: {command}")
    return status
