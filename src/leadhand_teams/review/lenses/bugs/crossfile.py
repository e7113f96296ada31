"""Symbols that the change removes or gives other parameters, and that are still used as before.

A finding is at the changed line and names the uses. Only uses that provably refer to the symbol
count.
"""

import ast
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from leadhand.extension.findings import Finding, NotAssessed
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.lens import Seen
from leadhand_teams.review.lenses.bugs import symbols, uses
from leadhand_teams.review.lenses.bugs.modules import module_parts
from leadhand_teams.review.lenses.bugs.symbols import ChangedSignature, Removed
from leadhand_teams.review.lenses.bugs.uses import SourceFile, Workspace, shown_places
from leadhand_teams.review.rules import rule
from leadhand_teams.review.syntax import Function, defaults

_Uses = list[tuple[str, ast.AST]]


@dataclass(frozen=True, slots=True)
class Broken:
    """What the change takes away, or gives other parameters."""

    rule: str
    file: ChangedFile
    name: str
    """By which other files mention it."""
    what: str
    """For the message, before the uses."""
    lines: Sequence[int]
    """The old lines of which one is quoted."""
    uses: Callable[[SourceFile, Workspace], Iterable[ast.AST]]
    """Its uses in another file."""
    changed: ChangedSignature | None = None


def find(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Findings for symbols that the change removes from these files or gives other parameters."""
    broken = [one for file in files for one in _broken(file)]
    if not broken:
        return
    workspace = Workspace(change)
    mentioned = workspace.files_mentioning([one.name for one in broken])
    for one in broken:
        yield from _still_used(one, workspace, mentioned)
    if workspace.repository is None:
        yield NotAssessed(
            lens="bugs",
            why="uses of removed or changed symbols were only searched in the change: there is "
            "no repository",
        )


def _broken(file: ChangedFile) -> Iterator[Broken]:
    path = file.old_path or file.path
    if file.status in ("deleted", "renamed") and path.endswith(".py") and module_parts(path):
        verb = "was deleted" if file.status == "deleted" else f"is now `{file.path}`"
        yield Broken(
            "bugs/removed-module-still-imported", file, module_parts(path)[-1],
            f"`{path}` {verb}, but is still imported", sorted(file.removed),
            lambda source, tree: uses.imports_of_module(source, tree, path),
        )  # fmt: skip
    if file.status != "modified":
        return
    for one in symbols.removed_symbols(file):
        yield Broken(
            "bugs/removed-symbol-still-used", file, one.name,
            f"`{one.name}` was removed from `{path}`, but is still used", [one.line],
            functools.partial(_named, file, one.name),
        )  # fmt: skip
    for one in symbols.changed_signatures(file):
        header = range(one.old.lineno, symbols.header_end(one.old) + 1)
        yield Broken(
            "bugs/signature-changed-still-called", file, one.name,
            "still called as before",
            [line for line in header if line in file.removed],
            functools.partial(_called, one), one,
        )  # fmt: skip
    for one in symbols.removed_methods(file):
        yield Broken(
            "bugs/removed-method-still-called", file, one.name,
            f"`{one.owner}.{one.name}` was removed, but the class still uses it", [one.line],
            functools.partial(_own, one),
        )  # fmt: skip


def _named(file: ChangedFile, name: str, source: SourceFile, tree: Workspace) -> Iterable[ast.AST]:
    own = source.path == file.path or tree.modules.exists((*module_parts(file.path), name))
    return () if own else uses.uses_of_name(source, tree, file.path, name)


def _called(one: ChangedSignature, source: SourceFile, tree: Workspace) -> Iterable[ast.AST]:
    if one.owner is None or one.constructs:
        return uses.calls(source, tree, one.file.path, one.name)
    own = source.path == one.file.path
    return uses.self_calls(source, one.owner, one.name) if own else ()


def _own(one: Removed, source: SourceFile, tree: Workspace) -> Iterable[ast.AST]:
    # A subclass elsewhere may define the method.
    return one.uses if source.path == one.file.path and not tree.defined.get(one.name) else ()


def _still_used(
    one: Broken, workspace: Workspace, mentioned: Mapping[str, set[str]]
) -> Iterator[Finding]:
    file, path = one.file, one.file.old_path or one.file.path
    if one.rule == "bugs/removed-module-still-imported":
        parts = module_parts(path)
        if path in workspace.paths or workspace.modules.exists(parts, besides=path):
            return
    found: _Uses = []
    reasons: list[str] = []
    for user in sorted(path for path, names in mentioned.items() if one.name in names):
        source = workspace.source(user, path)
        for node in one.uses(source, workspace) if source is not None else ():
            reason: str | None = ""
            if one.changed is not None and isinstance(node, ast.Call):
                reason = _reason(one.changed, node, workspace.changed_file(user))
            if reason is not None:
                found.append((user, node))
                reasons.append(reason)
    if not found:
        return
    message = f"{one.what}: {shown_places(found)}."
    if one.changed is not None:
        message = f"`{one.name}` has other parameters ({reasons[0]}), but is {message}"
    new = one.changed.new if one.changed is not None else None
    first, last = (new.lineno, symbols.header_end(new)) if new is not None else (1, 0)
    if added := [n for n in range(first, last + 1) if file.touches(n)]:
        line = next((n for n in added if file.head_lines[n - 1].strip()), added[0])
        yield rule(one.rule).finding(file, line, end_line=last, message=message)
        return
    for line in one.lines:
        text, hunk = file.removed.get(line, "").strip(), file.hunk_removing(line)
        if re.search(r"\w", text) and hunk is not None:
            yield rule(one.rule).finding(file, hunk.new_line, message=message, evidence=text)
            return


def _reason(one: ChangedSignature, call: ast.Call, file: ChangedFile | None) -> str | None:
    """Why a call that fits the old parameters does not fit the new ones, or `None`.

    A call that the change itself touches is assumed to follow the new order of parameters.
    """
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    if starred or any(keyword.arg is None for keyword in call.keywords):
        return None  # an unknown number of arguments
    places = range(len(call.args))
    keywords = {keyword.arg: keyword for keyword in call.keywords if keyword.arg is not None}
    old, new = (_signature(function, bound=one.bound) for function in (one.old, one.new))
    try:
        before = old.bind(*places, **keywords).arguments
    except TypeError:
        return None
    try:
        now = new.bind(*places, **keywords).arguments
    except TypeError as error:
        return str(error)
    if file is None or not file.touches(call.lineno, call.end_lineno):
        names = {value: name for name, value in now.items() if isinstance(value, int)}
        for name, value in before.items():
            instead = names.get(value, name) if isinstance(value, int) else name
            if instead != name and name in new.parameters:
                return f"it takes `{instead}` where it took `{name}`"
    return None


def _signature(function: Function, *, bound: bool) -> inspect.Signature:
    """The parameters of a function; with `bound` without the first, which calls omit."""
    found, known = function.args, defaults(function)
    kinds = (
        (found.posonlyargs, inspect.Parameter.POSITIONAL_ONLY),
        (found.args, inspect.Parameter.POSITIONAL_OR_KEYWORD),
        ([found.vararg], inspect.Parameter.VAR_POSITIONAL),
        (found.kwonlyargs, inspect.Parameter.KEYWORD_ONLY),
        ([found.kwarg], inspect.Parameter.VAR_KEYWORD),
    )
    made = [
        inspect.Parameter(
            one.arg, kind, default=None if one.arg in known else inspect.Parameter.empty
        )
        for listed, kind in kinds
        for one in listed
        if one is not None
    ]
    omits = bound and bool(found.posonlyargs or found.args)
    return inspect.Signature(made[1:] if omits else made)
