"""Loads what `--team` names: ready-made team, folder, `module:attribute`, `file.py[:attribute]`.

Installed modules come first, so no file in the current folder can shadow one. `trust` checks what
is imported from a folder.
"""

import inspect
import re
import sys
import traceback
from collections.abc import Iterable
from importlib.machinery import PathFinder
from pathlib import Path
from typing import NamedTuple, cast

from leadhand.contracts.team import Team
from leadhand.errors import InputError
from leadhand.teams import functions
from leadhand.teams.installed import unusable_teams
from leadhand.teams.loader import load, ready_made
from leadhand.teams.trust import check_owners
from leadhand.teams.values import is_reference

_FILE = re.compile(r"(?P<file>.+\.py)(?::(?P<attribute>.*))?", re.DOTALL)


class PythonTeam(NamedTuple):
    module: str
    attribute: str
    """Empty: the only team in the module."""
    folder: Path | None
    """Where to import the module from; `None` if it is installed."""
    shown: str
    """The module or file as the user wrote it."""


def team_of(source: str, *, trust: bool = False, folder: str | Path = "") -> Team:
    """Load the team that `source` names. Files and modules are searched for in `folder`.

    `trust`: another user's files may be imported. Raises `InputError`, and `TeamError` with every
    problem of a team folder.
    """
    if not source.strip():
        raise InputError("the team has no name: give a ready-made team, a folder, or a file.py")
    python = python_team(source, folder)
    if python is None:
        if source in ready_made() or source in unusable_teams():
            return load(source, trust=trust)
        beside = Path(folder, f"{source}.py")
        if not Path(folder, source).exists() and beside.is_file():
            raise InputError(f"there is no team {source!r}: did you mean `--team {source}.py`?")
        here = Path(folder, source)
        return load(here if here.is_dir() else source, trust=trust)
    return _imported(python, trust=trust)


def absolute(source: str, folder: str | Path = "") -> str:
    """`source` with an absolute path, so that it works from any folder; modules stay unchanged."""
    if source in ready_made():
        return source
    parts = _FILE.fullmatch(source)
    if parts is not None:
        attribute = f":{parts['attribute']}" if parts["attribute"] else ""
        return f"{Path(folder, parts['file']).absolute()}{attribute}"
    here = Path(folder, source)
    return str(here.absolute()) if here.is_dir() else source


def python_team(source: str, folder: str | Path = "") -> PythonTeam | None:
    """Not imported; `None` for other teams. Raises `InputError` if there is no such file or
    module."""
    if source in ready_made() or Path(folder, source).is_dir():
        return None
    parts = _FILE.fullmatch(source)
    if parts is not None:
        return _file(parts["file"], parts["attribute"] or "", Path(folder))
    if not is_reference(source):
        return None
    module, _, attribute = source.partition(":")
    top, here = module.partition(".")[0], Path(folder).absolute()
    if PathFinder.find_spec(top, [one for one in sys.path if one and Path(one) != here]):
        return PythonTeam(module, attribute, None, module)
    if not PathFinder.find_spec(top, [str(here)]):
        raise InputError(
            f"there is no module {top!r} in {here}, and none is installed: name the file, as in "
            f"`path/to/{top}.py:{attribute}`"
        )
    return PythonTeam(module, attribute, here, module)


def _file(name: str, attribute: str, folder: Path) -> PythonTeam:
    file = (folder / name).absolute()
    if not file.is_file():
        what = f"{name!r} is not a file" if file.exists() else f"there is no file {name!r}"
        raise InputError(f"{what}: a team is FILE.py:NAME, or a folder")
    if not file.stem.isidentifier():
        raise InputError(
            f"{name!r} can't be imported under that name: rename it to letters, digits and _"
        )
    return PythonTeam(file.stem, attribute, file.parent, name)


def _imported(python: PythonTeam, *, trust: bool) -> Team:
    if python.folder is not None:
        if not trust:
            check_owners(python.folder, whole=False)
        shadowing = functions.shadowing(python.folder)
        if shadowing:
            raise InputError(
                f"{python.folder / shadowing[0]} hides Python's own module of that name: rename it"
            )
        functions.make_importable(python.folder)
    there = ""
    try:
        found = functions.import_module(python.module, python.folder)
        if teams := _teams(vars(found).items()):
            there = f" (its teams: {', '.join(teams)})"
        place = f"{python.module}:{python.attribute}"
        named = functions.resolve(place, python.folder) if python.attribute else None
    except InputError as error:
        raise InputError(f"team {python.shown!r}: {error}{there}") from error
    if not python.attribute:
        return _only(vars(found).items(), python.shown)
    return _made(named, f"{python.shown}:{python.attribute}")


def _teams(values: Iterable[tuple[str, object]]) -> dict[str, Team]:
    """The teams among a module's values, each under its first name."""
    teams: dict[str, Team] = {}
    for name, value in values:
        if isinstance(value, Team) and not any(value is team for team in teams.values()):
            teams[name] = value
    return teams


def _only(values: Iterable[tuple[str, object]], shown: str) -> Team:
    """Raises `InputError` unless there is one that is not nested in another."""
    values = tuple(values)
    every = _teams(values)
    nested = {id(worker.team) for team in every.values() for worker in team.workers}
    teams = {name: team for name, team in every.items() if id(team) not in nested}
    if len(teams) == 1:
        return next(iter(teams.values()))
    if teams:
        choices = " or ".join(f"{shown}:{name}" for name in teams)
        raise InputError(f"{shown} has {len(teams)} teams: name one, {choices}")
    makers = [name for name, value in values if _makes_team(value)]
    names = " or ".join(f"{shown}:{name}" for name in makers)
    hint = f"name the function that makes one, {names}" if makers else "define one"
    raise InputError(f"{shown} has no leadhand.Team at its top level: {hint}")


def _makes_team(value: object) -> bool:
    made = getattr(value, "__annotations__", {}).get("return")
    return inspect.isfunction(value) and (made is Team or made in ("Team", "leadhand.Team"))


def _made(value: object, shown: str) -> Team:
    """Raises `InputError`."""
    made = value
    if inspect.iscoroutinefunction(value):
        raise InputError(
            f"{shown} is an async function: write one with `def` that returns the team"
        )
    if callable(value) and not isinstance(value, type | Team):
        try:
            inspect.signature(value).bind()
        except TypeError as error:
            raise InputError(
                f"{shown} is a function that needs arguments ({error}): name one that returns a "
                "team without any"
            ) from None
        except ValueError:
            pass  # a built-in whose signature Python does not know
        try:
            made = value()
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            raise InputError(
                f"{shown} failed at {last.filename}:{last.lineno}: {type(error).__name__}: {error}"
            ) from error
    if not isinstance(made, Team):
        how = "returned" if made is not value else "is"
        kind = "type" if isinstance(made, type) else type(made).__name__
        raise InputError(f"{shown} {how} {kind}: it must be a leadhand.Team")
    return cast("Team", made)
