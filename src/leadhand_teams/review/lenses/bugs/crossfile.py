"""Symbols that the change removes or gives other parameters, and that are still used as before.

A finding is at the changed line and names the uses. Only uses that provably refer to the symbol
count.
"""

import ast
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
    what = f"`{one.name}` now {reasons[0]}"
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
    if mismatch(one.old, call, bound=one.bound) is not None:
        return None
    reason = mismatch(one.new, call, bound=one.bound)
    if reason is None and not (file and file.touches(call.lineno, call.end_lineno)):
        reason = moved_parameter(one.old, one.new, call, bound=one.bound)
    return reason


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


def mismatch(function: Function, call: ast.Call, *, bound: bool) -> str | None:
    """Why the call fails, as in "needs `x`"; `None` if it fits or that is unknown.

    With `bound`, the call omits the first parameter (`self`).
    """
    if _open(call):
        return None
    found = function.args
    positional = _positional(function, bound=bound)
    if len(call.args) > len(positional) and found.vararg is None:
        return f"takes {len(positional)} positional arguments, not {len(call.args)}"
    keywords = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
    known = set(positional) - {one.arg for one in found.posonlyargs}
    known |= {one.arg for one in found.kwonlyargs}
    unknown = sorted(keywords - known)
    if unknown and found.kwarg is None:
        return f"has no parameter `{unknown[0]}`"
    filled = set(positional[: len(call.args)])
    twice = sorted(filled & keywords & known)
    if twice:
        return f"gets `{twice[0]}` twice"
    missing = [name for name in _required(function, bound=bound) if name not in filled | keywords]
    return f"needs `{missing[0]}`" if missing else None


def moved_parameter(old: Function, new: Function, call: ast.Call, *, bound: bool) -> str | None:
    """The first parameter that moved, for a call that passes it by its old position; or `None`."""
    if _open(call):
        return None
    before, after = _positional(old, bound=bound), _positional(new, bound=bound)
    for place, name in enumerate(before[: len(call.args)]):
        if place < len(after) and after[place] != name and name in after:
            return f"takes `{after[place]}` where it took `{name}`"
    return None


def _open(call: ast.Call) -> bool:
    """Whether the call passes an unknown number of arguments."""
    return any(isinstance(argument, ast.Starred) for argument in call.args) or any(
        keyword.arg is None for keyword in call.keywords
    )


def _positional(function: Function, *, bound: bool) -> list[str]:
    found = function.args
    names = [one.arg for one in (*found.posonlyargs, *found.args)]
    return names[1:] if bound else names


def _required(function: Function, *, bound: bool) -> list[str]:
    keywords = [one.arg for one in function.args.kwonlyargs]
    names = [*_positional(function, bound=bound), *keywords]
    return [name for name in names if name not in defaults(function)]
