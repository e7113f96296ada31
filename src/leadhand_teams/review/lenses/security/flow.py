"""Data flow through the functions of one module: statements in order, branches merged.

It records events with the values that reach them. What it can't follow is `UNKNOWN`, never
untrusted. Values are not followed into other functions, and no code is run.
"""

import ast
from collections.abc import Callable, Sequence

from leadhand_teams.review.lenses.security import sources, values
from leadhand_teams.review.lenses.security.events import (
    Assignment,
    Comparison,
    Event,
    ResolvedCall,
    Return,
    Scope,
)
from leadhand_teams.review.lenses.security.values import CLEAN, NOTHING, UNKNOWN, Trust, Value
from leadhand_teams.review.syntax import Function, defaults, dotted, first_line

Env = dict[str, Value]
"""Name, which may be dotted -> its value."""
_Assignment = ast.Assign | ast.AnnAssign | ast.AugAssign


class Flow:
    """Reads module-level code and then each relevant function, and records their events.

    `is_relevant` decides by the first and last line of a function.
    """

    def __init__(
        self, is_relevant: Callable[[int, int], bool], record: Callable[[Event], None]
    ) -> None:
        self._is_relevant = is_relevant
        self._record = record

    def read(self, scope: Scope, body: list[ast.stmt], env: Env, outer: Env) -> None:
        """Read one scope, then the functions defined in it, which see its final values."""
        reader = _Reader(scope, outer, self._record)
        final = reader.block(body, env)
        visible = {**outer, **(env if final is None else final)}
        for function, owner in reader.functions:
            if self._is_relevant(first_line(function), function.end_lineno or function.lineno):
                handler, variables = sources.url_variables(function)
                inner = Scope(scope.names, function, owner, handler)
                self.read(inner, function.body, _parameters(function, variables), visible)


class _Reader:
    """Reads the statements of one scope, and the expressions in them."""

    def __init__(self, scope: Scope, outer: Env, record: Callable[[Event], None]) -> None:
        self._scope = scope
        self._names = scope.names
        self._outer = outer
        self._record = record
        self._owner = scope.owner
        self.functions: list[tuple[Function, ast.ClassDef | None]] = []
        """Each function defined here, and its class."""

    def block(self, body: Sequence[ast.stmt], env: Env) -> Env | None:
        """The values of names after `body`; `None` if its end is never reached."""
        current: Env | None = env
        for statement in body:
            if current is None:
                break
            current = self._statement(statement, current)
        return current

    def _statement(self, node: ast.stmt, env: Env) -> Env | None:
        match node:
            case ast.Expr():
                self._value(node.value, env)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                self._assign(node, env)
            case ast.Return():
                value = self._value(node.value, env)
                if node.value is not None:
                    self._record(Return(node, self._scope, value))
                return None
            case ast.Raise():
                self._value(node.exc, env)
                return None
            case ast.Continue() | ast.Break():
                return None
            case ast.If() | ast.While():
                self._value(node.test, env)
                inside = _with_checked(env, sources.checked_names(node.test))
                body = self.block(node.body, dict(inside))
                if isinstance(node, ast.While):
                    return _joined(env, body, self.block(node.orelse, env))
                return _joined(body, self.block(node.orelse, dict(inside)))
            case ast.For() | ast.AsyncFor():
                inside = dict(env)
                _bind(node.target, self._value(node.iter, env).whole().at(node.lineno), inside)
                return _joined(env, self.block(node.body, inside), self.block(node.orelse, env))
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    value = self._value(item.context_expr, env)
                    if item.optional_vars is not None:
                        _bind(item.optional_vars, value.at(node.lineno), env)
                return self.block(node.body, env)
            case ast.Try() | ast.TryStar():
                return self._try(node, env)
            case ast.Assert():
                self._value(node.test, env)
                return _with_checked(env, sources.checked_names(node.test))
            case ast.Match():
                self._value(node.subject, env)
                return _joined(*(self.block(case.body, dict(env)) for case in node.cases), env)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.functions.append((node, self._owner))
                env[node.name] = Value(Trust.UNKNOWN, node.name, made_by=f"here.{node.name}")
            case ast.ClassDef():
                before, self._owner = self._owner, node
                self.block(node.body, dict(env))
                self._owner = before
                env[node.name] = Value(Trust.UNKNOWN, node.name, made_by=f"here.{node.name}")
            case _:
                pass
        return env

    def _assign(self, node: _Assignment, env: Env) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if len(targets) == 1 and node.value is not None and _pairs(targets[0], node.value):
            found = [self._value(part, env) for part in _elements(node.value)]
            for target, value in zip(_elements(targets[0]), found, strict=True):
                _bind(target, value.at(node.lineno), env)
            return
        value = self._value(node.value, env)
        if isinstance(node, ast.AugAssign):
            both = [self._value(node.target, env), value]
            value = values.concat(both) if isinstance(node.op, ast.Add) else values.merge(both)
        for target in targets if node.value is not None else ():
            key = getattr(target, "attr", None) or getattr(target, "id", "")
            if isinstance(target, ast.Subscript):
                key = self._value(target.slice, env).constant or ""
                held = dotted(target.value)
                if held in env and value.trust > env[held].trust:
                    env[held] = env[held]._replace(trust=min(value.trust, Trust.UNKNOWN))
            if isinstance(node.value, ast.List):
                parts = [self._value(part, env) for part in node.value.elts]
                env[f"{dotted(target)}[]"] = values.concat([NOTHING, *parts])
            self._record(Assignment(node, self._scope, self._names.dotted(target), key, value))
            _bind(target, value.at(node.lineno), env)

    def _try(self, node: ast.Try | ast.TryStar, env: Env) -> Env | None:
        body = self.block(node.body, dict(env))
        if body is not None:
            body = self.block(node.orelse, body)
        start = _joined(env, body) or env
        handled: list[Env | None] = []
        for handler in node.handlers:
            inside = dict(start)
            if handler.name:
                inside[handler.name] = Value(Trust.UNKNOWN, handler.name, made_by="exception")
            handled.append(self.block(handler.body, inside))
        after = _joined(body, *handled)
        left = self.block(node.finalbody, start if after is None else after)
        return None if after is None else left

    def _value(self, node: ast.expr | None, env: Env) -> Value:
        """The value of an expression."""
        match node:
            case None:
                return NOTHING
            case ast.Constant():
                return values.constant(node.value)
            case ast.Name():
                return self._name(node, env)
            case ast.Attribute():
                return self._attribute(node, env)
            case ast.Call():
                return self._call(node, env)
            case ast.BinOp():
                return self._operation(node, env)
            case ast.JoinedStr(values=parts):
                return values.concat([self._value(part, env) for part in parts])
            case ast.FormattedValue():
                spec = ast.unparse(node.format_spec).rstrip("'\"") if node.format_spec else ""
                inner = self._value(node.value, env)
                return CLEAN if spec[-1:] in set("dxXfeg") else inner
            case ast.Subscript():
                inner = self._value(node.value, env)
                self._value(node.slice, env)
                made_by = "item" if inner.trust is Trust.REMOTE else inner.made_by
                return inner.part(made_by)
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return values.merge([self._value(part, env) for part in parts])
            case ast.BoolOp(values=parts) | ast.Dict(values=parts):
                return values.merge([self._value(part, env) for part in parts])
            case ast.IfExp():
                self._value(node.test, env)
                inside = _with_checked(env, sources.checked_names(node.test))
                both = [self._value(node.body, inside), self._value(node.orelse, inside)]
                return values.merge(both)
            case ast.Compare():
                return self._comparison(node, env)
            case ast.UnaryOp():
                inner = self._value(node.operand, env)
                return CLEAN if isinstance(node.op, ast.Not) else inner
            case ast.NamedExpr():
                found = self._value(node.value, env).at(node.lineno)
                _bind(node.target, found, env)
                return found
            case ast.Await() | ast.Starred() | ast.Yield() | ast.YieldFrom():
                return self._value(node.value, env)
            case ast.Lambda():
                inside = {**env, **{arg.arg: UNKNOWN for arg in node.args.args}}
                return self._value(node.body, inside)._replace(trust=Trust.UNKNOWN)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node, env)
            case _:
                return UNKNOWN

    def _known(self, name: str, env: Env) -> Value | None:
        return env.get(name) or self._outer.get(name)

    def _name(self, node: ast.Name, env: Env) -> Value:
        known = self._known(node.id, env)
        if known is not None:
            return known
        full = self._names.resolve(node.id)
        trust = sources.attribute_trust(full, self._scope) or Trust.UNKNOWN
        return Value(trust, node.id, made_by=full)

    def _attribute(self, node: ast.Attribute, env: Env) -> Value:
        written = dotted(node)
        known = self._known(written, env)
        if known is not None:
            return known
        local = self._known(written.split(".", 1)[0], env)
        name = written if local else self._names.dotted(node)
        inner = self._value(node.value, env)
        if inner.trust in (Trust.CLEAN, Trust.CONSTANT):
            return Value(Trust.CLEAN, made_by=name)
        trust = sources.attribute_trust(name, self._scope)
        if trust is not None:
            safe_for = {"path"} if node.attr in ("files", "FILES") else set[str]()
            return Value(trust, written or name, made_by=name, safe_for=frozenset(safe_for))
        origin = written or (inner.origin and f"{inner.origin}.{node.attr}") or name
        safe_for = inner.safe_for
        if node.attr in ("name", "stem", "suffix") and inner.made_by.startswith("pathlib."):
            safe_for = safe_for | {"path"}
        elif node.attr in ("filename", "name"):
            safe_for = safe_for - {"path"}
        made_by = name if inner.trust is Trust.UNKNOWN else inner.made_by
        return Value(inner.trust, origin, made_by=made_by, safe_for=safe_for, steps=inner.steps)

    def _call(self, node: ast.Call, env: Env) -> Value:
        function = node.func
        receiver = None if isinstance(function, ast.Name) else NOTHING
        if isinstance(function, ast.Attribute):
            receiver = self._value(function.value, env)
        elif receiver is not None:
            self._value(function, env)
        name = self._called(function, env)
        args = tuple(self._value(arg, env) for arg in node.args)
        keywords = {one.arg or "**": self._value(one.value, env) for one in node.keywords}
        self._record(ResolvedCall(node, self._scope, name, args, keywords, receiver or NOTHING))
        first = node.args[0] if node.args else None
        separator = receiver.constant if receiver is not None else None
        listed = f"{dotted(first or function)}[]"
        if isinstance(function, ast.Attribute) and function.attr == "append":
            listed = f"{dotted(function.value)}[]"
            env[listed] = values.concat([env.get(listed, NOTHING), values.constant(" "), *args])
        elif name.endswith(".join") and separator is not None and _elements(first):
            parts = [self._value(part, env) for part in _elements(first)]
            return values.concat([one for part in parts for one in (receiver or NOTHING, part)][1:])
        elif name.endswith(".join") and listed in env:
            return env[listed]
        return sources.returned(name, self._scope, receiver, args, keywords)

    def _called(self, function: ast.expr, env: Env) -> str:
        """The dotted name of the called function; local names may hold a module or class."""
        written = dotted(function)
        known = self._known(written.split(".", 1)[0], env) if written else None
        if known is None:
            return self._names.dotted(function)
        return written if "." in written else known.made_by or written

    def _operation(self, node: ast.BinOp, env: Env) -> Value:
        if isinstance(node.op, ast.Add):
            return values.concat([self._value(part, env) for part in sources.terms(node)])
        left = self._value(node.left, env)
        if isinstance(node.op, ast.Mod):
            parts = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
            named: dict[str, Value] = {}
            if isinstance(node.right, ast.Dict):
                parts = []
                for key, item in zip(node.right.keys, node.right.values, strict=True):
                    named[str(getattr(key, "value", ""))] = self._value(item, env)
            found = [self._value(part, env) for part in parts]
            clean = left.trust is Trust.CLEAN
            return CLEAN if clean else values.formatted(left, found, named, percent=True)
        right = self._value(node.right, env)
        if isinstance(node.op, ast.Div) and max(left.trust, right.trust) > Trust.CLEAN:
            return values.concat([left, values.constant("/"), right])
        if left.trust is Trust.CONSTANT and isinstance(node.op, ast.Mult) and left.made_by == "":
            return left  # a text that is repeated any number of times
        return values.merge([left, right])

    def _comparison(self, node: ast.Compare, env: Env) -> Value:
        left = self._value(node.left, env)
        for operator, part in zip(node.ops, node.comparators, strict=True):
            right = self._value(part, env)
            if isinstance(operator, ast.Eq | ast.NotEq):
                self._record(Comparison(node, self._scope, left, right))
            left = right
        return CLEAN

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, env: Env
    ) -> Value:
        inside = dict(env)
        for part in node.generators:
            _bind(part.target, self._value(part.iter, inside).whole(), inside)
            for test in part.ifs:
                self._value(test, inside)
                inside = _with_checked(inside, sources.checked_names(test))
        if isinstance(node, ast.DictComp):
            self._value(node.key, inside)
            return self._value(node.value, inside)
        return self._value(node.elt, inside).whole()


def _bind(target: ast.expr, value: Value, env: Env) -> None:
    """Assign `value`, or a part of it, to the names in `target`."""
    if isinstance(target, ast.Name | ast.Attribute):
        env[dotted(target)] = value
    elif isinstance(target, ast.Starred):
        _bind(target.value, value, env)
    for part in _elements(target):
        _bind(part, value.whole(), env)


def _with_checked(env: Env, names: set[str]) -> Env:
    """`env` with the values of `names` marked as checked."""
    fresh = {name: Value(Trust.CLEAN, name) for name in names if "." in name}
    for name in names & env.keys():
        checked = env[name].trust > Trust.CLEAN
        fresh[name] = env[name]._replace(trust=Trust.CLEAN, holes=()) if checked else env[name]
    return {**env, **fresh}


def _parameters(function: Function, variables: dict[str, frozenset[str]]) -> Env:
    """The values of names at the start of `function`."""
    env: Env = {}
    arguments, known = function.args, defaults(function)
    every = [*arguments.posonlyargs, *arguments.args]
    is_lambda_handler = [arg.arg for arg in every[:2]] == ["event", "context"]
    for index, arg in enumerate([*every, *arguments.kwonlyargs]):
        default = known.get(arg.arg)
        number = isinstance(default, ast.Constant) and isinstance(default.value, int | float)
        trust, safe_for = Trust.PARAMETER, frozenset[str]()
        if index == 0 and arg.arg in ("self", "cls", "mcs"):
            trust = Trust.UNKNOWN
        elif number or sources.excludes_text(arg.annotation):
            trust = Trust.CLEAN
        elif arg.arg in variables and sources.allows_text(arg.annotation):
            trust, safe_for = Trust.REMOTE, variables[arg.arg]
        elif is_lambda_handler and index == 0:
            trust = Trust.REMOTE
        env[arg.arg] = Value(trust, arg.arg, safe_for=safe_for)
    for rest in (arguments.vararg, arguments.kwarg):
        if rest is not None:
            env[rest.arg] = Value(Trust.PARAMETER, rest.arg)
    return env


def _joined(*branches: Env | None) -> Env | None:
    """The values of names after one of several branches; `None` if no branch reaches its end."""
    reached = [branch for branch in branches if branch is not None]
    if not reached:
        return None
    found = dict(reached[0])
    for other in reached[1:]:
        for name, value in other.items():
            held = found.get(name, value)
            found[name] = held if held is value else values.merge([held, value])
    return found


def _elements(node: ast.expr | None) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple | ast.List) else []


def _pairs(target: ast.expr, value: ast.expr) -> bool:
    """Whether `a, b = x, y` assigns names one to one."""
    left, right = _elements(target), _elements(value)
    plain = all(isinstance(part, ast.Name) for part in left)
    starred = any(isinstance(part, ast.Starred) for part in right)
    return len(left) == len(right) > 0 and plain and not starred
