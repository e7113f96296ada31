"""`leadhand teams`: lists the ready-made teams, shows one, checks, creates or imports a folder."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from leadhand.cli.added_commands import check_runnable
from leadhand.cli.teams.document import document
from leadhand.cli.teams.page import team_page
from leadhand.cli.views.consoles import print_line, print_note, print_page
from leadhand.cli.views.terminal import print_json, safe, sentence
from leadhand.errors import InputError, TeamError
from leadhand.plans.nesting import all_teams
from leadhand.plans.team_checks import signature_problems, team_problems, team_warnings
from leadhand.teams.importing import import_team
from leadhand.teams.installed import unusable_teams
from leadhand.teams.loader import TeamInspection, find, inspect, ready_made, summary
from leadhand.teams.samples import sample_of
from leadhand.teams.saving import write_changed
from leadhand.teams.scaffold import create
from leadhand.teams.sources import python_team, team_of
from leadhand.tools.text import counted

_REQUEST = "I was charged twice and the app crashes"
"""A request that the team of `teams new` can answer."""


def list_teams(console: Console) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for source in ready_made():
        team = summary(source)
        needs, gives = map(sentence, team.takes_to_gives)
        line = Text.assemble((needs, "dim"), (" → ", "dim"), gives) if gives else None
        line = line or Text(sentence(team.description))
        table.add_row(Text(safe(team.name), "bold"), line)
    print_page(console, table)
    print_line(console, "\nleadhand teams try NAME runs a sample, with a model or without", "dim")
    for problem in unusable_teams().values():
        print_note(problem)


def copy_team(name: str, into: Path, console: Console) -> None:
    """Make a folder of a team, whose files name the functions of the installed package.

    Raises `InputError` if the copy would be no sound team, or there is no place for it.
    """
    check_runnable(name)
    source = find(name)
    write_changed(source, into, {"name": into.resolve().name}, {}, code=True)
    try:
        request, inputs = sample_of(source)
    except InputError:
        request, inputs = "...", []
    given = " --input PATH" if inputs else ""
    _created(into, console, request=request, how="with a model or without", more=given)


def show_team(name: str, console: Console, as_json: bool = False, *, trust: bool = False) -> None:
    """Raises `InputError` if there is no such team, `TeamError` if it has problems."""
    team = team_of(name, trust=trust)
    if as_json:
        print_json(document(team))
    else:
        print_page(console, team_page(team, console.width))


def check_team(
    source: str | Path, console: Console, *, trust: bool = False, code: bool = True
) -> bool:
    """Print every problem and warning, one a line; returns whether the team can be used. Without
    `code` nothing is imported. Raises `InputError` if there is no such team."""
    team, problems, warnings = _inspected(source, trust=trust, code=code)
    _notes(console, problem=problems, warning=warnings)
    kinds = ("problem", problems), ("warning", warnings)
    found = [counted(len(some), kind) for kind, some in kinds if some]
    if team is not None:
        needs_model = not team.workers or any(
            worker.run is None and worker.offline is None and worker.team is None
            for one in all_teams(team)
            for worker in one.workers
        )
        size = counted(len(team.workers), "worker")
        if team.worker_factory is not None:
            size += f" and up to {team.worker_factory.max_workers:,} made for a plan"
        how = " with a model" if needs_model else ""
        told = f"team {safe(team.name)!r} can be used{how}: {', '.join([size, *found])}"
    elif problems:
        told = f"{', '.join(found)}: this team can't be used yet"
    else:
        told = f"no problem found in {safe(str(source))!r}; its functions were not checked"
    print_line(console, told, "bold")
    return not problems


def _inspected(source: str | Path, *, trust: bool, code: bool) -> TeamInspection:
    if isinstance(source, Path) or python_team(source) is None:
        return inspect(Path(source), trust=trust, code=code)
    if not code:
        raise InputError(f"{source!r} is Python: with --no-code there is nothing to check")
    team = team_of(source, trust=trust)
    problems = (*team_problems(team, model_at_hand=True), *signature_problems(team))
    warnings = () if problems else tuple(team_warnings(team))
    return TeamInspection(None if problems else team, problems, warnings)


def new_team(folder: Path, console: Console) -> None:
    """Raises `InputError` if the folder is not empty or can't be written."""
    create(folder)
    _created(folder, console, request=_REQUEST, how="with a model or without")


def import_folder(source: Path, into: Path | None, console: Console) -> bool:
    """Write the crew or the subagents in `source` as a team, and print what is lost, or all
    problems. Raises `InputError` if there is nothing to import, or no place for it."""
    try:
        folder, team, lost = import_team(source, into)
    except TeamError as error:
        _notes(console, problem=error.problems)
        shown = safe(str(source))
        end = f"{counted(len(error.problems), 'problem')}: {shown!r} was not imported"
        print_line(console, end, "bold")
        return False
    _notes(console, changed=lost)
    _created(folder, console, request=team.request, how="with a model")
    return True


def _created(folder: Path, console: Console, *, request: str, how: str, more: str = "") -> None:
    # A ready-made team of that name would be used instead of the folder.
    given = f"./{folder}" if str(folder) in ready_made() else str(folder)
    shown = shlex.quote(safe(given))
    print_line(console, f"created a team in {safe(given)}", "bold")
    for command, what in (
        (f"leadhand teams check {shown}", "check it"),
        (f"leadhand run {shlex.quote(request)} --team {shown}{more}", f"try it, {how}"),
    ):
        print_line(console, Text.assemble("  ", Text(command, "cyan"), f"  # {what}"))


def _notes(console: Console, **lines: Sequence[str]) -> None:
    for label, texts in lines.items():
        style = "red" if label == "problem" else "yellow"
        for text in texts:
            print_line(console, Text.assemble((label, style), "  ", Text(sentence(text))))
