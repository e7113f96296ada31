"""Imports what a team's files name as `module:name`: code that its user chose to run. Every
failure is an `InputError` that says how to fix it."""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import cast

from pydantic import ValidationError

from leadhand.contracts.data import in_one_line
from leadhand.contracts.team import AgentLike, Isolation, WorkFunction
from leadhand.errors import InputError
from leadhand.plans.signatures import handoff_problem
from leadhand.teams.notes import closest
from leadhand.workers.reference import FunctionReference


def make_importable(folder: Path) -> None:
    """Put `folder` on `sys.path`, so that worker processes too can import its modules."""
    path = str(folder.resolve())
    if path not in sys.path:
        sys.path.insert(0, path)


def shadowing(folder: Path) -> list[str]:
    """The files of `folder` that, on the path, would shadow standard modules."""
    packages = [file.parent for file in folder.glob("*/__init__.py")]
    modules = [*folder.glob("*.py"), *packages]
    return sorted(file.name for file in modules if file.stem in sys.stdlib_module_names)


def work_function(
    name: str, folder: Path, *, isolate: Isolation, agents: bool = False, own: bool = True
) -> WorkFunction | AgentLike:
    """The function `module:function`, which takes a handoff.

    `agents`: a pydantic-ai agent is accepted too. `own`: the team is the user's; a ready-made
    team's functions may have further parameters, which its command binds.
    """
    found = resolve(name, folder)
    if agents and not callable(found) and isinstance(found, AgentLike):
        if isolate == "process":
            raise InputError(
                f"{name!r} is an agent and can't run in a process: leave out `isolate`"
            )
        return found
    if not callable(found):
        kind = type(found).__name__
        raise InputError(f"{name!r} is {kind} and must be a function that takes a handoff")
    problem = handoff_problem(found) if own else None
    if problem is not None:
        raise InputError(f"{name!r} does not take a handoff: {problem}")
    if isolate == "process":
        FunctionReference.of(found)
    return found


def resolve(name: str, folder: Path | None) -> object:
    path, _, attributes = name.partition(":")
    found: object = (imported := import_module(path, folder))
    for attribute in attributes.split("."):
        if not hasattr(found, attribute):
            guess = closest(
                attribute, [name for name in vars(imported) if not name.startswith("_")]
            )
            hint = f"did you mean {guess!r}?" if guess else "define it there"
            raise InputError(f"module {path!r} has no {attributes!r}: {hint}")
        found = cast("object", getattr(found, attribute))
    return found


def is_of_pydantic_ai(found: object, kind: str) -> bool:
    """Whether it is an instance, without importing pydantic-ai."""
    return any(
        base.__name__ == kind and base.__module__.partition(".")[0] == "pydantic_ai"
        for base in type(found).__mro__
    )


def import_module(path: str, folder: Path | None) -> ModuleType:
    try:
        found = importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{path}.".startswith(f"{error.name}."):
            where = "" if "." in error.name else f"put {error.name}.py into the team's folder, or "
            raise InputError(
                f"there is no module {error.name!r}: {where}install the package that has it"
            ) from error
        raise InputError(
            f"module {path!r} needs {error.name!r}, which is not installed: install it"
        ) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # A module may raise anything while it is imported, `SystemExit` too.
        known = isinstance(error, ValidationError)
        why = in_one_line(error) if known else " ".join(str(error).split())
        raise InputError(
            f"module {path!r} can't be imported ({type(error).__name__}: {why}): fix it"
        ) from error
    if folder is not None:
        _check_is_own(path, folder)
    return found


def _check_is_own(path: str, folder: Path) -> None:
    """Raise if another module of the same name was imported instead of the folder's own."""
    top = path.partition(".")[0]
    candidates = [folder / f"{top}.py", folder / top / "__init__.py"]
    own = next((file for file in candidates if file.is_file()), None)
    if own is None:
        return
    file = getattr(sys.modules[top], "__file__", None)
    if isinstance(file, str) and Path(file).resolve() == own.resolve():
        return
    shown = own.relative_to(folder).as_posix()
    raise InputError(
        f"{shown} is hidden by another module called {top!r} ({file or 'built in'}): rename it"
    )
