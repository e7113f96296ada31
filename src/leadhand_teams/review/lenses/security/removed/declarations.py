"""Decorators, bases, parameters and whole definitions that a change drops."""

import ast
from collections.abc import Iterator

from leadhand_teams.review import syntax
from leadhand_teams.review.comparison import vocabulary
from leadhand_teams.review.comparison.code import Code, names_in, squeezed
from leadhand_teams.review.comparison.pairs import DefinitionPairs, Pair
from leadhand_teams.review.comparison.removals import Removal, shown
from leadhand_teams.review.lenses.security.removed.rules import (
    DECORATOR,
    FUNCTION,
    LIMIT,
    OVERRIDE,
    VALIDATOR,
)

_GUARDING = syntax.word_set(
    "login permission permissions auth authenticated authenticate authentication authorized"
    " authorize require requires required csrf xsrf protect protected restrict restricted throttle"
    " ratelimit limit limiter limits admin staff superuser role roles token jwt verify verified"
    " validate validator validates only secure access sandbox sandboxed atomic synchronized locked"
    " safe never_cache sensitive owner scope scopes"
)
_NOT_GUARDING = syntax.word_set(
    "overload property staticmethod classmethod cached cache lru_cache wraps deprecated setter"
    " getter abstractmethod parametrize pagination paginator"
)
_CLASS_SETTINGS = syntax.word_set(
    "permission_classes authentication_classes throttle_classes validators permission_required"
    " login_required decorators method_decorators dispatch_decorators allowed_methods"
    " http_method_names"
)


def find(pair: Pair, sides: DefinitionPairs) -> Iterator[Removal]:
    """What a definition no longer declares, and definitions that are gone."""
    if pair.new is None:
        yield from _deleted(pair, sides)
        return
    old, new = pair.old.node, pair.new.node
    if isinstance(old, ast.Module) or isinstance(new, ast.Module):
        return
    yield from _decorators(pair, old, new, sides)
    if isinstance(old, ast.ClassDef):
        if isinstance(new, ast.ClassDef):
            yield from _bases(pair, old, new)
    elif not isinstance(new, ast.ClassDef):
        yield from _parameters(pair, pair.new, old, new, sides)


def _decorators(
    pair: Pair,
    old: syntax.Function | ast.ClassDef,
    new: syntax.Function | ast.ClassDef,
    sides: DefinitionPairs,
) -> Iterator[Removal]:
    had = [_written(one) for one in old.decorator_list]
    now = [_written(one) for one in new.decorator_list]
    if gains_protection(pair) or _refuses_anew(pair):
        return
    for node, name in zip(old.decorator_list, had, strict=True):
        if not guards(name) or name in now or sides.added_words[name.rsplit(".", 1)[-1]]:
            continue
        if pair.removes(node.lineno):
            message = f"Is {pair.place} still protected? `@{shown(name)}` was removed here."
            yield Removal(DECORATOR, node.lineno, message)


def _refuses_anew(pair: Pair) -> bool:
    """Whether the change adds a refusal for reasons of access to the definition."""
    new = pair.new
    return new is not None and any(
        vocabulary.about_access(guard.subjects | {guard.name}) and new.changes(guard.test)
        for guard in new.guards
    )


def gains_protection(pair: Pair) -> bool:
    """Whether a definition has a protecting decorator, or an argument of one, that it had not."""
    new = pair.new.node if pair.new is not None else None
    if new is None or isinstance(new, ast.Module) or isinstance(pair.old.node, ast.Module):
        return False
    had, now = (names_in(one.decorator_list) for one in (pair.old.node, new))
    return any(map(guards, now - had))


def _written(node: ast.expr) -> str:
    return syntax.dotted(node.func if isinstance(node, ast.Call) else node)


def guards(name: str) -> bool:
    """Whether a decorator or base class of this name protects what it is put on."""
    words = set(syntax.words(name))
    return bool(words & _GUARDING) and not words & _NOT_GUARDING


def _bases(pair: Pair, old: ast.ClassDef, new: ast.ClassDef) -> Iterator[Removal]:
    now = {_written(base) for base in new.bases}
    if any(guards(name) for name in now - {_written(base) for base in old.bases}):
        return
    for base in old.bases:
        name = _written(base)
        if guards(name) and name not in now and pair.removes(base.lineno):
            message = f"Is {pair.place} still protected? Its base `{name}` was removed here."
            yield Removal(DECORATOR, base.lineno, message)
    kept = _settings(new)
    for key, node in _settings(old).items():
        if key not in kept and pair.removes(node.lineno) and ast.unparse(node) not in ("[]", "()"):
            message = f"Is {pair.place} still protected? It no longer sets `{key}`."
            yield Removal(DECORATOR, node.lineno, message)


def _settings(node: ast.ClassDef) -> dict[str, ast.expr]:
    return {
        target.id: value
        for statement in node.body
        for target, value in syntax.assigned(statement)
        if isinstance(target, ast.Name) and target.id in _CLASS_SETTINGS
    }


def _parameters(
    pair: Pair, new_code: Code, old: syntax.Function, new: syntax.Function, sides: DefinitionPairs
) -> Iterator[Removal]:
    """Limits that callers can no longer give."""
    now = {one.arg for one in syntax.parameters(new)}
    if any(vocabulary.is_limit(name) for name in now - {one.arg for one in syntax.parameters(old)}):
        return
    for one in syntax.parameters(old):
        if one.arg in now or not vocabulary.is_limit(one.arg) or not pair.removes(one.lineno):
            continue
        if one.arg not in new_code.names and not sides.added_words[one.arg]:
            message = f"Is there still a limit? {pair.place} no longer takes `{one.arg}`."
            yield Removal(LIMIT, one.lineno, message)


def _deleted(pair: Pair, sides: DefinitionPairs) -> Iterator[Removal]:
    """A function that checked or encoded, and that nothing replaces."""
    node = pair.old.node
    if isinstance(node, ast.ClassDef | ast.Module) or not pair.removes(node.lineno):
        return
    last = node.name
    if last.startswith("__") or sides.added_words[last] or _inlined(pair.old, sides):
        return
    if sides.only_sounds_safe(last) or sides.adds_like(last):
        return
    if vocabulary.checks(last) and sides.is_called_in_removed(pair.old):
        message = f"Is something else checked instead of `{shown(last)}`? It was removed here."
        yield Removal(FUNCTION, node.lineno, message, name=last)
    elif owner := sides.class_after(pair.old):
        hook = next((name for name in map(_written, node.decorator_list) if guards(name)), "")
        strong = any(guard.strong for guard in pair.old.guards)
        calls_super = "super" in pair.old.call_counts
        if hook:
            message = (
                f"Does `{owner.name}` need no `@{hook}` on `{last}`? The method was removed here."
            )
            yield Removal(VALIDATOR, node.lineno, message)
        elif (
            owner.bases
            and (strong or calls_super)
            and (vocabulary.checks(last) or _refuses(pair.old))
        ):
            message = f"Does `{owner.name}` need no `{last}`? The method was removed here."
            yield Removal(FUNCTION, node.lineno, message)
        elif owner.bases and strong and calls_super:
            message = f"Does `{owner.name}` refuse it elsewhere? Its `{last}` was removed here."
            yield Removal(OVERRIDE, node.lineno, message)


def _refuses(code: Code) -> bool:
    """Whether a method answers some callers with an error."""
    return any(vocabulary.denies(guard.refusal) for guard in code.guards if guard.strong)


def _inlined(code: Code, sides: DefinitionPairs) -> bool:
    """Whether the change adds much of the body somewhere."""
    lines = [squeezed(line) for line in code.lines[1:] if len(line) > 15]
    return bool(lines) and sum(line in sides.added_text for line in lines) * 3 >= len(lines)
