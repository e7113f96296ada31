"""Finds the function that a worker's `offline` names, by importing its module.

Importing runs the module: a team's folder is code that its user chose to run, like any program.
Whatever goes wrong on the way is a problem in words, never a traceback.
"""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import cast

from leadhand.contracts.team import Isolation, WorkFunction
from leadhand.errors import InputError
from leadhand.teams.notes import near
from leadhand.workers.reference import Reference


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


def find(name: str, folder: Path, isolate: Isolation) -> WorkFunction | str:
    """The function `module:function`, or what is wrong with it and how to mend it."""
    path, _, attributes = name.partition(":")
    module = _module(path, folder)
    if isinstance(module, str):
        return module
    found: object = module
    for attribute in attributes.split("."):
        if not hasattr(found, attribute):
            guess = near(attribute, [name for name in vars(module) if not name.startswith("_")])
            hint = f"did you mean {guess!r}?" if guess else "define it there"
            return f"module {path!r} has no {attributes!r}: {hint}"
        found = cast("object", getattr(found, attribute))
    if not callable(found):
        return f"{name!r} is {type(found).__name__} and must be a function that takes a handoff"
    if isolate == "process":
        try:
            Reference.of(found)
        except InputError as error:
            return str(error)
    return found


def _module(path: str, folder: Path) -> ModuleType | str:
    try:
        module = importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{path}.".startswith(f"{error.name}."):
            where = "" if "." in error.name else f"put {error.name}.py into the team's folder, or "
            return f"there is no module {error.name!r}: {where}install the package that has it"
        return f"module {path!r} needs {error.name!r}, which is not installed: install it"
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # A module may raise anything while it is imported, `SystemExit` too.
        said = " ".join(str(error).split())
        return f"module {path!r} can't be imported ({type(error).__name__}: {said}): mend it"
    return _taken(path, folder) or module


def _taken(path: str, folder: Path) -> str | None:
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
    return f"{shown} is hidden by another module called {top!r} ({file or 'built in'}): rename it"
