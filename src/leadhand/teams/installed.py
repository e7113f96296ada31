"""Finds what installed packages add to leadhand by their entry points, without importing them.

Importing `importlib.metadata` alone takes 60 ms, a fifth of `leadhand --help`; this takes 2 ms.
"""

import functools
import importlib
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from leadhand.errors import InputError

TEAMS, COMMANDS, FORMATS = "leadhand.teams", "leadhand.commands", "leadhand.formats"
"""The groups of entry points: each name is that of a team, of a command, or `TEAM.FORMAT`."""
TEAM_FILE = "team.yaml"


class EntryPoint(NamedTuple):
    package: str
    """As it is installed."""
    value: str
    """`module` or `module:attribute`."""


def entry_points(group: str) -> Mapping[str, Sequence[EntryPoint]]:
    """The entry points of `group` by name, sorted; several if packages declare the same name."""
    return _declared(tuple(sys.path)).get(group, {})


def imported(kind: str, name: str, points: Sequence[EntryPoint]) -> object:
    """Raises `InputError` if the entry point is not the only one, or can't be imported."""
    if len(points) > 1:
        raise InputError(_several(kind, name, points))
    module, _, attribute = points[0].value.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (Exception, SystemExit) as error:  # the package's code may raise anything
        why = f"{type(error).__name__}: {error}"
        raise InputError(unusable(kind, name, points[0], why)) from error


def unusable(kind: str, name: str, point: EntryPoint, why: str) -> str:
    return f"the {kind} {name!r} of {point.package} can't be used: {why}"


def _several(kind: str, name: str, points: Sequence[EntryPoint]) -> str:
    packages = " and ".join(sorted(point.package for point in points))
    return f"{packages} both add a {kind} {name!r}: uninstall one of them"


def team_folders() -> dict[str, Path]:
    return {name: found for name, found in _teams().items() if isinstance(found, Path)}


def unusable_teams() -> dict[str, str]:
    return {name: found for name, found in _teams().items() if isinstance(found, str)}


def _teams() -> dict[str, Path | str]:
    teams: dict[str, Path | str] = {}
    for name, points in entry_points(TEAMS).items():
        if len(points) > 1:
            teams[name] = _several("team", name, points)
        else:
            why = f"there is no package {points[0].value} with a {TEAM_FILE}"
            folder = _team_folder(points[0].value)
            teams[name] = folder or unusable("team", name, points[0], why)
    return teams


def _team_folder(package: str) -> Path | None:
    """The folder of a package with a team in it. No package around it is imported."""
    name, places = "", None
    for part in package.split("."):
        name = f"{name}.{part}" if name else part
        specs = (finder.find_spec(name, places) for finder in sys.meta_path)
        spec = next((one for one in specs if one is not None), None)
        if spec is None or not spec.submodule_search_locations:
            return None
        places = [*spec.submodule_search_locations]
    return next((Path(one) for one in places or () if Path(one, TEAM_FILE).is_file()), None)


@functools.cache
def _declared(path: tuple[str, ...]) -> Mapping[str, Mapping[str, Sequence[EntryPoint]]]:
    packages: dict[str, str] = {}
    for folder in path:
        for metadata in _metadata(folder):
            name = re.sub(r"[-_.]+", "-", metadata.partition("-")[0]).lower()
            name = name.removesuffix("-egg")  # `acme.egg-info` has no version
            # As for imports, the first of a name counts.
            packages.setdefault(name, f"{folder}/{metadata}/entry_points.txt")
    found: dict[str, dict[str, list[EntryPoint]]] = {}
    for package, file in packages.items():
        group = ""
        for line in _lines(file):
            if line.startswith("["):
                group = line.strip("[] ")
            elif group in (TEAMS, COMMANDS, FORMATS) and "=" in line and line[0] not in "#;":
                name, _, value = line.partition("=")
                points = found.setdefault(group, {}).setdefault(name.strip(), [])
                points.append(EntryPoint(package, value.partition("[")[0].strip()))
    return {group: dict(sorted(names.items())) for group, names in found.items()}


def _metadata(folder: str) -> list[str]:
    if not os.path.isabs(folder):  # the current folder, in which nothing is installed
        return []
    try:
        return sorted(
            one for one in os.listdir(folder) if one.endswith((".dist-info", ".egg-info"))
        )
    except OSError:
        return []


def _lines(file: str) -> list[str]:
    """Empty if it has none for leadhand."""
    try:
        with open(file, "rb") as stream:
            data = stream.read()
    except OSError:
        return []
    if b"[leadhand." not in data:
        return []
    return [line.strip() for line in data.decode("utf-8", "replace").splitlines()]
