"""What protects and is no longer there: one row for each kind of part that a definition loses.

A part counts as lost if the new code has it less often, has no other one of its kind instead, and
the change adds its name nowhere.
"""

import ast
import builtins
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from leadhand_teams.review import syntax
from leadhand_teams.review.comparison import (
    DefinitionPairs,
    Kind,
    Pair,
    Part,
    Removal,
    shown,
    vocabulary,
)
from leadhand_teams.review.comparison.code import names_in, span, squeezed
from leadhand_teams.review.comparison.parts import written
from leadhand_teams.review.lenses.security.switches import is_off, is_unsafe, switch_rule
from leadhand_teams.review.syntax import pattern_of, word_rows, words_of

_TLS, _FLAGS, _VALIDATORS = map(words_of, ("lost.tls", "lost.flags", "lost.validators"))
_CONTEXTS = words_of("lost.contexts")
_CLASS_SETTINGS = words_of("lost.class_settings")
_HEADERS = pattern_of("lost.headers")
_HEADER_SETTERS = words_of("lost.header_setters")
_PLAIN_HEADERS = words_of("lost.plain_headers")
_HEADER_ATTRIBUTES = words_of("lost.header_attributes")
_SETTINGS = pattern_of("lost.settings")
_ON_IS_SAFE = pattern_of("switches.on_is_safe")
_SAFER = word_rows("safer")
_ASKERS = words_of("lost.askers")
"""Names of the user for whom code runs."""
_NOTES = words_of("lost.notes")
"""Calls that keep who it was, and decide nothing by it."""
_OWNERS = words_of("lost.owners")
"""Words of names that say whose something is."""
_LITERALS = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict)

Judge = Callable[[Part, Pair, DefinitionPairs], bool]


def _never(part: Part, pair: Pair, sides: DefinitionPairs) -> bool:
    return False


def _named_anew(part: Part, pair: Pair, sides: DefinitionPairs) -> bool:
    """Whether the change adds the name of a part somewhere."""
    return bool(sides.added_words[part.name.rsplit(".", 1)[-1]])


@dataclass(frozen=True, slots=True)
class Row:
    """A kind of part that protects."""

    kind: Kind
    rule: Callable[[Part], str]
    """The rule for a part, after `security/removed-`; empty if such a part protects nothing."""
    question: str
    """With `{place}`, `{name}`, `{owner}` and `{text}`."""
    unless: Judge = _never
    """Whether its loss has a reason."""
    moved: Judge = _named_anew
    """Whether it stands elsewhere now."""
    instead: Judge | None = None
    """Whether a gained part takes its place; by default one with a rule."""


def find(pair: Pair, sides: DefinitionPairs) -> Iterator[Removal]:
    """What the new code of a definition no longer has, and definitions that are gone."""
    if pair.gone:
        yield from _deleted(pair, sides)
        return
    yield from _exchanged(pair)
    yield from _dependencies(pair, sides)
    yield from _compared(pair, sides)
    for row in _ROWS:
        gained = pair.gained(row.kind)
        if any(row.instead(one, pair, sides) if row.instead else row.rule(one) for one in gained):
            continue
        for part in {
            (one.owner, one.name): one for one in reversed([*pair.lost(row.kind)])
        }.values():
            rule = row.rule(part)
            if rule and not row.moved(part, pair, sides) and not row.unless(part, pair, sides):
                question = row.question.format(
                    place=pair.place, name=part.name, owner=part.owner, text=shown(part.text)
                )
                yield Removal(f"security/removed-{rule}", part.line, question, name=part.name)


def gains_protection(pair: Pair) -> bool:
    """Whether a definition has a protecting decorator, or an argument of one, that it had not."""
    new = pair.new.node
    if isinstance(new, ast.Module) or isinstance(pair.old.node, ast.Module):
        return False
    had, now = (names_in(one.decorator_list) for one in (pair.old.node, new))
    return any(map(vocabulary.guards, now - had))


def _limits(part: Part) -> str:
    return "limit" if vocabulary.is_limit(part.name) else ""


def _protects(part: Part) -> str:
    return _limits(part) or "call" if vocabulary.protects(part.name) else ""


def _guards(part: Part) -> str:
    return "decorator" if vocabulary.guards(part.name) else ""


def _passed(part: Part) -> str:
    """The rule for an argument."""
    name, value = part.name, part.node
    if isinstance(value, ast.Constant) and value.value in (None, False):
        return ""
    if name == "context" and not _CONTEXTS & set(syntax.words(" ".join(names_in(value)))):
        return ""  # of an error or a template, not of a connection
    kinds = {"tls": _TLS, "flag": _FLAGS, "validator": _VALIDATORS}
    return next((rule for rule, names in kinds.items() if name in names), _limits(part))


def _header(part: Part) -> str:
    """The rule for a call that sets a header, by the header's name."""
    match part.node:
        case ast.Call(args=[ast.Constant(value=str(name)), *_]) if part.name in _HEADER_SETTERS:
            return "" if name in _PLAIN_HEADERS else "header"
        case _:
            return ""


def _asker(part: Part) -> str:
    """The rule for a call that is told who asks; not for an error that names the user."""
    told = part.name.islower() and isinstance(part.node, ast.Call) and _told(part.node)
    return "access-guard" if told else ""


def _told(call: ast.Call) -> bool:
    """Whether one of the arguments is the user who asks."""
    return any(map(_is_asker, (*call.args, *(one.value for one in call.keywords))))


def _is_asker(node: ast.AST) -> bool:
    return syntax.last_name(node) in _ASKERS


def _is_told_elsewhere(part: Part, pair: Pair, sides: DefinitionPairs) -> bool:
    """Whether another call gets the user instead, or the user is compared now."""
    name = part.name if isinstance(part.node, ast.Call) else part.owner
    noted = not _NOTES.isdisjoint(syntax.words(name))
    if noted or name in dir(builtins):
        return True
    anew = (one for one in pair.new.calls if pair.new.changes(one) and _told(one))
    return any(anew) or pair.tests_anew(_ASKERS)


def _class_setting(part: Part) -> str:
    empty = isinstance(part.node, ast.List | ast.Tuple) and not part.node.elts
    return "decorator" if part.name in _CLASS_SETTINGS and not empty else ""


def _setting(part: Part) -> str:
    known = part.name.isupper() and _SETTINGS.search(part.name) and not _limits(part)
    literal = isinstance(part.node, _LITERALS) and not is_off(part.node)
    return "flag" if known and literal else ""


def _switch(part: Part) -> str:
    safe = _ON_IS_SAFE.fullmatch(part.name.lower()) and not is_unsafe(part)
    return switch_rule(part.name) if part.owner and safe else ""


def _about(part: Part) -> frozenset[str]:
    """What a call is about."""
    call = part.node
    if not isinstance(call, ast.Call):
        return frozenset()
    about = names_in([*call.args, *(keyword.value for keyword in call.keywords)])
    function = call.func
    return about or (names_in(function.value) if isinstance(function, ast.Attribute) else about)


def _call_has_reason(part: Part, pair: Pair, sides: DefinitionPairs) -> bool:
    about = _about(part)
    return (
        bool(about and about.isdisjoint(pair.new.names))
        or any(sides.added_definition(one.name) is not None for one in pair.gained("call"))
        or sides.only_sounds_safe(part.name)
    )


def _refuses_nothing(part: Part, pair: Pair, sides: DefinitionPairs) -> bool:
    """Whether a call without a result is not known to refuse something; searches the base."""
    statements = (node for node in pair.old.nodes if isinstance(node, ast.Expr))
    is_statement = any(one.value is part.node for one in statements)
    if not is_statement or not _about(part) or _call_has_reason(part, pair, sides):
        return True
    return not sides.protects(part.name)


def _argument_has_reason(part: Part, pair: Pair, sides: DefinitionPairs) -> bool:
    old, new = pair.old, pair.new
    if part.owner in ("", "__init__") or part.name in new.names:
        return True
    if old.call_counts[part.owner] > new.call_counts[part.owner]:
        return True
    if not pair.dropped_parameters.isdisjoint(names_in(part.node)):
        return True  # the callers decided it
    # Another keyword may be its new name, and `**` may have it.
    unclear = (*pair.gained("argument"), *(one for one in new.parts["argument"] if not one.name))
    return any(one.owner == part.owner for one in unclear)


def _limit_has_reason(part: Part, pair: Pair, sides: DefinitionPairs) -> bool:
    old, new = pair.old, pair.new
    named = [node for node in old.nodes if isinstance(node, ast.Name) and node.id == part.name]
    if part.name in new.names or (named and not part.name.isupper()):
        return True
    caught = (one.type for one in old.nodes if isinstance(one, ast.ExceptHandler) and one.type)
    if any(part.node is one for kind in caught for one in ast.walk(kind)):
        return True  # an exception, such as `socket.timeout`
    if any(isinstance(one.ctx, ast.Store) for one in named) and sides.removed_words[part.name] > 1:
        return True  # what used it tells whether there is still a limit
    line = squeezed(old.file.removed[part.line])
    before, _, after = map(re.escape, line.partition(part.name))
    renamed = re.compile(rf"{before}\w+{after}")
    if any(renamed.fullmatch(squeezed(one)) for one in new.changed.values()):
        return True
    tree = old.file.base_tree
    values = (
        ast.unparse(value) for statement in (tree.body if tree is not None else ())
        for target, value in syntax.assigned(statement)
        if isinstance(target, ast.Name) and target.id == part.name
    )  # fmt: skip
    written_out = (squeezed(line.replace(part.name, value)) for value in values)
    return any(one in sides.added_text for one in written_out)


def _protected_anew(part: Part, pair: Pair, sides: DefinitionPairs) -> bool:
    """Whether the definition has another decorator, or a refusal for reasons of access."""
    return gains_protection(pair) or any(
        vocabulary.about_access(guard.subjects | {guard.name}) and pair.new.changes(guard.test)
        for guard in pair.new.guards
    )


def _sent_elsewhere(part: Part, pair: Pair, sides: DefinitionPairs) -> bool:
    name = part.name
    added = sides.added_words[name] >= sides.removed_words[name] > 0
    return added or f'"{name}"' in sides.added_text


def _set_elsewhere(part: Part, pair: Pair, sides: DefinitionPairs) -> bool:
    if sides.removed_words[part.name] != 1 or part.name in pair.new.names:
        return True
    still = any(one.name == part.name for one in pair.new.parts["value"])
    return still or sides.sets_elsewhere(part.name)


_ROWS: tuple[Row, ...] = (
    Row("call", _protects, "Is `{name}` no longer needed? {place} called it here.",
        _call_has_reason),
    Row("call", lambda part: "call", "Is `{name}` no longer needed? {place} called it here.",
        _refuses_nothing, instead=lambda part, pair, sides: bool(_protects(part))),
    Row("call", _header, "Is the header still sent? {place} called `{text}` here.",
        instead=_never),
    Row("call", _asker, "Does it not matter who asks? {place} called `{text}` here.",
        _is_told_elsewhere),
    Row("argument", _passed,
        "Does `{owner}` no longer need `{name}={text}`? {place} passed it here.",
        _argument_has_reason, instead=_never),
    Row("argument", lambda part: "access-guard" if _is_asker(part.node) else "",
        "Does it not matter who asks? {place} passed `{name}={text}` to `{owner}` here.",
        _argument_has_reason, moved=_is_told_elsewhere, instead=_never),
    Row("use", _limits, "Is there still a limit? {place} used `{name}` here.", _limit_has_reason,
        instead=lambda part, pair, sides: part.name not in pair.old.names
        and (part.name.isupper() or vocabulary.is_limit(part.name))),
    Row("decorator", _guards, "Is {place} still protected? `@{name}` was removed here.",
        _protected_anew),
    Row("base", _guards, "Is {place} still protected? Its base `{name}` was removed here."),
    Row("value", _class_setting, "Is {place} still protected? It no longer sets `{name}`."),
    Row("parameter", _limits, "Is there still a limit? {place} no longer takes `{name}`.",
        lambda part, pair, sides: part.name in pair.new.names),
    Row("text", lambda part: "header" if _HEADERS.fullmatch(part.name) else "",
        "Is the header part `{name}` still sent? {place} set it here.",
        moved=_sent_elsewhere, instead=_never),
    Row("use", lambda part: "header" if part.name in _HEADER_ATTRIBUTES else "",
        "Is the header part `{name}` still sent? {place} set it here.",
        moved=_sent_elsewhere, instead=_never),
    Row("value", _setting, "Is the default of `{name}` as safe? {place} set it here.",
        _set_elsewhere, instead=_never),
    Row("value", _switch, "Is `{owner}` still safe? {place} set its `{name}` here.",
        lambda part, pair, sides: part.owner not in pair.new.names, instead=_never),
)  # fmt: skip


def _exchanged(pair: Pair) -> Iterator[Removal]:
    """Safe functions and classes that the definition uses less, and an unsafe one more."""
    gained = {one.name for one in pair.gained("use")}
    before, after = ({one.name for one in code.parts["use"]} for code in (pair.old, pair.new))
    for part in pair.lost("use"):
        unsafe = sorted(_SAFER.get(part.name, frozenset[str]()) & gained)
        if unsafe and not (part.name in after and unsafe[0] in before):
            question = (
                f"Is `{unsafe[0]}` as safe as `{part.name}` here? {pair.place} used that before."
            )
            yield Removal("security/removed-safer-variant", part.line, question)


def _dependencies(pair: Pair, sides: DefinitionPairs) -> Iterator[Removal]:
    """Checks that a framework made before it called the function, by its parameters."""
    old, new = (_depends(code.node) for code in (pair.old, pair.new or pair.old))
    for name, node in old.items():
        if vocabulary.guards(name) and name not in new and not sides.added_words[name]:
            line = next((n for n in span(node) if pair.removes(n)), 0)
            if line:
                question = f"Is {pair.place} still protected? It no longer depends on `{name}`."
                yield Removal("security/removed-decorator", line, question)


def _depends(node: ast.AST) -> dict[str, ast.Call]:
    """Last name of what parameters depend on -> the call that says so."""
    calls = (one for one in ast.walk(getattr(node, "args", node)) if isinstance(one, ast.Call))
    return {
        syntax.last_name(call.args[0]): call
        for call in calls
        if isinstance(node, syntax.FUNCTIONS)
        if call.args and syntax.last_name(call.func) in ("Depends", "Security")
    }


def _compared(pair: Pair, sides: DefinitionPairs) -> Iterator[Removal]:
    """Conditions of a query on whose the rows are."""
    for call in pair.old.calls:
        for one in call.args:
            text = ast.unparse(one)
            about = {word for name in names_in(one) for word in syntax.words(name)} & _OWNERS
            if not isinstance(one, ast.Compare) or not about or squeezed(text) in sides.added_text:
                continue
            line = next((n for n in span(one) if pair.removes(n)), 0)
            if line and not pair.tests_anew(names_in(one)):
                question = f"Does it not matter whose it is? {pair.place} had `{shown(text)}` here."
                yield Removal("security/removed-access-guard", line, question)


def _deleted(pair: Pair, sides: DefinitionPairs) -> Iterator[Removal]:
    """A function that checked or encoded, or a method that refused, and that nothing replaces."""
    old, node = pair.old, pair.old.node
    if isinstance(node, ast.ClassDef | ast.Module) or not pair.removes(node.lineno):
        return
    last, line = node.name, node.lineno
    if last.startswith("__") or sides.added_words[last] or sides.is_inlined(old):
        return
    if sides.only_sounds_safe(last) or sides.adds_like(last):
        return
    checks = vocabulary.checks(last)
    if checks and sides.is_called_in_removed(old):
        question = f"Is something else checked instead of `{shown(last)}`? It was removed here."
        yield Removal("security/removed-check", line, question, name=last)
        return
    owner = sides.class_after(old)
    if owner is None:
        return
    strong = [guard for guard in old.guards if guard.strong]
    calls_super = "super" in old.call_counts
    hook = next((name for name in map(written, node.decorator_list) if vocabulary.guards(name)), "")
    if hook and sides.added_words[hook.rsplit(".", 1)[-1]]:
        return  # the check has another name
    if hook:
        question = (
            f"Does `{owner.name}` need no `@{hook}` on `{last}`? The method was removed here."
        )
        yield Removal("security/removed-validator", line, question)
    elif not owner.bases or not (strong or calls_super):
        return
    elif checks or any(vocabulary.denies(guard.refusal) for guard in strong):
        question = f"Does `{owner.name}` need no `{last}`? The method was removed here."
        yield Removal("security/removed-check", line, question, name=last)
    elif strong and calls_super:
        question = f"Does `{owner.name}` refuse it elsewhere? Its `{last}` was removed here."
        yield Removal("security/removed-override", line, question)
