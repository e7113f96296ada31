"""Guards that a change removes or weakens, statements that lose their condition, swallowed errors.

A guard counts as replaced if the change adds another one on the same values, one that refuses in
the same way, or a call of a function that it adds and that refuses something.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator

from leadhand.teams.review import syntax
from leadhand.teams.review.lenses.security.removed import vocabulary
from leadhand.teams.review.lenses.security.removed.guards import Guard, subjects_of
from leadhand.teams.review.lenses.security.removed.rules import (
    ACCESS,
    CLAUSE,
    CONDITION,
    GUARD,
    SWALLOWED,
    Removal,
)  # fmt: skip
from leadhand.teams.review.lenses.security.removed.sides import Code, Pair, Sides, squeezed

_VERSIONS = syntax.word_set(
    "version version_info platform PY2 PY3 TYPE_CHECKING DEBUG debug WIN WINDOWS os_name sys"
)


def find(pair: Pair, sides: Sides) -> Iterator[Removal]:
    """What the new code of a definition no longer refuses."""
    if pair.new is None:
        return
    yield from _guards(pair, pair.new, sides)
    yield from _conditions(pair, pair.new, sides)
    yield from _handlers(pair, pair.new, sides)


def _guards(pair: Pair, new: Code, sides: Sides) -> Iterator[Removal]:
    old_clauses = {guard.clauses for guard in pair.old.guards}
    kept = {guard.clauses for guard in new.guards}
    added = [guard for guard in new.guards if guard.clauses not in old_clauses]
    for guard in pair.old.guards:
        if guard.clauses in kept or not _removes(pair, guard):
            continue
        weaker = next((one for one in added if one.clauses < guard.clauses), None)
        if weaker is not None:
            lost = " and ".join(f"`{shown(one)}`" for one in sorted(guard.clauses - weaker.clauses))
            message = f"Is {lost} still refused? It was dropped from a condition in {place(pair)}."
            yield Removal(CLAUSE, guard.line, message)
        elif _counts(guard) and not _replaced(guard, added, new, sides):
            access = vocabulary.about_access(guard.subjects | {guard.name} | _called(guard.test))
            message = (
                f"Is `{shown(guard.text)}` still refused? {place(pair)} no longer has "
                f"`{shown(ast.unparse(guard.refusal))}` for it."
            )
            yield Removal(ACCESS if access else GUARD, guard.line, message)


def _removes(pair: Pair, guard: Guard) -> bool:
    return pair.removes(guard.line) and pair.removes(guard.refusal.lineno)


def _counts(guard: Guard) -> bool:
    """Whether the guard may protect something."""
    names = guard.subjects | _called(guard.test)
    if not _VERSIONS.isdisjoint(names):
        return False
    return guard.strong or any(vocabulary.protects(name) for name in names)


def _called(test: ast.AST) -> frozenset[str]:
    calls = (part for part in ast.walk(test) if isinstance(part, ast.Call))
    return frozenset(syntax.last_name(call.func) for call in calls)


def _replaced(guard: Guard, added: list[Guard], new: Code, sides: Sides) -> bool:
    """Whether something else took over, or what was checked is gone."""
    subjects = guard.subjects
    if subjects and not subjects & new.names:
        return True
    if any(subjects & one.subjects or one.name == guard.name for one in added):
        return True
    text, refusal = squeezed(ast.unparse(guard.test)), squeezed(ast.unparse(guard.refusal))
    if text in sides.added_text or (len(refusal) > 20 and refusal in sides.added_text):
        return True
    for name in new.call_counts:
        helper = sides.added_functions.get(name)
        if helper is not None and helper.guards:
            return True
    return False


def _conditions(pair: Pair, new: Code, sides: Sides) -> Iterator[Removal]:
    """Statements that ran under a condition and now run without it."""
    before, after = _guarded(pair.old), _guarded(new)
    tests_now = {squeezed(test) for tests in after.values() for one in tests for test in one}
    reported: set[str] = set()
    for text, places in before.items():
        now = after.get(text)
        if now is None or len(places) != 1 or len(now) != 1:
            continue
        lost = [test for test in places[0] if test not in now[0]]
        if not lost or not set(now[0]) <= set(places[0]):
            continue
        node = places[0][lost[0]]
        key = lost[0]
        names = subjects_of(node) | _called(node)
        if key in reported or not pair.removes(node.lineno) or squeezed(key) in tests_now:
            continue
        if not _VERSIONS.isdisjoint(names) or squeezed(ast.unparse(node)) in sides.added_text:
            continue
        if any(subjects_of(node) & guard.subjects for guard in new.guards):
            continue
        reported.add(key)
        message = (
            f"Is `{shown(text)}` right also without `{shown(key)}`? {place(pair)} ran it "
            "only under that condition."
        )
        yield Removal(CONDITION, node.lineno, message)


def _guarded(code: Code) -> dict[str, list[dict[str, ast.expr]]]:
    """Source of a simple statement -> for each place, the conditions around it by source."""
    found: defaultdict[str, list[dict[str, ast.expr]]] = defaultdict(list)
    waiting: list[tuple[list[ast.stmt], dict[str, ast.expr]]] = [(code.node.body, {})]
    while waiting:
        body, tests = waiting.pop()
        for statement in body:
            if isinstance(statement, (*syntax.FUNCTIONS, ast.ClassDef)):
                continue
            if isinstance(statement, ast.If):
                test = ast.unparse(statement.test)
                waiting.append((statement.body, {**tests, test: statement.test}))
                waiting.append((statement.orelse, {**tests, f"not ({test})": statement.test}))
                continue
            inner = syntax.blocks(statement)
            if any(inner):
                waiting += ((block, tests) for block in inner)
            elif isinstance(statement, ast.Assign | ast.Expr | ast.AugAssign | ast.Return):
                text = ast.unparse(statement)
                if len(text) > 15:
                    found[text].append(tests)
    return found


def _handlers(pair: Pair, new: Code, sides: Sides) -> Iterator[Removal]:
    """Exceptions that were turned into a refusal and now are not."""
    now = {_raised(handler) for handler in _handlers_in(new)}
    for handler in _handlers_in(pair.old):
        raised = _raised(handler)
        if not raised or raised in now or not pair.removes(handler.lineno):
            continue
        if f"raise{raised}" in sides.added_text or any(g.name == raised for g in new.guards):
            continue
        kept = [one for one in _handlers_in(new) if _type(one) == _type(handler)]
        if not kept:
            continue
        message = f"Is `{_type(handler)}` still refused? {place(pair)} answered it with `{raised}`."
        yield Removal(SWALLOWED, handler.lineno, message)


def _handlers_in(code: Code) -> list[ast.ExceptHandler]:
    return [node for node in code.nodes if isinstance(node, ast.ExceptHandler)]


def _type(handler: ast.ExceptHandler) -> str:
    return ast.unparse(handler.type) if handler.type is not None else "Exception"


def _raised(handler: ast.ExceptHandler) -> str:
    for part in handler.body:
        if isinstance(part, ast.Raise) and part.exc is not None:
            raised = part.exc
            return syntax.last_name(raised.func if isinstance(raised, ast.Call) else raised)
    return ""


def place(pair: Pair) -> str:
    """The definition, for a message."""
    return f"`{pair.old.name}`" if pair.old.name else f"`{pair.old.file.path.rsplit('/', 1)[-1]}`"


def shown(text: str) -> str:
    """`text` on one line, not too long."""
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:97]}..."
