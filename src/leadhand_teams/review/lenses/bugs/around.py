"""Calls that stay while what was around them goes: an `await`, a `with` block, a close, a handler.

They are compared by what is called, however much else of the definition the change rewrites.
"""

import ast
import builtins
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from leadhand_teams.review import syntax
from leadhand_teams.review.comparison import DefinitionPairs, Pair, Removal, shown
from leadhand_teams.review.comparison.code import SIMPLE, Code, names_in, span, squeezed
from leadhand_teams.review.comparison.guards import called_in

CLOSING, CLOSERS = syntax.words_of("behaviour.closing"), syntax.words_of("behaviour.closers")
_TASKS, _LOCKS = syntax.words_of("behaviour.tasks"), syntax.words_of("behaviour.locks")
_LOCKING, _BY_HAND = syntax.words_of("behaviour.locking"), syntax.words_of("behaviour.by_hand")
_COROUTINES = frozenset(("coroutine", "inlineCallbacks"))
_WAITING = (ast.Await, ast.Yield, ast.YieldFrom)
_SAME = {"IOError": "OSError", "EnvironmentError": "OSError", "error": "OSError",
         "timeout": "TimeoutError", "JSONDecodeError": "ValueError"}  # fmt: skip
"""Exceptions and another name or a base of theirs."""


def find(pair: Pair, comparison: DefinitionPairs) -> Iterator[Removal]:
    """What the calls of a definition lost, in it and in new functions that it calls."""
    if pair.gone:
        return
    heirs = [pair.new, *comparison.split_off(pair.new)]
    yield from _locks(pair, heirs, comparison)
    yield from _awaits(pair, heirs, comparison)
    yield from _closed(pair, heirs, comparison)
    yield from _unclosed(pair, heirs)
    yield from _handlers(pair, heirs, comparison)


def _locks(pair: Pair, heirs: Sequence[Code], comparison: DefinitionPairs) -> Iterator[Removal]:
    """Calls that locked something, and blocks that held a lock around what is still there."""
    for part in pair.lost("call"):
        if part.name in _LOCKING and not comparison.added_words[part.name]:
            question = f"Is the lock of `{part.name}` no longer needed? {pair.place} took it here."
            yield Removal("bugs/lock-dropped", part.line, question, place=pair.place)
    before, now = [*_held_locks([pair.old])], [*_held_locks(heirs)]
    names = frozenset[str]().union(*(code.names for code in heirs))
    lost = Counter(map(ast.unparse, dict(before))) - Counter(map(ast.unparse, dict(now)))
    yield from _let_out(pair, heirs)
    for lock, inside in before if len(now) < len(before) else ():
        text = ast.unparse(lock)
        if not lost[text] or called_in(lock) & comparison.deleted:
            continue
        if any(_are_mostly(inside, names_in(one.body)) for one in _new_blocks(pair, heirs)):
            continue  # another lock
        if squeezed(text) in comparison.added_text or not _are_mostly(inside, names):
            continue
        question = f"Is `{shown(text)}` no longer needed? {pair.place} held it here."
        line = next((n for n in span(lock) if pair.removes(n)), 0)
        if line:
            yield Removal("bugs/lock-dropped", line, question, place=pair.place)


def _let_out(pair: Pair, heirs: Sequence[Code]) -> Iterator[Removal]:
    """Statements that ran under a lock, and run outside of the same lock now."""
    before, now = _under_locks([pair.old]), _under_locks(heirs)
    everywhere = {
        ast.dump(one): one for code in heirs for one in code.nodes if isinstance(one, ast.stmt)
    }
    for text, lock in before.items():
        node = everywhere.get(text)
        kept = any(ast.dump(one) == ast.dump(lock) for one in now.values())
        if node is None or text in now or not kept or isinstance(node, ast.Return):
            continue
        line = next((n for n in (*span(lock), *span(node)) if pair.removes(n)), 0)
        if line:
            question = f"Is `{shown(ast.unparse(node))}` safe outside of `{ast.unparse(lock)}`?"
            question = f"{question} {pair.place} held that for it."
            yield Removal("bugs/lock-dropped", line, question, place=pair.place, at=node.lineno)
            return


def _under_locks(codes: Iterable[Code]) -> dict[str, ast.expr]:
    """The simple statements that run while a lock is held -> the lock."""
    return {
        ast.dump(one): item.context_expr
        for code in codes
        for block in code.nodes
        if isinstance(block, ast.With | ast.AsyncWith)
        for item in block.items
        if is_lock(item.context_expr)
        for part in block.body
        for one in ast.walk(part)
        if isinstance(one, SIMPLE)
    }


def _new_blocks(pair: Pair, heirs: Sequence[Code]) -> Iterator[ast.With | ast.AsyncWith]:
    """The blocks that enter what the old code did not."""
    items = (one for one in pair.old.nodes if isinstance(one, ast.withitem))
    entered = {ast.dump(one.context_expr) for one in items}
    nodes = (one for code in heirs for one in code.nodes)
    blocks = (one for one in nodes if isinstance(one, ast.With | ast.AsyncWith))
    for block in blocks:
        if any(ast.dump(one.context_expr) not in entered for one in block.items):
            yield block


def _held_locks(codes: Iterable[Code]) -> Iterator[tuple[ast.expr, frozenset[str]]]:
    """Each lock, and the names of what is done with it, in blocks and between calls."""
    for code in codes:
        for node in code.nodes:
            match node:
                case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                    locks = (one.context_expr for one in items if is_lock(one.context_expr))
                    yield from ((one, names_in(body) - names_in(one)) for one in locks)
                case ast.Call(func=ast.Attribute(attr=name, value=lock)) if name in (
                    "acquire",
                    "lock",
                ):
                    yield lock, code.names - names_in(lock) - _BY_HAND
                case _:
                    pass


def is_lock(node: ast.expr) -> bool:
    """Whether what `with` enters is named as a lock, a transaction or the like."""
    words = (word for name in names_in(node) for word in syntax.words(name))
    return not _LOCKS.isdisjoint(words)


def _awaits(pair: Pair, heirs: Sequence[Code], comparison: DefinitionPairs) -> Iterator[Removal]:
    """Calls that were awaited, and are not awaited and not given to anything that would."""
    before, now = _awaited(pair.old), [one for code in heirs for one in _awaited(code)]
    lost = Counter(map(_name, before)) - Counter(map(_name, now))
    for new in filter(_is_coroutine, heirs if lost else ()):
        passed = {
            id(inner) for call in new.calls if syntax.last_name(call.func) in _TASKS
            for inner in ast.walk(call) if inner is not call
        }  # fmt: skip
        passed |= set(map(id, now))
        for call in new.calls:
            name = _name(call)
            if not lost[name] or id(call) in passed or not new.changes(call):
                continue
            if comparison.added_definition(_last(name)) or _is_awaited_later(call, new):
                continue
            was = next(one for one in before if _name(one) == name)
            question = f"Does `{shown(ast.unparse(call))}` run without `await`?"
            question = f"{question} {pair.place} awaited it"
            yield from _removal("await-dropped", was, call, pair, new, question)


def _is_coroutine(code: Code) -> bool:
    node = code.node
    if isinstance(node, ast.FunctionDef):
        return not _COROUTINES.isdisjoint(names_in(node.decorator_list))
    return isinstance(node, ast.AsyncFunctionDef)


def _awaited(code: Code) -> list[ast.Call]:
    """The calls that something waits for; an `async def` waits with `await` alone."""
    waiting = ast.Await if isinstance(code.node, ast.AsyncFunctionDef) else _WAITING
    values = (one.value for one in code.nodes if isinstance(one, waiting))
    ways = (way for one in values if one is not None for way in _ways(one))
    return [one for one in ways if isinstance(one, ast.Call)]


def _ways(value: ast.expr) -> list[ast.expr]:
    """What an expression may be: either side of an `if`."""
    if not isinstance(value, ast.IfExp):
        return [value]
    return [*_ways(value.body), *_ways(value.orelse)]


def _name(call: ast.Call) -> str:
    return syntax.dotted(call.func) or f".{syntax.last_name(call.func)}"


def _is_awaited_later(call: ast.Call, new: Code) -> bool:
    """Whether what a call gives has a name, and something waits for that."""
    targets = frozenset(
        name for node in new.nodes for target, value in syntax.assigned(node) if value is call
        for name in names_in(target)
    )  # fmt: skip
    later = (one for one in new.nodes if isinstance(one, (*_WAITING, ast.Call)) and one is not call)
    return bool(targets) and any(
        targets & names_in(one) for one in later
        if not isinstance(one, ast.Call) or syntax.last_name(one.func) in _TASKS
    )  # fmt: skip


def _closed(pair: Pair, heirs: Sequence[Code], comparison: DefinitionPairs) -> Iterator[Removal]:
    """What a block closed, and is opened without one now."""
    if comparison.added_words.keys() & CLOSERS:
        return
    before, now = _held([pair.old]), _held(heirs)
    for new in heirs if before else ():
        given = {
            id(call): target for node in new.nodes for target, value in syntax.assigned(node)
            for call in [value.value if isinstance(value, ast.Await) else value]
        }  # fmt: skip
        returned = {id(one.value) for one in new.nodes if isinstance(one, ast.Return)}
        for call in new.calls:
            name = syntax.last_name(call.func)
            had, has = before.get(name, []), now.get(name, [])
            kept = returned | {*map(id, has)}
            if len(had) <= len(has) or not new.changes(call) or id(call) in kept:
                continue
            target = given.get(id(call))
            held = names_in(target) if target is not None else frozenset[str]()
            if any(held & names_in(one) for one in closings(new)):
                continue
            what = shown(ast.unparse(call if target is None else target))
            was = shown(ast.unparse(had[0]))
            question = f"Is `{what}` still closed? {pair.place} had `with {was}` for it"
            yield from _removal("not-closed", had[0], call, pair, new, question)


def _unclosed(pair: Pair, heirs: Sequence[Code]) -> Iterator[Removal]:
    """What a call closed in code that is rewritten, and is opened as before."""
    opened, opened_now = _opened([pair.old]), _opened(heirs)
    closed = {name for code in heirs for one in closings(code) for name in names_in(one)}
    for call in pair.old.calls if pair.is_rewritten else ():
        name = syntax.dotted(call.func).rpartition(".")[0]
        opener = opened.get(name) if syntax.last_name(call.func) in CLOSING else None
        again = [one for one, other in opened_now.items() if other == opener and opener]
        line = next((n for n in span(call) if pair.removes(n)), 0)
        if line and again and closed.isdisjoint(again):
            question = (
                f"Is `{again[0]}` still closed? {pair.place} had `{shown(ast.unparse(call))}`"
            )
            yield Removal("bugs/not-closed", line, f"{question} for it.", place=pair.place)


def _opened(codes: Iterable[Code]) -> dict[str, str]:
    """Variable -> last name of the call that gives it."""
    nodes = (node for code in codes for node in code.nodes)
    return {
        target.id: syntax.last_name(call.func)
        for node in nodes
        for target, value in syntax.assigned(node)
        for call in [value.value if isinstance(value, ast.Await) else value]
        if isinstance(target, ast.Name) and isinstance(call, ast.Call)
    }


def _held(codes: Iterable[Code]) -> Mapping[str, list[ast.Call]]:
    """Last name -> the calls that `with` enters, without locks."""
    found: dict[str, list[ast.Call]] = {}
    nodes = (node for code in codes for node in code.nodes if isinstance(node, ast.withitem))
    for item in nodes:
        for call in ast.walk(item.context_expr):  # `closing(...)` holds what is in it
            if isinstance(call, ast.Call) and not is_lock(item.context_expr):
                found.setdefault(syntax.last_name(call.func), []).append(call)
    return found


def closings(code: Code) -> Iterator[ast.expr]:
    """What closes something, and blocks that will."""
    for node in code.nodes:
        if isinstance(node, ast.withitem):
            yield node.context_expr
        elif isinstance(node, ast.Call) and syntax.last_name(node.func) in CLOSING:
            yield node.func


def _handlers(pair: Pair, heirs: Sequence[Code], comparison: DefinitionPairs) -> Iterator[Removal]:
    """Other exceptions that are caught around the same calls."""
    tries = {one: code for code in heirs for one in code.nodes if isinstance(one, ast.Try)}
    for block in (one for one in pair.old.nodes if isinstance(one, ast.Try)):
        calls = _calls_in(block)
        same = [one for one in tries if _are_mostly(calls, _calls_in(one))]
        if not calls:
            names = names_in(block.body)
            same = [one for one in tries if _are_mostly(names, names_in(one.body))]
        if len(same) != 1 or comparison.rewrites(frozenset(map(_last, calls))):
            continue
        before, now = _caught(block), _caught(same[0])
        lost = {one: node for one, node in before.items() if one not in now}
        gained = {one: node for one, node in now.items() if one not in before}
        narrower = not gained and bool(now) and len(same[0].handlers) == len(block.handlers)
        if not lost or not (gained or narrower):
            continue
        if (lost | gained).keys() & {"Exception", "BaseException"}:
            continue
        if all(comparison.deleted.intersection(one.split(".")) for one in lost):
            continue
        if any(comparison.added_definition(part) for one in gained for part in one.split(".")):
            continue
        if any(is_same_kind(one, other) for one in lost for other in gained):
            continue
        kinds = ", ".join(sorted(lost))
        question = f"Is `{kinds}` handled elsewhere? {pair.place} caught it"
        was, node = next(iter(lost.values())), next(iter((gained or now).values()))
        yield from _removal("exception-exchanged", was, node, pair, tries[same[0]], question)


def _calls_in(block: ast.Try) -> frozenset[str]:
    return frozenset(
        _name(node) for part in block.body for node in ast.walk(part) if isinstance(node, ast.Call)
    )


def _are_mostly(names: frozenset[str], others: frozenset[str]) -> bool:
    return 2 * len(names & others) > len(names)


def _last(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def _caught(block: ast.Try) -> dict[str, ast.expr]:
    """Name -> the expression, for each exception that is caught."""
    kinds = [one.type for one in block.handlers if one.type is not None]
    parts = (
        part for kind in kinds for part in (kind.elts if isinstance(kind, ast.Tuple) else [kind])
    )
    return {_kind(one): one for one in parts}


def _kind(exception: ast.expr) -> str:
    """The last name of an exception, with the class that it belongs to: `Queue.DoesNotExist`."""
    name = syntax.last_name(exception)
    owner = syntax.last_name(exception.value) if isinstance(exception, ast.Attribute) else ""
    return f"{owner}.{name}" if owner[:1].isupper() else name


def is_same_kind(one: str, other: str) -> bool:
    """Whether handlers of the second exception catch the first one as well."""
    if _last(one) == _last(other):
        return not ("." in one and "." in other)  # `self.model.DoesNotExist` may be either
    kinds = [getattr(builtins, _SAME.get(name, name), None) for name in (one, other)]
    narrow, broad = (kind if isinstance(kind, type) else None for kind in kinds)
    return narrow is not None and broad is not None and issubclass(narrow, broad)


def _removal(
    rule: str, old: ast.expr, new: ast.expr, pair: Pair, code: Code, question: str
) -> Iterator[Removal]:
    """Quotes the old line and points at the new one, if both are in one file."""
    line = next((n for n in span(old) if pair.removes(n)), 0)
    at = new.lineno if code.file is pair.old.file else 0
    if line:
        yield Removal(f"bugs/{rule}", line, f"{question} before.", place=pair.place, at=at)
