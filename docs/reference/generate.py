"""Writes the reference pages in this folder from docstrings: `make reference`."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import leadhand
from leadhand import events

PAGES = {
    "supervisor": ("Supervisor", "Supervisor Budget Rate Health ToolContext"),
    "team": (
        "Team and Worker",
        "Team Worker Role Route Ladder Retry RetryRules TaskTemplate Batch WorkerFactory"
        " PlannedWorker TrainedRouter",
    ),
    "task": (
        "Plan, Task and Outcome",
        "Plan Task Limits PlanRequest EarlierRun EarlierResult Round Decision TaskResult Handoff"
        " Digest Completed Escalated Failed Result",
    ),
    "run": (
        "Run and Answer",
        "Run Answer Gap Source RunView RunSummary Question ToolCall Reply CallReply Journal",
    ),
    "events": ("Events", ""),
    "exceptions": (
        "Exceptions",
        "LeadhandError InputError TeamError PlanError ModelError ToolError JournalError RunExists"
        " RunTaken RunInterrupted Permanent",
    ),
}
"""Each page's title and the public names on it."""
NOTE = "Generated from docstrings by `make reference`."


def page(name: str) -> str:
    """The text of one page."""
    title, names = PAGES[name]
    parts = [_class(getattr(leadhand, one)) for one in names.split()]
    if name == "events":
        kinds = get_args(events.Event)
        common = "\n".join(_fields(_node(kinds[0].__mro__[1])))
        parts = ["Every event has:", common, *(_class(one, inherited=False) for one in kinds)]
    return "\n\n".join([f"# {title}", NOTE, *parts]) + "\n"


def _class(kind: type, *, inherited: bool = True) -> str:
    """A class: its docstring, its fields with those that it inherits, and its public methods."""
    classes = [one for one in kind.__mro__ if one.__module__.startswith("leadhand")]
    nodes = [_node(one) for one in (classes if inherited else classes[:1])]
    fields = "\n".join(line for node in reversed(nodes) for line in _fields(node))
    methods = [text for node in nodes for text in _methods(node)]
    doc = ast.get_docstring(nodes[0]) or ""
    return "\n\n".join(filter(None, [f"## `{kind.__name__}`", doc, fields, *methods]))


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
