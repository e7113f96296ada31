"""Code that behaves differently after a small change: awaits, blocks, exceptions, conditions.

Each row looks at one edit of a definition and asks about it. A change that does more than a few
things to a definition has its reasons, and is not asked.
"""

import ast
import builtins
from collections.abc import Callable, Iterator, Sequence

from leadhand.extension.findings import Finding
from leadhand_teams.review import syntax
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.comparison import (
    DefinitionPairs,
    Edit,
    Pair,
    Removal,
    asked,
    findings,
    shown,
)
from leadhand_teams.review.comparison.code import names_in, squeezed
from leadhand_teams.review.comparison.guards import VERSIONS, called_in
from leadhand_teams.review.lens import LensRule

_FAMILY = "bugs/behaviour"
_RESTORE = "Restore it, or explain in the change why it is right."


def _rule(name: str, why: str) -> LensRule:
    return LensRule(f"bugs/{name}", _FAMILY, "warning", why, _RESTORE, removal=True)


AWAIT = _rule("await-dropped", "A coroutine that nothing awaits does not run.")
LOCK = _rule("lock-dropped", "Two threads or tasks may now run this code at the same time.")
CONTEXT = _rule("context-dropped", "What it set up or held around the block is missing now.")
CLOSED = _rule("not-closed", "It may stay open, above all when an error comes in between.")
CAUGHT = _rule("exception-exchanged", "Handlers of the former one do not catch the new one.")
BOUND = _rule("moved-by-one", "The first or last one may now be missed, or be one too many.")
TURNED = _rule("condition-turned", "The code now does the opposite, or does it in other cases.")
CONSTANT = _rule("condition-constant", "It no longer decides anything.")
CASE = _rule("case-dropped", "It is now treated like every other case.")
HANDLER = _rule("handler-dropped", "The error now reaches the callers.")
ARGUMENT = _rule("argument-dropped", "The default may not be what is meant here.")
STATEMENT = _rule("statement-dropped", "What it did may still be expected.")
RULES = (
    CASE,
    HANDLER,
    ARGUMENT,
    STATEMENT,
    AWAIT,
    LOCK,
    CONTEXT,
    CLOSED,
    CAUGHT,
    BOUND,
    TURNED,
    CONSTANT,
)

_BUILTINS = frozenset(dir(builtins))
_FEW = 6
"""The most edits of a definition with which one of them is asked about."""
_CLOSING = syntax.word_set(
    "close aclose release quit disconnect shutdown terminate unlink cleanup stop join kill wait"
    " rmtree flush commit rollback unlock detach dispose"
)
_CLOSERS = syntax.word_set("enter_context enter_async_context closing aclosing callback ExitStack")
_TASKS = syntax.word_set(
    "gather wait wait_for create_task ensure_future as_completed shield start_soon run"
    " run_until_complete run_coroutine_threadsafe append add"
)
_LOCKS = syntax.word_set(
    "lock locks rlock mutex semaphore locked atomic transaction savepoint synchronized begin"
)
_COUNTED = syntax.word_set("range enumerate islice min max round randint randrange")
_COROUTINES = syntax.word_set("coroutine inlineCallbacks")
_TURNED: dict[type[ast.cmpop], frozenset[type[ast.cmpop]]] = {
    ast.Eq: frozenset((ast.NotEq,)), ast.NotEq: frozenset((ast.Eq,)),
    ast.In: frozenset((ast.NotIn,)), ast.NotIn: frozenset((ast.In,)),
    ast.Is: frozenset((ast.IsNot,)), ast.IsNot: frozenset((ast.Is,)),
    ast.Lt: frozenset((ast.Gt, ast.GtE)), ast.LtE: frozenset((ast.Gt, ast.GtE)),
    ast.Gt: frozenset((ast.Lt, ast.LtE)), ast.GtE: frozenset((ast.Lt, ast.LtE)),
}  # fmt: skip
_ONE_MORE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip

Row = Callable[[Edit, Pair, DefinitionPairs], str]


def find(change: Change, files: Sequence[ChangedFile]) -> Iterator[Finding]:
    """What the changed definitions of `files` do differently."""
    comparison = DefinitionPairs.of(change)
    found = (
        (file, [one for edit in pair.edits for one in _asked(edit, pair, comparison)])
        for file in files
        if not syntax.is_test(file.path)
        for pair in comparison.pairs(file)
        if not pair.is_rewritten and len(pair.edits) <= _FEW
    )
    yield from findings(found)


def _asked(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> Iterator[Removal]:
    for rule, row in _ROWS:
        if question := row(edit, pair, comparison):
            yield from asked(rule, edit, pair, question)
            return


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


def _bound(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    old, new = edit.old, edit.new
    if old is None or new is None or not VERSIONS.isdisjoint(names_in(edit.above[:3])):
        return ""
    if len({id(one.above[0]) for one in pair.edits if _is_moved(one)}) > 2:
        return ""  # everything moves on
    if not _is_moved(edit):
        return ""
    before, now = (shown(ast.unparse(one)) for one in (old, new))
    return f"Is `{now}` right at its ends? {pair.place} had `{before}`."


def _is_moved(edit: Edit) -> bool:
    """Whether a bound or an index is one more or one less than before."""
    match edit.old, edit.new:
        case ast.Compare(ops=ops), ast.Compare(ops=now) if len(ops) == len(now):
            both = [(type(a), type(b)) for a, b in zip(ops, now, strict=True)]
            return all(a is b or _ONE_MORE.get(a) is b for a, b in both)
        case ast.AST() as old, ast.AST() as new:
            one_less = [(_plus_one(old), new), (_plus_one(new), old)]
            if any(one is not None and ast.dump(one) == ast.dump(x) for one, x in one_less):
                return True
            if isinstance(old, ast.BinOp) and isinstance(new, ast.BinOp):
                return _is_one(old.right) and {type(old.op), type(new.op)} == {ast.Add, ast.Sub}
            return _next_to(old, new) and _is_position(edit.above)
        case _:
            return False


def _plus_one(node: ast.AST) -> ast.AST | None:
    """`x` for `x + 1` and `x - 1`."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right) if _is_one(right):
            return left
        case _:
            return None


def _is_one(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1 and node.value is not True


def _next_to(old: ast.AST, new: ast.AST) -> bool:
    values = [_integer(one) for one in (old, new)]
    return None not in values and abs((values[0] or 0) - (values[1] or 0)) == 1


def _integer(node: ast.AST) -> int | None:
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
        case _:
            return None


def _is_position(above: Sequence[ast.AST]) -> bool:
    """Whether a number there is an index, a bound of a range, or compared with something."""
    for node in above:
        if isinstance(node, ast.Slice | ast.Subscript | ast.Compare | ast.BinOp):
            return True
        if isinstance(node, ast.Call):
            return syntax.last_name(node.func) in _COUNTED
        if not isinstance(node, ast.UnaryOp):
            return False
    return False


def _turned(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    old, new = edit.old, edit.new
    test = next((one for one in edit.above if isinstance(one, ast.If | ast.While)), None)
    if sum(test in one.above for one in pair.edits) > 1 and test is not None:
        return ""  # the branches may have changed places
    match old, new:
        case ast.Compare(ops=[op], left=left), ast.Compare(ops=[now], left=left_now):
            turned = type(now) in _TURNED[type(op)] and ast.dump(left) == ast.dump(left_now)
        case ast.UnaryOp(op=ast.Not(), operand=operand), ast.AST():
            turned = ast.dump(operand) == ast.dump(new)
        case ast.AST(), ast.UnaryOp(op=ast.Not(), operand=operand):
            turned = ast.dump(operand) == ast.dump(old)
        case ast.BoolOp(op=op), ast.BoolOp(op=now):
            turned = type(op) is not type(now)
        case _:
            return ""
    if not turned:
        return ""
    return f"Is `{shown(ast.unparse(new))}` meant? {pair.place} had `{shown(ast.unparse(old))}`."


def _constant(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    match edit:
        case Edit(
            old=ast.expr() as old,
            new=ast.Constant() as new,
            above=(ast.If(test=test) | ast.While(test=test) | ast.Assert(test=test), *_),
        ) if test is old and not isinstance(old, ast.Constant):
            if any(isinstance(one.new, ast.Break | ast.If) for one in pair.edits):
                return ""  # the condition may have moved into the loop
            return f"May `{shown(ast.unparse(old))}` be ignored? It is now `{ast.unparse(new)}`."
        case _:
            return ""


def _case(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    """A condition that is gone with what it decided on, or that now is not asked."""
    if not comparison.only_removes:
        return ""
    match edit:
        case Edit(old=ast.If() as node, new=None) if not isinstance(node.body[-1], ast.Raise):
            test = node.test
        case Edit(old=ast.expr() as part, new=None, above=(ast.BoolOp(), *_)):
            test = part
        case Edit(old=ast.IfExp(test=test, body=body, orelse=other), new=ast.AST() as new) if (
            ast.dump(new) in (ast.dump(body), ast.dump(other))
        ):
            pass
        case _:
            return ""
    if not VERSIONS.isdisjoint(names_in(test)) or pair.is_dropped_variant(test):
        return ""
    if squeezed(ast.unparse(test)) in comparison.added_text:
        return ""  # nested conditions that became one, for example
    return f"Does `{shown(ast.unparse(test))}` no longer matter? {pair.place} asked for it here."


def _handler(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    """A handler that is gone while the code that may fail stays."""
    match edit:
        case Edit(old=ast.Try(handlers=[handler, *_]), new=None, kept=True):
            pass
        case Edit(old=ast.ExceptHandler() as handler, new=None):
            pass
        case _:
            return ""
    kind = ast.unparse(handler.type) if handler.type is not None else "an exception"
    if not comparison.only_removes or kind in ("ImportError", "ModuleNotFoundError"):
        return ""
    return f"Is `{shown(kind)}` handled elsewhere? {pair.place} caught it here."


def _argument(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    """An argument that a call no longer gets."""
    match edit:
        case Edit(old=ast.keyword() | ast.expr() as part, new=None, above=(ast.Call() as call, *_)):
            name = syntax.last_name(call.func)
        case _:
            return ""
    if not comparison.only_removes or not pair.dropped_parameters.isdisjoint(names_in(part)):
        return ""
    if isinstance(pair.old.node, ast.Module) or comparison.rewrites(frozenset((name,))):
        return ""
    return f"Does `{name}` no longer need `{shown(ast.unparse(part))}`? {pair.place} passed it."


def _statement(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    """A statement that is gone while what it is about stays."""
    match edit:
        case Edit(old=ast.Assign() | ast.AugAssign() | ast.Expr() as node, new=None, kept=False):
            pass
        case _:
            return ""
    new = pair.new
    if not comparison.only_removes or new is None or not names_in(node) <= new.names:
        return ""
    text = ast.unparse(node)
    if comparison.rewrites(called_in(node)) or squeezed(text) in squeezed("".join(new.lines)):
        return ""
    targets = [ast.unparse(one) for one, _ in syntax.assigned(node)]
    still = (target for one in new.nodes for target, _ in syntax.assigned(one))
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return ""  # a docstring
    if not isinstance(node, ast.Expr) and any(ast.unparse(one) in targets for one in still):
        return ""  # the value is set in another way
    return f"Is `{shown(text)}` no longer needed? {pair.place} did it here."


_ROWS: tuple[tuple[LensRule, Row], ...] = (
    (AWAIT, _await),
    (LOCK, _lock),
    (CONTEXT, _context),
    (CLOSED, _closed),
    (CAUGHT, _exception),
    (CONSTANT, _constant),
    (BOUND, _bound),
    (TURNED, _turned),
    (CASE, _case),
    (HANDLER, _handler),
    (ARGUMENT, _argument),
    (STATEMENT, _statement),
)
