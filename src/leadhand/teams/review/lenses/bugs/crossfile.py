"""Symbols that the change removes or gives other parameters, and that are still used as before.

A finding stands at the changed line and names the uses. It is made only where the uses provably
mean that very symbol: what can't be resolved is left alone.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from leadhand.contracts.finding import Finding, NotAssessed
from leadhand.teams.review.change import Change, ChangedFile, Hunk
from leadhand.teams.review.lens import LensRule, Seen
from leadhand.teams.review.lenses.bugs import methods, symbols, uses
from leadhand.teams.review.lenses.bugs.methods import RemovedMethod
from leadhand.teams.review.lenses.bugs.modules import parts
from leadhand.teams.review.lenses.bugs.signatures import moved, rejection
from leadhand.teams.review.lenses.bugs.symbols import Removed, Resigned
from leadhand.teams.review.lenses.bugs.uses import Workspace, places

REMOVED = LensRule(
    id="bugs/removed-symbol-still-used",
    family="bugs/cross-file",
    severity="critical",
    why="These uses fail with an ImportError or AttributeError.",
    fix="Update the uses, or keep the old name as an alias.",
)
GONE = LensRule(
    id="bugs/removed-module-still-imported",
    family="bugs/cross-file",
    severity="critical",
    why="These imports fail.",
    fix="Update the imports, or leave a module under the old name.",
)
RESIGNED = LensRule(
    id="bugs/signature-changed-still-called",
    family="bugs/cross-file",
    severity="critical",
    why="These calls were right before the change.",
    fix="Update the calls, or give the parameter a default and keep the old name and place.",
)
METHOD = LensRule(
    id="bugs/removed-method-still-called",
    family="bugs/cross-file",
    severity="critical",
    why="These uses fail with an AttributeError.",
    fix="Update the uses, or keep the method.",
)
RULES = (REMOVED, GONE, RESIGNED, METHOD)

_Uses = list[tuple[str, ast.AST]]


def find(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """The findings for what these files had and have no more, or call otherwise now."""
    gone = [file for file in files if file.status in ("deleted", "renamed")]
    kept = [file for file in files if file.status == "modified"]
    removed = [one for file in kept for one in symbols.removed(file)]
    resigned = [one for file in kept for one in symbols.resigned(file)]
    lost = [one for file in kept for one in methods.removed(file)]
    if not (gone or removed or resigned or lost):
        return
    workspace = Workspace(change)
    mentioned = workspace.mentioning(
        [
            *(parts(_old_path(file))[-1] for file in gone if parts(_old_path(file))),
            *(one.name for one in removed),
            *(one.name for one in resigned),
            *(one.name for one in lost),
        ]
    )
    for file in gone:
        yield from _gone(file, workspace, mentioned)
    for one in removed:
        yield from _still_used(one, workspace, mentioned)
    for one in resigned:
        yield from _still_called(one, workspace, mentioned)
    for one in lost:
        yield from _still_self(one, workspace)
    if not workspace.whole:
        yield NotAssessed(
            lens="bugs",
            why="uses of removed or changed symbols were looked for in the change only: there is "
            "no repository to look in",
        )


def _old_path(file: ChangedFile) -> str:
    return file.old_path or file.path


def _gone(
    file: ChangedFile, workspace: Workspace, mentioned: dict[str, set[str]]
) -> Iterator[Finding]:
    path = _old_path(file)
    names = parts(path)
    if not names or not path.endswith(".py") or workspace.modules.taken(names, besides=path):
        return
    if path in workspace.paths:
        return
    found: _Uses = []
    for user in _users(mentioned, names[-1]):
        source = workspace.source(user, path)
        if source is not None:
            found += [(user, node) for node in uses.of_module(source, workspace, path)]
    if found:
        verb = "is deleted" if file.status == "deleted" else f"is now `{file.path}`"
        message = f"`{path}` {verb}, but still imported: {places(found)}."
        yield from _at_removed(GONE, file, sorted(file.removed), message)


def _still_used(
    one: Removed, workspace: Workspace, mentioned: dict[str, set[str]]
) -> Iterator[Finding]:
    if workspace.modules.taken((*parts(one.file.path), one.name)):
        return  # the name is a submodule
    found: _Uses = []
    for user in _users(mentioned, one.name):
        source = workspace.source(user, one.file.path)
        if source is not None and user != one.file.path:
            found += [
                (user, node) for node in uses.of_name(source, workspace, one.file.path, one.name)
            ]
    if found:
        message = f"`{one.name}` is gone from `{one.file.path}`, but still used: {places(found)}."
        yield from _at_removed(REMOVED, one.file, [one.line], message)


def _still_self(one: RemovedMethod, workspace: Workspace) -> Iterator[Finding]:
    if workspace.defined.get(one.name):
        return  # a subclass may bring it
    found: _Uses = [(one.file.path, node) for node in one.uses]
    message = f"`{one.owner}.{one.name}` is gone, but the class still uses it: {places(found)}."
    yield from _at_removed(METHOD, one.file, [one.line], message)


def _still_called(
    one: Resigned, workspace: Workspace, mentioned: dict[str, set[str]]
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
            made = uses.own_calls(source, one.owner, one.name) if user == path else ()
        for call in made:
            reason = _reason(one, call, workspace.changed(user))
            if reason is not None:
                found.append((user, call))
                reasons.append(reason)
    if not found:
        return
    message = f"`{one.name}` now {reasons[0]}, but is still called as before: {places(found)}."
    first, last = one.new.lineno, symbols.header_end(one.new)
    added = [n for n in range(first, last + 1) if one.file.touches(n)]
    if added:
        line = next((n for n in added if one.file.head_lines[n - 1].strip()), added[0])
        evidence = one.file.head_lines[line - 1].strip()
        yield RESIGNED.finding(one.file, line, end_line=last, message=message, evidence=evidence)
    else:
        header = range(one.old.lineno, symbols.header_end(one.old) + 1)
        yield from _at_removed(
            RESIGNED, one.file, [n for n in header if n in one.file.removed], message
        )


def _reason(one: Resigned, call: ast.Call, file: ChangedFile | None) -> str | None:
    """Why a call that fitted the old parameters does not fit the new ones.

    A call that the change itself wrote knows the new order of parameters, whatever it looks like.
    """
    if rejection(one.old, call, bound=one.bound) is not None:
        return None
    reason = rejection(one.new, call, bound=one.bound)
    if reason is None and not (file and file.touches(call.lineno, call.end_lineno)):
        reason = moved(one.old, one.new, call, bound=one.bound)
    return reason


def _users(mentioned: dict[str, set[str]], name: str) -> list[str]:
    return sorted(path for path, names in mentioned.items() if name in names)


def _at_removed(
    rule: LensRule, file: ChangedFile, lines: Sequence[int], message: str
) -> Iterator[Finding]:
    """A finding where the first of some old lines with words in it was removed."""
    for line in lines:
        text = file.removed.get(line, "").strip()
        hunk = _hunk(file, line)
        if re.search(r"\w", text) and hunk is not None:
            yield rule.finding(file, hunk.new_line, message=message, evidence=text)
            return


def _hunk(file: ChangedFile, old_line: int) -> Hunk | None:
    return next(
        (h for h in file.hunks if h.old_start <= old_line < h.old_start + h.old_count), None
    )
