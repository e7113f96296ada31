"""Symbols that the change removes or gives other parameters, and that are still used as before.

A finding is at the changed line and names the uses. Only uses that provably refer to the symbol
count.
"""

import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Sequence

from leadhand.extension.findings import Finding, NotAssessed
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.lens import Seen
from leadhand_teams.review.lenses.bugs import symbols, uses
from leadhand_teams.review.lenses.bugs.modules import module_parts
from leadhand_teams.review.lenses.bugs.symbols import ChangedSignature, Removed
from leadhand_teams.review.lenses.bugs.uses import Workspace, shown_places
from leadhand_teams.review.rules import LensRule, rule
from leadhand_teams.review.syntax import Function, defaults

REMOVED_SYMBOL = rule("bugs/removed-symbol-still-used")
REMOVED_MODULE = rule("bugs/removed-module-still-imported")
CHANGED_SIGNATURE = rule("bugs/signature-changed-still-called")
REMOVED_METHOD = rule("bugs/removed-method-still-called")

_Uses = list[tuple[str, ast.AST]]


def find(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Findings for symbols that the change removes from these files or gives other parameters."""
    gone = [file for file in files if file.status in ("deleted", "renamed")]
    kept = [file for file in files if file.status == "modified"]
    removed = [one for file in kept for one in symbols.removed_symbols(file)]
    changed = [one for file in kept for one in symbols.changed_signatures(file)]
    lost_methods = [one for file in kept for one in symbols.removed_methods(file)]
    if not (gone or removed or changed or lost_methods):
        return
    workspace = Workspace(change)
    mentioned = workspace.files_mentioning(
        [
            *(module_parts(_old_path(file))[-1] for file in gone if module_parts(_old_path(file))),
            *(one.name for one in (*removed, *changed, *lost_methods)),
        ]
    )
    for file in gone:
        yield from _gone(file, workspace, mentioned)
    for one in removed:
        yield from _still_used(one, workspace, mentioned)
    for one in changed:
        yield from _still_called(one, workspace, mentioned)
    for one in lost_methods:
        yield from _still_self(one, workspace)
    if workspace.repository is None:
        yield NotAssessed(
            lens="bugs",
            why="uses of removed or changed symbols were only searched in the change: there is "
            "no repository",
        )


def _old_path(file: ChangedFile) -> str:
    return file.old_path or file.path


def _gone(
    file: ChangedFile, workspace: Workspace, mentioned: dict[str, set[str]]
) -> Iterator[Finding]:
    path = _old_path(file)
    names = module_parts(path)
    if not names or not path.endswith(".py") or workspace.modules.exists(names, besides=path):
        return
    if path in workspace.paths:
        return
    found: _Uses = []
    for user in _users(mentioned, names[-1]):
        source = workspace.source(user, path)
        if source is not None:
            found += [(user, node) for node in uses.imports_of_module(source, workspace, path)]
    if found:
        verb = "was deleted" if file.status == "deleted" else f"is now `{file.path}`"
        message = f"`{path}` {verb}, but is still imported: {shown_places(found)}."
        yield from _at_removed(REMOVED_MODULE, file, sorted(file.removed), message)


def _still_used(
    one: Removed, workspace: Workspace, mentioned: dict[str, set[str]]
) -> Iterator[Finding]:
    if workspace.modules.exists((*module_parts(one.file.path), one.name)):
        return  # the name is a submodule
    found: _Uses = []
    for user in _users(mentioned, one.name):
        source = workspace.source(user, one.file.path)
        if source is not None and user != one.file.path:
            nodes = uses.uses_of_name(source, workspace, one.file.path, one.name)
            found += [(user, node) for node in nodes]
    if found:
        what = f"`{one.name}` was removed from `{one.file.path}`"
        message = f"{what}, but is still used: {shown_places(found)}."
        yield from _at_removed(REMOVED_SYMBOL, one.file, [one.line], message)


def _still_self(one: Removed, workspace: Workspace) -> Iterator[Finding]:
    if workspace.defined.get(one.name):
        return  # a subclass may define it
    found = shown_places([(one.file.path, node) for node in one.uses])
    message = f"`{one.owner}.{one.name}` was removed, but the class still uses it: {found}."
    yield from _at_removed(REMOVED_METHOD, one.file, [one.line], message)


def _still_called(
    one: ChangedSignature, workspace: Workspace, mentioned: dict[str, set[str]]
) -> Iterator[Finding]:
    found: _Uses = []
    reasons: list[str] = []
    path = one.file.path
    for user in _users(mentioned, one.name):
        source = workspace.source(user, path)
        if source is None:
            continue
        if one.owner is None or one.constructs:
            made: Iterable[ast.Call] = uses.calls(source, workspace, path, one.name)
        else:
            made = uses.self_calls(source, one.owner, one.name) if user == path else ()
        for call in made:
            reason = _reason(one, call, workspace.changed_file(user))
            if reason is not None:
                found.append((user, call))
                reasons.append(reason)
    if not found:
        return
    what = f"`{one.name}` has other parameters ({reasons[0]})"
    message = f"{what}, but is still called as before: {shown_places(found)}."
    first, last = one.new.lineno, symbols.header_end(one.new)
    added = [n for n in range(first, last + 1) if one.file.touches(n)]
    if added:
        line = next((n for n in added if one.file.head_lines[n - 1].strip()), added[0])
        yield CHANGED_SIGNATURE.finding(one.file, line, end_line=last, message=message)
    else:
        header = range(one.old.lineno, symbols.header_end(one.old) + 1)
        yield from _at_removed(
            CHANGED_SIGNATURE, one.file, [n for n in header if n in one.file.removed], message
        )


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


def _users(mentioned: dict[str, set[str]], name: str) -> list[str]:
    return sorted(path for path, names in mentioned.items() if name in names)


def _at_removed(
    rule: LensRule, file: ChangedFile, lines: Sequence[int], message: str
) -> Iterator[Finding]:
    """A finding at the first of some old lines that has words and was removed."""
    for line in lines:
        text = file.removed.get(line, "").strip()
        hunk = file.hunk_removing(line)
        if re.search(r"\w", text) and hunk is not None:
            yield rule.finding(file, hunk.new_line, message=message, evidence=text)
            return
