"""Guards that a change removes or weakens, and checks whose errors it ignores.

A guard counts as replaced if the change adds another one on the same values, one that refuses in
the same way, or a call of a function that it adds and that refuses something.
"""

import ast
import builtins
from collections import Counter
from collections.abc import Iterator

from leadhand_teams.review import syntax
from leadhand_teams.review.comparison import DefinitionPairs, Pair, Removal, shown, vocabulary
from leadhand_teams.review.comparison.code import Code, span, squeezed
from leadhand_teams.review.comparison.guards import (
    VERSIONS,
    Guard,
    called_in,
    raised,
    subjects_of,
)
from leadhand_teams.review.lenses.security.lost import gains_protection

_BUILTINS = frozenset(dir(builtins))


def find(pair: Pair, sides: DefinitionPairs) -> Iterator[Removal]:
    """What the new code of a definition no longer refuses."""
    if pair.gone:
        return
    yield from _guards(pair, sides)
    yield from _ignored(pair)


def _guards(pair: Pair, sides: DefinitionPairs) -> Iterator[Removal]:
    old_clauses = {guard.clauses for guard in pair.old.guards}
    kept = {guard.clauses for guard in pair.new.guards}
    added = [guard for guard in pair.new.guards if guard.clauses not in old_clauses]
    for guard in pair.old.guards:
        line = next((n for n in span(guard.test) if pair.removes(n)), 0)
        if guard.clauses in kept or not line or not _counts(guard, pair):
            continue
        if more := next(filter(None, (_more(guard, one, pair) for one in added)), ""):
            if not pair.is_rewritten:
                question = f"{pair.place} does it now only if `{shown(more)}`."
                yield _asked("clause", line, guard, question)
        elif not pair.removes(guard.line) or not pair.removes(guard.refusal.lineno):
            continue
        elif not _replaced(guard, added, pair, sides) and not gains_protection(pair):
            names = guard.subjects | {guard.name} | called_in(guard.test)
            question = f"{pair.place} no longer has `{shown(ast.unparse(guard.refusal))}` for it."
            access = vocabulary.about_access(names)
            yield _asked("access-guard" if access else "guard", guard.line, guard, question)


def _asked(rule: str, line: int, guard: Guard, what: str) -> Removal:
    question = f"Is `{shown(guard.text)}` still refused? {what}"
    return Removal(f"security/removed-{rule}", line, question)


def _more(guard: Guard, now: Guard, pair: Pair) -> str:
    """The further condition without which a guard no longer refuses in the same way."""
    same = guard.negated == now.negated and guard.name == now.name
    if not same or not guard.conditions < now.conditions:
        return ""
    more = sorted(
        now.conditions - guard.conditions - {ast.unparse(test) for test in pair.old.tests}
    )
    if guard.strong and any(map(vocabulary.protects, called_in(guard.test))):
        return " and ".join(more)  # nothing at all would pass
    # Nested conditions may have become one, or there is a look whether there is a value.
    about = (subjects_of(ast.parse(one, mode="eval")) for one in more)
    return "" if all(one <= guard.subjects for one in about) else " and ".join(more)


def _counts(guard: Guard, pair: Pair) -> bool:
    """Whether the guard may protect something."""
    names = guard.subjects | called_in(guard.test)
    if not VERSIONS.isdisjoint(names):
        return False
    if guard.name == "AssertionError" and "isinstance" in names:
        return False
    if guard.strong:
        return True
    if pair.is_rewritten:
        return False
    # A condition that escapes a text only compares it.
    if any(vocabulary.protects(name) and not vocabulary.encodes(name) for name in names):
        return True
    # A way out of a function that checks is its answer.
    return guard.refuses and vocabulary.checks(pair.old.name.rsplit(".", 1)[-1])


def _replaced(guard: Guard, added: list[Guard], pair: Pair, sides: DefinitionPairs) -> bool:
    """Whether something else took over, or what was checked is gone."""
    new = pair.new
    subjects = guard.subjects
    if subjects and not (subjects | pair.old.origins(subjects)) & new.names:
        return True
    if any(sides.declares_bounds(name) for name in subjects):
        return True
    if any(subjects & one.subjects or one.name == guard.name for one in added):
        return True
    if guard.strong and _raises(new)[guard.name] >= _raises(pair.old)[guard.name] > 0:
        return True
    if pair.is_dropped_variant(guard.test):
        return True
    text, refusal = squeezed(ast.unparse(guard.test)), squeezed(ast.unparse(guard.refusal))
    if text in sides.added_text or (len(refusal) > 20 and refusal in sides.added_text):
        return True
    decides = called_in(guard.test) - _BUILTINS
    if decides and all(sides.added_words[name] for name in decides):
        return True  # what was asked there is asked elsewhere
    came = new.call_counts - pair.old.call_counts
    if guard.strong and any(sides.raises(name, guard.name) for name in came):
        return True
    for name in new.call_counts:
        helper = sides.added_definition(name)
        if helper is not None and (helper.guards or _raises(helper)):
            return True
    return False


def _raises(code: Code) -> Counter[str]:
    """Last name of an exception -> how often a definition raises it."""
    return Counter(raised(node) for node in code.nodes if isinstance(node, ast.Raise))


def _ignored(pair: Pair) -> Iterator[Removal]:
    """Checks whose errors a new handler ignores."""
    new = pair.new
    before = {ast.dump(one) for node in _swallowing(pair.old) for one in node.body}
    for node in _swallowing(new):
        for statement in node.body:
            if not new.changes(statement) or ast.dump(statement) in before:
                continue
            calls = [part for part in ast.walk(statement) if isinstance(part, ast.Call)]
            names = [
                name for call in calls if vocabulary.checks(name := syntax.last_name(call.func))
            ]
            if not names or not isinstance(statement, ast.Expr):
                continue
            old = next((one for one in pair.old.nodes if _same(one, statement)), None)
            if isinstance(old, ast.Expr) and pair.removes(old.lineno):
                message = f"Do errors of `{names[0]}` no longer matter? {pair.place} ignores them."
                yield Removal("security/removed-refusing-handler", old.lineno, message)


def _same(node: ast.AST, statement: ast.stmt) -> bool:
    return type(node) is type(statement) and ast.dump(node) == ast.dump(statement)


def _swallowing(code: Code) -> Iterator[ast.Try]:
    """The `try` statements with a handler that only passes or logs."""
    for node in code.nodes:
        if isinstance(node, ast.Try) and any(_is_silent(one) for one in node.handlers):
            yield node


def _is_silent(handler: ast.ExceptHandler) -> bool:
    for statement in handler.body:
        match statement:
            case ast.Pass() | ast.Continue():
                pass
            case ast.Expr(value=ast.Call(func=function)) if vocabulary.is_logging(function):
                pass
            case _:
                return False
    return True
