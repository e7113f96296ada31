"""Single edits that make code less safe, whatever else the change does to the definition.

A row gives a question about an edit, or nothing. Rows of the second table see what is missing, and
not whether it protected: what other rules find on the same line tells more.
"""

import ast

from leadhand_teams.review import syntax
from leadhand_teams.review.comparison import DefinitionPairs, Edit, Pair, Rows, shown, vocabulary
from leadhand_teams.review.comparison.code import SIMPLE, names_in, span, squeezed
from leadhand_teams.review.comparison.guards import called_in, raised, subjects_of
from leadhand_teams.review.lenses.security import conditions
from leadhand_teams.review.syntax import pattern_of, words_of

_SECRETS = words_of("edited.secrets")
_STRICT = pattern_of("edited.strict_types")
"""Types that refuse values of the plain ones."""
_PLAIN, _BOUNDS = words_of("edited.plain_types"), words_of("edited.bounds")
_CASTS = words_of("edited.casts")
"""Calls whose loss is rarely more than a matter of types or style, or makes a text safer."""
_BUILT = (ast.BinOp, ast.JoinedStr, ast.Compare)
_MIN_SECRET = 8


def _decorated(edit: Edit, pair: Pair, sides: DefinitionPairs) -> str:
    """A check that a decorator's argument no longer names, or a method that it now lets in."""
    decorators = getattr(pair.old.node, "decorator_list", [])
    if edit.old is None or not any(one in edit.above for one in decorators):
        return ""
    lost = names_in(edit.old) - (names_in(edit.new) if edit.new is not None else frozenset())
    name = next(filter(vocabulary.guards, sorted(lost)), "")
    if not name or sides.added_words[name]:
        return ""
    return f"Is {pair.place} still protected? Its decorator named `{name}` before."


def _built(edit: Edit, pair: Pair, sides: DefinitionPairs) -> str:
    """A function that made a value safe, in whose place now stands an expression without it."""
    match edit:
        case Edit(old=ast.Call(func=function) as call, new=ast.expr() as new):
            name = syntax.last_name(function)
        case _:
            return ""
    formats = isinstance(new, ast.Call) and syntax.last_name(new.func) == "format"
    if not (isinstance(new, _BUILT) or formats) or not vocabulary.checks(name):
        return ""
    if any(vocabulary.protects(one) for one in called_in(new)):
        return ""
    if squeezed(ast.unparse(call)) in sides.added_text:
        return ""
    return f"Is `{shown(ast.unparse(new))}` as safe as `{name}` here? {pair.place} used that."


def _secret(edit: Edit, pair: Pair, sides: DefinitionPairs) -> str:
    """A secret that came from outside and is a constant now."""
    match edit:
        case Edit(old=ast.Call() | ast.Subscript() | ast.Attribute() as old,
                  new=ast.Constant(value=str() | bytes() as value)):  # fmt: skip
            pass
        case _:
            return ""
    if len(value) < _MIN_SECRET:
        return ""
    owner = next((one for one in edit.above if isinstance(one, ast.Assign | ast.keyword)), None)
    named = names_in(owner.targets if isinstance(owner, ast.Assign) else [])
    named |= {
        one.value
        for one in ast.walk(old)
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    }
    keyword = (owner.arg or "") if isinstance(owner, ast.keyword) else ""
    text = value if isinstance(value, str) else value.decode("latin-1")
    if any(char in text for char in " /{}<>") or _SECRETS.isdisjoint(
        word for one in (*names_in(old), *named, keyword) for word in syntax.words(one)
    ):
        return ""
    return f"Is a secret in the code now? {pair.place} read `{shown(ast.unparse(old))}` before."


def _swallowed(edit: Edit, pair: Pair, sides: DefinitionPairs) -> str:
    """A handler that raised, and now raises nothing."""
    match edit:
        case Edit(old=ast.Raise() as gone, new=None, above=(ast.ExceptHandler() as handler, *_)):
            name = raised(gone)
        case _:
            return ""
    caught = ast.unparse(handler.type) if handler.type is not None else "an exception"
    anew = [node for one in pair.edits if one.new is not None for node in ast.walk(one.new)]
    if any(isinstance(node, ast.Raise) for node in anew) or "ImportError" in caught:
        return ""
    if any(guard.name == name for guard in pair.new.guards):
        return ""
    if f"raise{name}" in sides.added_text:
        return ""
    return f"Is `{caught}` still refused? {pair.place} answered it with this line."


def _anchor(edit: Edit, pair: Pair, sides: DefinitionPairs) -> str:
    """A pattern that no longer has to match from the start or to the end."""
    match edit:
        case Edit(old=ast.Constant(value=str(before)), new=ast.Constant(value=str(now)),
                  above=(ast.Call(func=function) as call, *around)):  # fmt: skip
            if syntax.last_name(function) != "compile" or call.args[0] is not edit.old:
                return ""
        case _:
            return ""
    ends = (r"\Z", "$")
    lost = "^" if before.startswith("^") and not now.startswith("^") else ""
    lost = lost or next((one for one in ends if before.endswith(one)), "") * (
        not now.endswith(ends)
    )
    name = next((ast.unparse(target) for one in around for target, _ in syntax.assigned(one)), "it")
    return f"May `{name}` match more? Its pattern lost `{lost}` in {pair.place}." if lost else ""


def _declared(edit: Edit, pair: Pair, sides: DefinitionPairs) -> str:
    """A field or parameter whose declared type or bounds accept more."""
    owner = next((one for one in edit.above if isinstance(one, ast.AnnAssign | ast.arg)), None)
    if edit.old is None or owner is None or owner.annotation is None:
        return ""
    field = isinstance(pair.old.node, ast.ClassDef) and isinstance(owner, ast.AnnAssign)
    if not field and not isinstance(owner, ast.arg):
        return ""  # variables of a function accept nothing from outside
    before, now = _type_names(edit.old), _type_names(edit.new)
    strict, bounds = set(filter(_STRICT.fullmatch, before)), _bounds(edit.old) - _bounds(edit.new)
    if strict - now and not any(map(_STRICT.fullmatch, now)) and now & _PLAIN:
        gone = ast.unparse(edit.old)
    elif bounds and not _bounds(edit.new) and not any(map(sides.protects, now)):
        gone = min(bounds)
    else:
        return ""
    name = owner.arg if isinstance(owner, ast.arg) else ast.unparse(owner.target)
    return f"Does `{name}` accept more now? {pair.place} declared it as `{shown(gone)}`."


def _type_names(node: ast.AST | None) -> set[str]:
    parts = ast.walk(node) if node is not None else ()
    return {syntax.last_name(one) for one in parts if isinstance(one, ast.Name | ast.Attribute)}


def _bounds(node: ast.AST | None) -> set[str]:
    """The bounds that a type or a value such as `Field(le=5)` declares."""
    parts = ast.walk(node) if node is not None else ()
    return {
        f"{one.arg}={ast.unparse(one.value)}"
        for one in parts
        if isinstance(one, ast.keyword) and one.arg in _BOUNDS
    }


def _bare(edit: Edit, pair: Pair, sides: DefinitionPairs) -> str:
    """A value that is used without the call or slice around it."""
    match edit:
        case Edit(old=ast.Call(func=function, args=args) as part, new=ast.expr() as bare):
            receiver = function.value if isinstance(function, ast.Attribute) else None
            inside = [*args, *([receiver] if receiver is not None and names_in(receiver) else [])]
            if syntax.last_name(function) in _CASTS or _is_made_elsewhere(part, sides):
                return ""
        case Edit(
            old=ast.Subscript(value=value, slice=ast.Slice()) as part, new=ast.expr() as bare
        ):
            inside = [value]
        case _:
            return ""
    if ast.dump(bare) not in map(ast.dump, inside) or not _is_alone(edit, pair):
        return ""
    return _as_good(bare, part, pair)


def _unguarded(edit: Edit, pair: Pair, sides: DefinitionPairs) -> str:
    """A value that is used without its default, or without the choice around it."""
    match edit:
        case Edit(
            old=ast.expr() as gone, new=None, above=(ast.BoolOp(values=[one, other]) as part, *_)
        ):
            if gone is not (other if isinstance(part.op, ast.Or) else one):
                return ""
            bare, tests = (one if gone is other else other), [one]
        case Edit(
            old=ast.IfExp(test=test, body=body, orelse=orelse) as part, new=ast.expr() as bare
        ):
            values = (one for one in (body, orelse) if not isinstance(one, ast.Constant))
            if ast.dump(bare) not in map(ast.dump, values):
                return ""
            tests = [test]
        case Edit(old=ast.Call(func=function, args=[value, *rest]) as part, new=ast.expr() as bare):
            if not _is_plain_access(function, value, rest, bare):
                return ""
            tests = list[ast.expr]()
        case _:
            return ""
    new = pair.new
    statement = next((one for one in edit.above if isinstance(one, ast.stmt)), None)
    if not isinstance(statement, SIMPLE) or not _is_alone(edit, pair):
        return ""  # conditions have rules of their own
    if isinstance(part, ast.IfExp) and any(
        isinstance(one, ast.If) and new.changes(one.test) and bare.lineno in span(one)
        for one in new.nodes
    ):
        return ""  # a condition that the change writes decides on the statement
    names = frozenset[str]().union(*map(subjects_of, tests))
    makers = new.makers(names)
    decided = tests and (
        names.isdisjoint(new.names) or pair.tests_anew(names)
        or not pair.dropped_parameters.isdisjoint(names) or makers != pair.old.makers(names)
        or sides.rewrites(makers.union(*map(called_in, tests)))
    )  # fmt: skip
    return "" if decided else _as_good(bare, part, pair)


def _is_plain_access(
    function: ast.expr, value: ast.expr, rest: list[ast.expr], bare: ast.expr
) -> bool:
    """Whether `bare` is `x.a` for `getattr(x, "a", y)`, or `x[a]` for `x.get(a, y)`."""
    match function, bare:
        case ast.Name(id="getattr"), ast.Attribute(value=owner, attr=name):
            same = ast.dump(owner) == ast.dump(value)
            return same and len(rest) == 2 and getattr(rest[0], "value", None) == name
        case ast.Attribute(attr="get", value=owner), ast.Subscript(value=held, slice=key):
            return (ast.dump(owner), ast.dump(value)) == (ast.dump(held), ast.dump(key))
        case _:
            return False


def _as_good(bare: ast.expr, part: ast.expr, pair: Pair) -> str:
    what = shown(ast.unparse(part))
    return f"Is `{shown(ast.unparse(bare))}` as good as `{what}`? {pair.place} used that before."


def _is_alone(edit: Edit, pair: Pair) -> bool:
    """Whether the change edits nothing else in the statement, or in its condition."""
    outer: ast.AST | None = next((one for one in edit.above if isinstance(one, ast.stmt)), None)
    if not isinstance(outer, SIMPLE):
        outer = next((one for one in reversed(edit.above) if isinstance(one, ast.expr)), None)
    return outer is None or not any(outer in one.above for one in pair.edits if one is not edit)


def _step(edit: Edit, pair: Pair, sides: DefinitionPairs) -> str:
    """`x = f(x)` that is gone while `x` is still used."""
    match edit:
        case Edit(old=ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) as node,
                  new=None):  # fmt: skip
            pass
        case _:
            return ""
    new, hunk = pair.new, pair.old.file.hunk_removing(node.lineno)
    if hunk is None or hunk.new_count or name not in new.names:
        return ""
    variables = {part.id for part in ast.walk(call) if isinstance(part, ast.Name)}
    if name not in variables or syntax.last_name(call.func) in _CASTS:
        return ""
    text = ast.unparse(node)
    if _is_made_elsewhere(call, sides) or squeezed(text) in sides.added_text:
        return ""
    if any(
        isinstance(one, ast.If) and subjects_of(one.test) & names_in(call) - {name}
        for one in edit.above[:1]
    ):
        return ""  # it only ran if there was a value, which it then used, as a search does
    return f"Is `{name}` right without `{shown(text)}`? {pair.place} had it here."


def _is_made_elsewhere(call: ast.Call, sides: DefinitionPairs) -> bool:
    """Whether the change makes the call elsewhere, or deletes what is called.

    A deleted function whose name speaks of safety counts as neither.
    """
    name, text = syntax.last_name(call.func), ast.unparse(call)
    if isinstance(call.func, ast.Name) and sides.added_words[name]:
        return True
    texts = [text]
    if isinstance(call.func, ast.Attribute) and call.args:
        # Also on a further step of the value, or with other arguments.
        texts.append(text.removeprefix(ast.unparse(call.func.value)))
        texts.append(f"{ast.unparse(call.func)}(")
    if any(squeezed(one) in sides.added_text for one in texts):
        return True
    return name in sides.deleted and not vocabulary.checks(name)


FIRST: Rows = (
    ("security/removed-decorator", _decorated),
    ("security/removed-request-check", conditions.request),
    ("security/removed-safer-variant", _built),
    ("security/hard-coded-credential", _secret),
    ("security/removed-limit", conditions.loosened),
    ("security/removed-clause", conditions.clause),
    ("security/removed-refusing-handler", _swallowed),
    ("security/removed-validator", _declared),
)
LAST: Rows = (
    ("security/removed-anchor", _anchor),
    ("security/removed-wrapper", _bare),
    ("security/removed-wrapper", _step),
    ("security/removed-fallback", _unguarded),
)
