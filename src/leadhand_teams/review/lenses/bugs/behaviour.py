"""Code that behaves differently after a small change: awaits, blocks, exceptions, conditions.

Each row looks at one edit of a definition and asks about it. A change that does more than a few
things to a definition has its reasons, and is not asked.
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
    Rows,
    findings,
    of_edits,
    shown,
)
from leadhand_teams.review.comparison.code import names_in, squeezed
from leadhand_teams.review.comparison.guards import called_in
from leadhand_teams.review.lenses.bugs import conditions, taken_away

_BUILTINS = frozenset(dir(builtins))
_FEW = 6
"""The most edits of a definition with which one of them is asked about."""
_CLOSING, _CLOSERS = syntax.words_of("behaviour.closing"), syntax.words_of("behaviour.closers")
_TASKS, _LOCKS = syntax.words_of("behaviour.tasks"), syntax.words_of("behaviour.locks")
_COROUTINES = frozenset(("coroutine", "inlineCallbacks"))


def find(change: Change, files: Sequence[ChangedFile]) -> Iterator[Finding]:
    """What the changed definitions of `files` do differently."""
    comparison = DefinitionPairs.of(change)
    found = (
        (file, list(of_edits(pair, comparison, _ROWS)))
        for file in files
        if not syntax.is_test(file.path)
        for pair in comparison.pairs(file)
        if len(pair.edits) <= _FEW
    )
    yield from findings(found)


def _await(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    match edit:
        case Edit(
            old=ast.Await(value=ast.Call() as before)
            | ast.Yield(value=ast.Call() as before)
            | ast.YieldFrom(value=ast.Call() as before),
            new=ast.Call() as now,
        ):
            pass
        case _:
            return ""
    function = pair.new.node if pair.new else None
    name = syntax.last_name(now.func)
    if name != syntax.last_name(before.func) or comparison.added_definition(name) is not None:
        return ""
    if isinstance(edit.old, ast.Await):
        if not isinstance(function, ast.AsyncFunctionDef):
            return ""
    elif not isinstance(function, ast.FunctionDef) or _COROUTINES.isdisjoint(
        one for decorator in function.decorator_list for one in names_in(decorator)
    ):
        return ""
    around = {syntax.last_name(one.func) for one in edit.above if isinstance(one, ast.Call)}
    if around & _TASKS:
        return ""
    statement = next((one for one in edit.above if isinstance(one, ast.stmt)), None)
    if isinstance(statement, ast.Assign) and pair.new is not None:
        targets = names_in(statement.targets)
        later = [one for one in pair.new.nodes if isinstance(one, ast.Await | ast.Call)]
        for one in later:
            waits = isinstance(one, ast.Await) or syntax.last_name(one.func) in _TASKS
            if waits and targets & names_in(one) and one is not now:
                return ""
    return f"Does `{shown(ast.unparse(now))}` run without `await`? {pair.place} awaited it before."


def _lock(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    """A lock, a transaction or the like that is no longer held."""
    for text, names in _dropped(edit, pair, comparison):
        if any(not _LOCKS.isdisjoint(syntax.words(one)) for one in names):
            return f"Is `{text}` no longer needed? {pair.place} held it here."
    return ""


def _context(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    """Another block that is gone from around statements which stay."""
    for text, _ in _dropped(edit, pair, comparison):
        if comparison.added_words.keys() & _CLOSERS:
            return ""
        return f"Is `with {text}` no longer needed? {pair.place} had it here."
    return ""


def _dropped(
    edit: Edit, pair: Pair, comparison: DefinitionPairs
) -> Iterator[tuple[str, frozenset[str]]]:
    """Source and names of what code no longer runs inside of, if that has no name there."""
    items: list[ast.withitem] = []
    match edit:
        case Edit(old=ast.With() | ast.AsyncWith() as block, kept=True):
            if not isinstance(edit.new, ast.With | ast.AsyncWith):
                items = block.items
        case Edit(old=ast.withitem() as item, new=None):
            items = [item]
        case Edit(
            old=ast.Expr(value=ast.Call(func=ast.Attribute(attr="acquire" | "lock") as function)),
            new=None,
        ) if pair.new is not None and not pair.new.call_counts[function.attr]:
            yield shown(ast.unparse(function.value)), names_in(function) | {"lock"}
        case _:
            pass
    for item in items:
        if called_in(item) & comparison.deleted:
            continue
        text = ast.unparse(item.context_expr)
        if item.optional_vars is None and squeezed(text) not in comparison.added_text:
            yield shown(text), names_in(item)


def _closed(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    """What was closed at the end of a block, or by a call that is gone."""
    new = pair.new
    if new is None:
        return ""
    match edit:
        case Edit(old=ast.With() | ast.AsyncWith() as block, kept=True):
            if isinstance(edit.new, ast.With | ast.AsyncWith):
                return ""
            what = shown(ast.unparse(block.items[0]))
            held = {
                one: called_in(item.context_expr)
                for item in block.items if item.optional_vars is not None
                for one in names_in(item.optional_vars)
            }  # fmt: skip
            name = next(
                (
                    one for node in new.statements.values() if isinstance(node, ast.Assign)
                    for one in names_in(node.targets) & held.keys()
                    if held[one] & called_in(node.value)
                ),
                "",
            )  # fmt: skip
        case Edit(old=ast.Expr(value=call), new=None):
            call = call.value if isinstance(call, ast.Await) else call
            match call:
                case ast.Call(func=ast.Attribute(attr=attr, value=value)) if attr in _CLOSING:
                    name = min(names_in(value) & new.names, default="")
                    what = shown(ast.unparse(call))
                    if new.call_counts[attr] >= pair.old.call_counts[attr]:
                        return ""
                case _:
                    return ""
        case _:
            return ""
    if not name or comparison.added_words.keys() & _CLOSERS:
        return ""
    closing = (call for call in new.calls if syntax.last_name(call.func) in _CLOSING)
    if any(name in names_in(call.func) for call in closing if new.changes(call)):
        return ""
    return f"Is `{name}` still closed? {pair.place} had `{what}` for it."


def _exception(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    """Another exception that is caught or raised, of those that there were."""
    if edit.old is None or not edit.above:
        return ""
    raised = _raised(edit)
    if raised is not None:
        before, now = raised
    elif (
        any(isinstance(one, ast.ExceptHandler) for one in edit.above[:2])
        and isinstance(edit.old, ast.Name | ast.Attribute | ast.Tuple)
        and not isinstance(edit.above[0], ast.Raise)
    ):
        before, now = edit.old, edit.new
        around = next((one for one in edit.above if isinstance(one, ast.Try)), None)
        if around is None or sum(around in one.above for one in pair.edits) > 1:
            return ""
    else:
        return ""
    lost, gained = _kinds(before), _kinds(now)
    lost, gained = lost - gained, gained - lost
    if any(comparison.added_definition(one) is not None for one in gained):
        return ""
    if raised is not None and lost <= _BUILTINS and not gained <= _BUILTINS:
        return ""  # an error of the project's own
    if not lost or lost & {"Exception", "BaseException"} or comparison.rewrites(gained):
        return ""
    if now is not None and comparison.rewrites(names_in(now)):
        return ""
    if not (lost - comparison.deleted) or any(_is_same_kind(a, b) for a in lost for b in gained):
        return ""
    told = f"`{', '.join(sorted(lost))}`"
    if raised is not None:
        return f"Does anyone handle {told}? {pair.place} now raises another exception."
    return f"Is {told} handled elsewhere? {pair.place} caught it here."


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


def _kinds(node: ast.AST | None) -> frozenset[str]:
    """The last names of the exceptions that an expression lists."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node] if node is not None else []
    return frozenset(syntax.last_name(one) for one in parts) - {""}


def _is_same_kind(one: str, other: str) -> bool:
    kinds = [getattr(builtins, name, None) for name in (one, other)]
    narrow, broad = (kind if isinstance(kind, type) else None for kind in kinds)
    return narrow is not None and broad is not None and issubclass(narrow, broad)


_ROWS: Rows = (
    ("bugs/await-dropped", _await),
    ("bugs/lock-dropped", _lock),
    ("bugs/context-dropped", _context),
    ("bugs/not-closed", _closed),
    ("bugs/exception-exchanged", _exception),
    ("bugs/condition-constant", conditions.constant),
    ("bugs/moved-by-one", conditions.bound),
    ("bugs/condition-turned", conditions.turned),
    ("bugs/case-dropped", conditions.case),
    ("bugs/handler-dropped", taken_away.handler),
    ("bugs/argument-dropped", taken_away.argument),
    ("bugs/statement-dropped", taken_away.statement),
)
