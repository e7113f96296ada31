"""Guards that a change removes or weakens: conditions followed by a refusal.

A guard counts as replaced if the change adds another one on the same values, one that refuses in
the same way, or a call of a function that it adds and that refuses something.
"""

import ast
from collections import Counter
from collections.abc import Iterator

from leadhand_teams.review import syntax
from leadhand_teams.review.comparison import vocabulary
from leadhand_teams.review.comparison.code import Code, span, squeezed
from leadhand_teams.review.comparison.guards import VERSIONS, Guard, called_in
from leadhand_teams.review.comparison.pairs import DefinitionPairs, Pair
from leadhand_teams.review.comparison.removals import Removal, shown
from leadhand_teams.review.lenses.security.removed import declarations
from leadhand_teams.review.lenses.security.removed.bounds import loosened
from leadhand_teams.review.lenses.security.removed.conditions import protects
from leadhand_teams.review.lenses.security.removed.rules import ACCESS, CLAUSE, GUARD, LIMIT


def find(pair: Pair, sides: DefinitionPairs) -> Iterator[Removal]:
    """What the new code of a definition no longer refuses."""
    if pair.new is None:
        return
    yield from _guards(pair, pair.new, sides)


def _guards(pair: Pair, new: Code, sides: DefinitionPairs) -> Iterator[Removal]:
    old_clauses = {guard.clauses for guard in pair.old.guards}
    kept = {guard.clauses for guard in new.guards}
    added = [guard for guard in new.guards if guard.clauses not in old_clauses]
    for guard in pair.old.guards:
        line = next((n for n in span(guard.test) if pair.removes(n)), 0)
        if guard.clauses in kept or not line:
            continue
        if removal := _weakened(guard, line, added, pair, sides):
            yield removal
        elif not pair.removes(guard.line) or not pair.removes(guard.refusal.lineno):
            continue
        elif _counts(guard, pair) and not _replaced(guard, added, pair, sides):
            if declarations.gains_protection(pair):
                continue
            access = vocabulary.about_access(guard.subjects | {guard.name} | called_in(guard.test))
            message = (
                f"Is `{shown(guard.text)}` still refused? {pair.place} no longer has "
                f"`{shown(ast.unparse(guard.refusal))}` for it."
            )
            yield Removal(ACCESS if access else GUARD, guard.line, message)


def _weakened(
    guard: Guard, line: int, added: list[Guard], pair: Pair, sides: DefinitionPairs
) -> Removal | None:
    """What a guard refuses no longer, if another one with a weaker condition took its place."""
    for one in added:
        if one.clauses < guard.clauses and pair.removes(guard.refusal.lineno):
            gone = sorted(guard.clauses - one.clauses)
            if not guard.strong and not any(
                protects(ast.parse(text), pair, sides) for text in gone
            ):
                continue
            lost = " and ".join(f"`{shown(text)}`" for text in gone)
            message = f"Is {lost} still refused? It was dropped from a condition in {pair.place}."
            return Removal(CLAUSE, line, message)
        if loose := loosened(guard, one):
            message = f"Is `{shown(guard.text)}` still refused? {pair.place} accepts {loose}."
            return Removal(LIMIT, line, message)
        if _narrowed(guard, one) and _counts(guard, pair):
            asked = {ast.unparse(test) for test in pair.old.tests}
            more = sorted(one.conditions - guard.conditions - asked)
            if all(one in guard.text for one in more):
                continue  # nested conditions that became one, or a look whether there is a value
            message = (
                f"Is `{shown(guard.text)}` still refused? {pair.place} does it now only if "
                f"`{shown(' and '.join(more))}`."
            )
            return Removal(CLAUSE, line, message)
    return None


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


def _narrowed(guard: Guard, now: Guard) -> bool:
    """Whether a guard asks for one more condition before it refuses in the same way."""
    return (
        guard.negated == now.negated
        and guard.name == now.name
        and guard.conditions < now.conditions
    )


def _replaced(guard: Guard, added: list[Guard], pair: Pair, sides: DefinitionPairs) -> bool:
    """Whether something else took over, or what was checked is gone."""
    new = pair.new or pair.old
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
    raised = (node.exc for node in code.nodes if isinstance(node, ast.Raise))
    return Counter(
        syntax.last_name(one.func if isinstance(one, ast.Call) else one) if one is not None else ""
        for one in raised
    )
