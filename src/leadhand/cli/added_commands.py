"""The commands that installed packages add. Imports typer alone, so that `--help` is quick."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import typer
from typer.models import CommandInfo

from leadhand.cli import options
from leadhand.errors import InputError
from leadhand.teams.installed import COMMANDS, TEAMS, EntryPoint, entry_points, imported, unusable

_NAME = re.compile(r"[A-Za-z][\w-]*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command of an installed package: the value of an entry point with the command's name."""

    run: Callable[..., None]
    """What typer runs: its parameters, or the fields of a dataclass among them, are the command's,
    its docstring is the help. It ends with `typer.Exit(status)`. Its module is imported for
    `leadhand --help` too, so import within it what the command needs."""
    resume: Callable[..., int] | None = None
    """Resumes a run that has `RunSetup.origin` of this command as origin, and returns the exit
    status. Gets `ResumeOptions`, `RunStorage`, `StoredRun`. `None`: its runs can't be resumed."""
    trial: Callable[..., object] | None = None
    """Sets up a case of `leadhand eval`. Gets the `RunSetup`, the `RunStorage`, the folder for the
    run's files, and the paths of the case's inputs; gives the supervisor and the batches of the
    inputs. `None`: the team is run with the inputs as they are."""
    tool: Callable[[str | None], Callable[..., object]] | None = None
    """Makes an async function that `leadhand mcp` offers as a tool; gets the value of `--home`."""
    needs: str = ""
    """What the package's team of the same name needs besides a request, as in `a change to look
    at`: `leadhand run` then refers to this command. Empty if the team can be run."""


def command_infos(builtin: set[str]) -> tuple[list[CommandInfo], list[str]]:
    """`builtin` are the names of leadhand's own commands, which can't be replaced."""
    infos: list[CommandInfo] = []
    problems: list[str] = []
    for name, points in entry_points(COMMANDS).items():
        try:
            if not _NAME.fullmatch(name):
                why = "a name has letters, digits, - and _, and begins with a letter"
                raise InputError(unusable("command", name, points[0], why))
            if name in builtin:
                raise InputError(
                    f"{points[0].package} can't add a command {name!r}: leadhand has one itself"
                )
            infos.append(command_info(name, _command(name, points)))
        except InputError as error:
            problems.append(str(error))
    return infos, problems


def command_info(name: str, command: Command) -> CommandInfo:
    app = typer.Typer()
    options.command(app, name)(command.run)
    return app.registered_commands[0]


def added_command(name: str) -> Command | None:
    """Raises `InputError` if it can't be used."""
    points = entry_points(COMMANDS).get(name)
    return _command(name, points) if points is not None else None


def check_runnable(team: str) -> None:
    """Raises `InputError` if only a command of its own can run the installed `team`."""
    points = entry_points(COMMANDS).get(team, ())
    packages = {one.package for one in entry_points(TEAMS).get(team, ())}
    if len(points) == 1 and {points[0].package} == packages:
        needs = _command(team, points).needs
        if needs:
            raise InputError(f"the team {team} needs {needs}: use `leadhand {team}`")


def _command(name: str, points: Sequence[EntryPoint]) -> Command:
    command = imported("command", name, points)
    if not isinstance(command, Command):
        why = f"{points[0].value} is no leadhand.extension.Command"
        raise InputError(unusable("command", name, points[0], why))
    return command
