"""The commands about teams, for `leadhand.cli.app`. Imports typer alone."""

from pathlib import Path
from typing import Annotated

import typer

from leadhand.cli.options import (
    Home,
    Json,
    RunId,
    Team,
    Trust,
    command,
)

teams_app = typer.Typer(
    help="Teams: list the ready-made ones, show one, check, create or import your own, get advice."
)


@command(teams_app, "list")
def teams_list() -> None:
    """List the ready-made teams."""
    from leadhand.cli.teams.actions import list_teams
    from leadhand.cli.views.consoles import DataConsole

    list_teams(DataConsole())


@command(teams_app, "show")
def teams_show(team: Team, json: Json = False, trust: Trust = False) -> None:
    """Show a team: its workers, its plan template and its rules. Imports its Python."""
    from leadhand.cli.teams.actions import show_team
    from leadhand.cli.views.consoles import DataConsole

    show_team(team, DataConsole(), as_json=json, trust=trust)


@command(teams_app, "copy")
def teams_copy(
    team: Team,
    folder: Annotated[Path, typer.Argument(help="The folder to create.", metavar="DIR")],
) -> None:
    """Copy a team into a folder of your own: its rules, prompts, samples and cases.

    The copy of a ready-made team uses the functions of the installed package. Overwrites nothing.
    """
    from leadhand.cli.teams.actions import copy_team
    from leadhand.cli.views.consoles import DataConsole

    copy_team(team, folder, DataConsole())


@command(teams_app, "check")
def teams_check(
    folder: Annotated[
        str, typer.Argument(help="A folder with a team.yaml, or a Python team.", metavar="DIR")
    ],
    no_code: Annotated[
        bool, typer.Option("--no-code", help="Import nothing; check only the files.")
    ] = False,
    trust: Trust = False,
) -> None:
    """List every problem of a team, with file and line.

    Imports the folder's Python, to check the functions that its files name, unless --no-code.
    """
    from leadhand.cli.teams.actions import check_team
    from leadhand.cli.views.consoles import DataConsole

    sound = check_team(folder, DataConsole(), trust=trust, code=not no_code)
    raise typer.Exit(0 if sound else 2)


@command(teams_app, "new")
def teams_new(
    folder: Annotated[Path, typer.Argument(help="The folder to create.", metavar="NAME|DIR")],
) -> None:
    """Create a team of your own: a folder to start from, and a module named after it."""
    from leadhand.cli.teams.actions import new_team
    from leadhand.cli.views.consoles import DataConsole

    new_team(folder, DataConsole())


@command(teams_app, "import")
def teams_import(
    folder: Annotated[
        Path,
        typer.Argument(help="A crewAI project, a folder of subagents, or a plugin.", metavar="DIR"),
    ],
    into: Annotated[
        Path | None,
        typer.Option(help="The folder to create; by default NAME-team here.", metavar="DIR"),
    ] = None,
) -> None:
    """Make a team of a crewAI project or of Markdown subagents, and list what is not carried over.

    Runs none of its code and overwrites nothing.
    """
    from leadhand.cli.teams.actions import import_folder
    from leadhand.cli.views.consoles import DataConsole

    raise typer.Exit(0 if import_folder(folder, into, DataConsole()) else 2)


@command(teams_app, "advise")
def teams_advise(
    team: Team,
    runs: Annotated[int, typer.Option(help="Read at most this many of its runs.", min=1)] = 200,
    home: Home = None,
    json: Json = False,
    trust: Trust = False,
) -> None:
    """Say what a team does not need, by its stored runs: a planner, workers, tools.

    Every line says which runs it was computed from. Calls no model.
    """
    from leadhand.cli.runs.commands import StoredRuns
    from leadhand.cli.teams.stored_runs import advise

    with StoredRuns(home) as kept:
        advise(kept, team, limit=runs, as_json=json, trust=trust)


@command(teams_app, "freeze")
def teams_freeze(
    run: RunId,
    into: Annotated[
        Path, typer.Option(help="The folder of its team, whose team.yaml is edited.", metavar="DIR")
    ],
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the template that the team has.")
    ] = False,
    home: Home = None,
    json: Json = False,
    trust: Trust = False,
) -> None:
    """Make the plan of a run the template of its team, which then needs no planner.

    The plan is the one that was accepted first, without later amendments, splits and refinements.
    If DIR does not exist, it becomes a copy of the team's folder.
    """
    from leadhand.cli.runs.commands import StoredRuns
    from leadhand.cli.teams.stored_runs import freeze_run

    with StoredRuns(home) as kept:
        freeze_run(kept, run, into, replace=replace, as_json=json, trust=trust)


@command(teams_app, "save")
def teams_save(
    run: RunId,
    folder: Annotated[Path, typer.Argument(help="The folder to create.", metavar="DIR")],
    team: Annotated[
        str, typer.Option(help="The team of the run, if the run does not say.", metavar="TEAM")
    ] = "",
    home: Home = None,
    json: Json = False,
    trust: Trust = False,
) -> None:
    """Copy the team of a run, with the workers that were made for its plan as declared ones.

    The copy has no worker factory. Overwrites nothing.
    """
    from leadhand.cli.runs.commands import StoredRuns
    from leadhand.cli.teams.stored_runs import save_run

    with StoredRuns(home) as kept:
        save_run(kept, run, folder, team=team, as_json=json, trust=trust)
