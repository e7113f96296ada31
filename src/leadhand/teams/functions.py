"""Finds what a team's files name as `module:name`, by importing the module.

Importing runs the module: a team's folder is code that its user chose to run, like any program.
Whatever goes wrong on the way is a problem in words, never a traceback.
"""

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import cast

from leadhand.contracts.team import AgentLike, Isolation, WorkFunction
from leadhand.errors import InputError
from leadhand.plans.signatures import handoff_problem
from leadhand.teams.notes import near
from leadhand.workers.reference import FunctionReference


@dataclass(frozen=True, slots=True)
class Unusable:
    """What was named can't be had, or can't be used for what it is named for."""

    why: str
    """What is wrong and how to mend it."""


def importable(folder: Path) -> None:
    """Let modules in `folder` be imported, by worker processes too, for the life of the process."""
    path = str(folder.resolve())
    if path not in sys.path:
        sys.path.insert(0, path)


def hiding(folder: Path) -> list[str]:
    """Files of `folder` that would be imported in place of Python's own modules of their name.

    With such a folder on the path anything may break, far from here and without saying why.
    """
    packages = [file.parent for file in folder.glob("*/__init__.py")]
    modules = [*folder.glob("*.py"), *packages]
    return sorted(file.name for file in modules if file.stem in sys.stdlib_module_names)


def work(
    name: str, folder: Path, *, isolate: Isolation, agents: bool = False, own: bool = True
) -> WorkFunction | AgentLike | Unusable:
    """The function `module:function` that takes a handoff, or `Unusable`.

    `agents`: a pydantic-ai agent will do as well. `own`: a team of the user's; the functions of a
    ready-made one may take more, which its command binds before a run.
    """
    found = named(name, folder)
    if isinstance(found, Unusable):
        return found
    if agents and not callable(found) and isinstance(found, AgentLike):
        return _without_process(found, name, isolate)
    if not callable(found):
        kind = type(found).__name__
        return Unusable(f"{name!r} is {kind} and must be a function that takes a handoff")
    problem = handoff_problem(found) if own else None
    if problem is not None:
        return Unusable(f"{name!r} does not take a handoff: {problem}")
    if isolate == "process":
        try:
            FunctionReference.of(found)
        except InputError as error:
            return Unusable(str(error))
    return found


def _without_process(agent: AgentLike, name: str, isolate: Isolation) -> AgentLike | Unusable:
    if isolate == "process":
        return Unusable(f"{name!r} is an agent and can't run in a process: leave out `isolate`")
    return agent


def named(name: str, folder: Path | None) -> object:
    """Whatever is called `module:name`, or `Unusable`."""
    path, _, attributes = name.partition(":")
    imported = module(path, folder)
    if isinstance(imported, Unusable):
        return imported
    found: object = imported
    for attribute in attributes.split("."):
        if not hasattr(found, attribute):
            guess = near(attribute, [name for name in vars(imported) if not name.startswith("_")])
            hint = f"did you mean {guess!r}?" if guess else "define it there"
            return Unusable(f"module {path!r} has no {attributes!r}: {hint}")
        found = cast("object", getattr(found, attribute))
    return found


def is_of_pydantic_ai(found: object, kind: str) -> bool:
    """Whether `found` is of the class `kind` of pydantic-ai, which need not be loaded to tell."""
    return any(
        base.__name__ == kind and base.__module__.partition(".")[0] == "pydantic_ai"
        for base in type(found).__mro__
    )


def module(path: str, folder: Path | None) -> ModuleType | Unusable:
    """The module, imported, or `Unusable`; `folder` is where one's own modules are, if any."""
    try:
        found = importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{path}.".startswith(f"{error.name}."):
            where = "" if "." in error.name else f"put {error.name}.py into the team's folder, or "
            return Unusable(
                f"there is no module {error.name!r}: {where}install the package that has it"
            )
        return Unusable(f"module {path!r} needs {error.name!r}, which is not installed: install it")
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # A module may raise anything while it is imported, `SystemExit` too.
        said = " ".join(str(error).split())
        return Unusable(
            f"module {path!r} can't be imported ({type(error).__name__}: {said}): mend it"
        )
    return found if folder is None else _taken(path, folder) or found


def _taken(path: str, folder: Path) -> Unusable | None:
    """What is wrong where the folder's own module is hidden by another one of the same name."""
    top = path.partition(".")[0]
    own = [folder / f"{top}.py", folder / top / "__init__.py"]
    there = next((file for file in own if file.is_file()), None)
    if there is None:
        return None
    file = getattr(sys.modules[top], "__file__", None)
    if isinstance(file, str) and Path(file).resolve() == there.resolve():
        return None
    shown = there.relative_to(folder).as_posix()
    return Unusable(
        f"{shown} is hidden by another module called {top!r} ({file or 'built in'}): rename it"
    )
