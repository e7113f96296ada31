"""The tools that a worker's front matter names: ready-made, of one's own, or mere labels.

A worker whose work a function does may list what that function uses under any name; where a model
does the work, every name has to be a tool, since the model is going to call it.
"""

import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import cast

from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter

from leadhand.contracts.team import tool_name
from leadhand.teams.draft import WorkerDraft
from leadhand.teams.functions import Unusable, is_of_pydantic_ai, named
from leadhand.teams.notes import Notes, misspelt, near
from leadhand.teams.values import is_reference
from leadhand.tools.ready_made import NAMES

_ELSEWHERE = {
    "glob": "list_files",
    "grep": "search_files",
    "ls": "list_files",
    "read": "read_file",
    "webfetch": "read_page",
    "websearch": "search_web",
}
"""What others call tools that do the same."""


def called(tool: str) -> str:
    """What a model calls the tool that a file names: of `module:function` the function's name."""
    return tool.rpartition(":")[2].rpartition(".")[2] if is_reference(tool) else tool


def tools(worker: WorkerDraft, folder: Path, notes: Notes) -> tuple[object, ...]:
    """The worker's tools; of those that can't be had, `notes` says why."""
    found: list[object] = []
    for index, name in enumerate(worker.fields.tools):
        place = worker.document.place("tools", index)
        tool = _tool(name, folder) if is_reference(name) else name
        if isinstance(tool, Unusable):
            notes.problem(place, tool.why)
        elif tool == name and name not in NAMES:
            _label(name, worker, index, notes)
            found.append(name)
        else:
            for doubt in _doubts(tool):
                notes.warn(place, doubt)
            found.append(tool)
    return tuple(found)


def _tool(name: str, folder: Path) -> object | Unusable:
    tool = named(name, folder)
    if isinstance(tool, Unusable) or is_of_pydantic_ai(tool, "AbstractToolset"):
        return tool
    if is_of_pydantic_ai(tool, "Tool"):
        return tool
    if not callable(tool) or isinstance(tool, type) or tool_name(tool) is None:
        kind = "a class" if isinstance(tool, type) else type(tool).__name__
        return Unusable(
            f"{name!r} is {kind} and must be a function with a name, or a pydantic-ai toolset"
        )
    return _unfillable(tool, name) or tool


def _unfillable(tool: Callable[..., object], name: str) -> Unusable | None:
    """What is wrong with a function whose parameters no model could fill in."""
    try:
        parameters = inspect.signature(tool).parameters.values()
        if any("RunContext" in str(one.annotation) for one in parameters):
            return None  # pydantic-ai fills that one in, and only it knows how
        with warnings.catch_warnings():
            # Of defaults that JSON can't hold: a model leaves them as they are.
            warnings.simplefilter("ignore")
            TypeAdapter(cast("type[object]", tool)).json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError, NameError, ValueError) as error:
        said = " ".join(str(error).split(". ")[0].split())
        return Unusable(
            f"a model can't fill in the parameters of {name!r} ({said}): give them plain types"
        )
    return None


def _label(name: str, worker: WorkerDraft, index: int, notes: Notes) -> None:
    place = worker.document.place("tools", index)
    if worker.has_function:
        guess = misspelt(name, NAMES)
        if guess:
            notes.warn(place, f"{name!r} is no tool that a model can use: did you mean {guess!r}?")
        return
    guess = _ELSEWHERE.get(name.partition("(")[0].casefold()) or near(name.casefold(), NAMES)
    hint = f"did you mean {guess!r}? " if guess else ""
    notes.problem(
        place,
        f"there is no tool {name!r}: {hint}ready-made are {', '.join(NAMES)}; for one of your own "
        "write `module:function`",
    )


def _doubts(tool: object) -> list[str]:
    """What makes a function harder to use for a model than it need be."""
    if not inspect.isroutine(tool):
        return []
    doubts: list[str] = []
    function = cast("Callable[..., object]", tool)
    name = tool_name(tool)
    if not inspect.getdoc(function):
        doubts.append(
            f"the tool {name!r} has no docstring: say in one what it gives, the model goes by it"
        )
    bare = [
        f"`{one.name}`"
        for one in inspect.signature(function).parameters.values()
        if one.annotation is inspect.Parameter.empty
    ]
    if bare:
        doubts.append(
            f"the tool {name!r} takes {', '.join(bare)} of no stated type: annotate it, so that "
            "what the model fills in is checked"
        )
    return doubts
