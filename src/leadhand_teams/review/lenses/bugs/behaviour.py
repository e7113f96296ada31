"""Code that behaves differently after a small change: awaits, blocks, exceptions, conditions.

Each row looks at one edit of a definition and asks about it. A change that does more than a few
things to a definition has its reasons, and few rows ask about it.
"""

import ast
import builtins
from collections.abc import Iterator, Sequence

from leadhand.extension.findings import Finding
from leadhand_teams.review import syntax
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.comparison import (
    DefinitionPairs,
    Edit,
    Pair,
    Removal,
    Rows,
    findings,
    of_edits,
    shown,
)
from leadhand_teams.review.comparison.code import names_in, squeezed
from leadhand_teams.review.comparison.guards import called_in
from leadhand_teams.review.lenses.bugs import around, conditions, taken_away

_BUILTINS = frozenset(dir(builtins))
_FEW = 6
"""The most edits of a definition with which one of them is asked about."""


def find(change: Change, files: Sequence[ChangedFile]) -> Iterator[Finding]:
    """What the changed definitions of `files` do differently."""
    comparison = DefinitionPairs.of(change)
    found = (
        (file, list(_removals(pair, comparison)))
        for file in files
        if not syntax.is_test(file.path)
        for pair in comparison.pairs(file)
    )
    yield from findings(found)


def _removals(pair: Pair, comparison: DefinitionPairs) -> Iterator[Removal]:
    yield from around.find(pair, comparison)
    is_small = len(pair.edits) <= _FEW
    yield from of_edits(pair, comparison, _ROWS if is_small else _SURE, sure=_SURE)
    if pair.is_rewritten or not is_small:
        yield from conditions.shifted(pair)


def _context(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    """A block without a name, and no lock, that is gone from around statements which stay."""
    match edit:
        case Edit(old=ast.With(items=items) | ast.AsyncWith(items=items), kept=True):
            if isinstance(edit.new, ast.With | ast.AsyncWith):
                return ""
        case Edit(old=ast.withitem() as item, new=None):
            items = [item]
        case _:
            return ""
    if comparison.added_words.keys() & around.CLOSERS:
        return ""
    for item in items:
        text = ast.unparse(item.context_expr)
        if called_in(item) & comparison.deleted or around.is_lock(item.context_expr):
            continue
        if item.optional_vars is None and squeezed(text) not in comparison.added_text:
            return f"Is `with {shown(text)}` no longer needed? {pair.place} had it here."
    return ""


def _unclosed(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    """A call that closed something which stays."""
    match edit:
        case Edit(old=ast.Expr(value=value), new=None):
            call = value.value if isinstance(value, ast.Await) else value
        case _:
            return ""
    match call:
        case ast.Call(func=ast.Attribute(attr=attr, value=owner)) if attr in around.CLOSING:
            name = min(names_in(owner) & pair.new.names, default="")
        case _:
            return ""
    if not name or pair.new.call_counts[attr] >= pair.old.call_counts[attr]:
        return ""
    if any(name in names_in(one) for one in around.closings(pair.new) if pair.new.changes(one)):
        return ""
    if comparison.added_words.keys() & around.CLOSERS:
        return ""
    return f"Is `{name}` still closed? {pair.place} had `{shown(ast.unparse(call))}` for it."


def _exception(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    """Another exception that is raised, of those that there were."""
    raised = _raised(edit)
    if raised is None:
        return ""
    lost, gained = (syntax.last_name(one) for one in raised)
    if lost == gained or lost in ("", "Exception", "BaseException") or lost in comparison.deleted:
        return ""
    if comparison.added_definition(gained) is not None or comparison.rewrites(names_in(raised[1])):
        return ""
    if lost in _BUILTINS and gained not in _BUILTINS:
        return ""  # an error of the project's own
    if around.is_same_kind(lost, gained):
        return ""
    return f"Does anyone handle `{lost}`? {pair.place} now raises another exception."


def _raised(edit: Edit) -> tuple[ast.AST, ast.AST] | None:
    """The exceptions, if the edit is on what a statement raises."""
    match edit:
        case Edit(
            old=ast.Name() | ast.Attribute() as before,
            new=ast.Name() | ast.Attribute() as now,
            above=(ast.Call(func=function), ast.Raise(), *_),
        ) if function is before:
            return before, now
        case Edit(
            old=ast.Name() | ast.Attribute() | ast.Call() as before,
            new=ast.Name() | ast.Attribute() | ast.Call() as now,
            above=(ast.Raise(exc=raised), *_),
        ) if raised is before:
            return _class(before), _class(now)
        case _:
            return None


def _class(raised: ast.AST) -> ast.AST:
    return raised.func if isinstance(raised, ast.Call) else raised


_SURE: Rows = (
    ("bugs/exception-exchanged", _exception),
    ("bugs/condition-constant", conditions.constant),
)
"""Rows that tell enough in a definition that is rewritten."""
_ROWS: Rows = (
    *_SURE,
    ("bugs/not-closed", _unclosed),
    ("bugs/context-dropped", _context),
    ("bugs/moved-by-one", conditions.bound),
    ("bugs/condition-turned", conditions.turned),
    ("bugs/case-dropped", conditions.case),
    ("bugs/handler-dropped", taken_away.handler),
    ("bugs/argument-dropped", taken_away.argument),
    ("bugs/statement-dropped", taken_away.statement),
)
