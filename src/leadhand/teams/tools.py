"""Loads the tools that a worker's front matter names: ready-made ones, functions, or mere
labels, which a worker with a function may list."""

import inspect
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import cast

from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter

from leadhand.contracts.tools import tool_name
from leadhand.contracts.worker import READY_MADE_TOOLS
from leadhand.errors import InputError
from leadhand.teams.draft import Draft, WorkerDraft
from leadhand.teams.functions import is_of_pydantic_ai, resolve
from leadhand.teams.notes import FileLine, Notes, closest, intended_name
from leadhand.teams.values import is_reference

ALIASES = {
    "glob": "list_files",
    "grep": "search_files",
    "ls": "list_files",
    "read": "read_file",
    "webfetch": "read_page",
    "websearch": "search_web",
}
"""Names that other programs use for tools that do the same."""


def name_for_model(tool: str) -> str:
    """The name under which a model calls a tool: the function's name of `module:function`."""
    return tool.rpartition(":")[2].rpartition(".")[2] if is_reference(tool) else tool


def tools(worker: WorkerDraft, folder: Path, notes: Notes) -> tuple[object, ...]:
    """The worker's tools; `notes` gets a problem for each that can't be loaded."""
    place = partial(worker.document.place, "tools")
    return _loaded(worker.fields.tools, place, folder, notes, labels=worker.has_function)


def catalogue(draft: Draft, notes: Notes) -> tuple[object, ...]:
    """The tools of a team's worker factory; `notes` as in `tools`."""
    if draft.team is None or draft.team.worker_factory is None:
        return ()
    place = partial(draft.document.place, "worker_factory", "tools")
    return _loaded(draft.team.worker_factory.tools, place, draft.folder, notes, labels=False)


def _loaded(
    names: Sequence[str],
    place_of: Callable[[int], FileLine],
    folder: Path,
    notes: Notes,
    *,
    labels: bool,
) -> tuple[object, ...]:
    """The tools of these names; with `labels` a name need not be that of a tool."""
    found: list[object] = []
    for index, name in enumerate(names):
        place = place_of(index)
        if is_reference(name):
            with notes.problems_at(place):
                found.append(tool := _tool(name, folder))
                for doubt in _doubts(tool):
                    notes.warn(place, doubt)
        else:
            if name not in READY_MADE_TOOLS:
                _note_unknown(name, place, notes, label=labels)
            found.append(name)
    return tuple(found)


def _tool(name: str, folder: Path) -> object:
    """Raises `InputError`."""
    tool = resolve(name, folder)
    if is_of_pydantic_ai(tool, "AbstractToolset") or is_of_pydantic_ai(tool, "Tool"):
        return tool
    if not callable(tool) or isinstance(tool, type) or tool_name(tool) is None:
        kind = "a class" if isinstance(tool, type) else type(tool).__name__
        raise InputError(
            f"{name!r} is {kind} and must be a function with a name, or a pydantic-ai toolset"
        )
    _check_parameters(tool, name)
    return tool


def _check_parameters(tool: Callable[..., object], name: str) -> None:
    """Raises `InputError` unless a model can fill in the parameters."""
    try:
        parameters = inspect.signature(tool).parameters.values()
        contexts = ("RunContext", "ToolContext")
        if any(name in str(one.annotation) for one in parameters for name in contexts):
            return  # that one is filled in, and checked later
        with warnings.catch_warnings():
            # About defaults that JSON can't represent, which a model never sets.
            warnings.simplefilter("ignore")
            TypeAdapter(cast("type[object]", tool)).json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError, NameError, ValueError) as error:
        why = " ".join(str(error).split(". ")[0].split())
        raise InputError(
            f"a model can't fill in the parameters of {name!r} ({why}): give them plain types"
        ) from error


def _note_unknown(name: str, place: FileLine, notes: Notes, *, label: bool) -> None:
    """Note a name that is no tool: a mere label if the worker has a function, else a problem."""
    if label:
        guess = intended_name(name, READY_MADE_TOOLS)
        if guess:
            notes.warn(place, f"{name!r} is no tool that a model can use: did you mean {guess!r}?")
        return
    guess = ALIASES.get(name.partition("(")[0].casefold()) or closest(
        name.casefold(), READY_MADE_TOOLS
    )
    hint = f"did you mean {guess!r}? " if guess else ""
    notes.problem(
        place,
        f"there is no tool {name!r}: {hint}ready-made are {', '.join(READY_MADE_TOOLS)}; "
        "for one of your own write `module:function`",
    )


def _doubts(tool: object) -> list[str]:
    if not inspect.isroutine(tool):
        return []
    doubts: list[str] = []
    function = cast("Callable[..., object]", tool)
    name = tool_name(tool)
    if not inspect.getdoc(function):
        doubts.append(
            f"the tool {name!r} has no docstring: write what it returns, since the model reads it"
        )
    bare = [
        f"`{parameter.name}`"
        for parameter in inspect.signature(function).parameters.values()
        if parameter.annotation is inspect.Parameter.empty
    ]
    if bare:
        doubts.append(
            f"the tool {name!r} takes {', '.join(bare)} without a type: annotate it, so that the "
            "model's arguments are checked"
        )
    return doubts
