"""Writes the reference pages in this folder from docstrings: `make reference`."""

import ast
import importlib
import inspect
import itertools
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import leadhand
from leadhand import events

PAGES = {
    "supervisor": (
        "Supervisor",
        "Supervisor Budget budget.Rate RunQueue summary.Health ToolContext",
    ),
    "team": (
        "Team and Worker",
        "Team Worker Role Route Ladder Retry ladder.RetryRules TaskTemplate task.Batch"
        " WorkerFactory task.PlannedWorker routing.trained.TrainedRouter",
    ),
    "task": (
        "Plan, Task and Outcome",
        "Plan Task Limits task.PlanRequest task.EarlierRun task.EarlierResult planner_kinds.Round"
        " planner_kinds.Decision outcome.TaskResult Handoff outcome.Digest Completed Escalated"
        " Failed Result",
    ),
    "run": (
        "Run and Answer",
        "Run Answer answer.Gap answer.Source RunView RunSummary people.Question people.ToolCall"
        " Reply people.CallReply Journal",
    ),
    "events": ("Events", ""),
    "exceptions": (
        "Exceptions",
        "LeadhandError InputError TeamError PlanError errors.ModelError errors.ToolError"
        " JournalError RunExists RunTaken RunRefused errors.BudgetSpent errors.QueueFull"
        " RunInterrupted Permanent",
    ),
}
"""Each page's title and the classes on it, those that `leadhand` does not export with their module:
`leadhand.X` or `leadhand.contracts.X`."""
NOTE = "Generated from docstrings by `make reference`."


def documented(name: str) -> list[type]:
    """The classes on one page."""
    return [_found(*one.rpartition(".")[::2]) for one in PAGES[name][1].split()]


def _found(module: str, name: str) -> type:
    if not module:
        return getattr(leadhand, name)
    package = "leadhand" if module in {"errors", "routing.trained"} else "leadhand.contracts"
    return getattr(importlib.import_module(f"{package}.{module}"), name)


def page(name: str) -> str:
    """The text of one page."""
    title, _ = PAGES[name]
    parts = [_class(one) for one in documented(name)]
    if name == "events":
        kinds = get_args(events.Event)
        common = "\n".join(_fields(_node(events.RunEvent)))
        parts = ["Every event has:", common, *(_class(one, upto=events.RunEvent) for one in kinds)]
    return "\n\n".join([f"# {title}", NOTE, *parts]) + "\n"


def _class(kind: type, *, upto: type = object) -> str:
    """A class: its docstring, its fields with those that it inherits, and its public methods."""
    classes = itertools.takewhile(lambda one: one is not upto, kind.__mro__)
    nodes = [_node(one) for one in classes if one.__module__.startswith("leadhand")]
    fields = "\n".join(line for node in reversed(nodes) for line in _fields(node))
    methods = [text for node in nodes for text in _methods(node)]
    doc = ast.get_docstring(nodes[0]) or ""
    exported = kind.__name__ in {*dir(leadhand), *vars(events)}
    origin = "" if exported else f"`from {kind.__module__} import {kind.__name__}`"
    return "\n\n".join(filter(None, [f"## `{kind.__name__}`", origin, doc, fields, *methods]))


def _node(kind: type) -> ast.ClassDef:
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(node, ast.ClassDef)
    return node


def _fields(node: ast.ClassDef) -> Iterator[str]:
    """A line for each public field, with its docstring."""
    blocks = (part.orelse if isinstance(part, ast.If) else [part] for part in node.body)
    body = [one for block in blocks for one in block]
    for part, after in zip(body, [*body[1:], None], strict=True):
        match part:
            case ast.AnnAssign(target=ast.Name(id=name)) if not name.startswith("_"):
                doc = ""
                if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                    doc = ": " + " ".join(str(after.value.value).split())
                yield f"- `{_plain(ast.unparse(part))}`{doc}"
            case _:
                pass


def _methods(node: ast.ClassDef) -> Iterator[str]:
    """Each public method: its signature and its docstring."""
    for part in node.body:
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        doc = ast.get_docstring(part)
        if doc is None or (part.name.startswith("_") and part.name != "__init__"):
            continue
        name = node.name if part.name == "__init__" else part.name
        result = f" -> {_plain(ast.unparse(part.returns))}" if part.returns else ""
        if any(isinstance(one, ast.Name) and one.id == "property" for one in part.decorator_list):
            called = f"{name}{result}"
        else:
            prefix = "await " if isinstance(part, ast.AsyncFunctionDef) else ""
            called = f"{prefix}{name}({_parameters(part.args)}){result.removesuffix(' -> None')}"
        yield f"### `{name}`\n\n```text\n{called}\n```\n\n{doc}"


def _parameters(args: ast.arguments) -> str:
    """The parameters without `self`, a line each if they are many."""
    args.args = [one for one in args.args if one.arg not in {"self", "cls"}]
    together = re.sub(r"(: [^=]*?)=(?=\S)", r"\1 = ", _plain(ast.unparse(args)))
    if len(together) < 70:
        return together
    split = re.sub(r", (?=\*?\*?\w+(: |,|$)|\*,)", ",\n    ", together)
    return f"\n    {split},\n"


def _plain(source: str) -> str:
    """Code as a reader wants it: types without quotes, a default instead of its factory."""
    source = re.sub(r"'([A-Z][\w\[\], |.]*)'", r"\1", source)
    source = re.sub(
        r"(?:dataclasses\.)?(?:field|Field)\(default_factory=(\w+).*\)", r"\1()", source
    )
    return source.replace("'", '"')


def main() -> None:
    """Write all pages."""
    for name in PAGES:
        (Path(__file__).parent / f"{name}.md").write_text(page(name), encoding="utf-8")


if __name__ == "__main__":
    main()
