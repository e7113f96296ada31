"""Where the syntax of a definition differs before and after: the smallest parts that do.

Statements are aligned by their text, then by the words that they have in common. A block that is
put around statements, or taken away from around them, is one edit; they are compared inside it.
"""

import ast
import difflib
import functools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeGuard, cast

from leadhand_teams.review import syntax

_DEFINITIONS = (*syntax.FUNCTIONS, ast.ClassDef)
_AROUND = (ast.With, ast.AsyncWith, ast.If, ast.Try, ast.For, ast.AsyncFor, ast.While)
_EXITS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_BLOCKS = ("body", "orelse", "finalbody")
_SKIPPED = frozenset((*_BLOCKS, "handlers", "cases", "type_params", "ctx", "kind", "type_comment"))
_SIMILAR = 0.5
"""The least share of common words of two statements that are compared with each other."""
_MANY = 40
"""A stretch with so many statements that all differ is rewritten, and not compared."""

Above = tuple[ast.AST, ...]


class Edit(NamedTuple):
    """One place in which a definition differs."""

    old: ast.AST | None
    """The part before; `None` if the change adds `new`."""
    new: ast.AST | None
    """The part after; `None` if the change removes `old`."""
    above: Above
    """The nodes around `old`, innermost first; those around `new` if there is no `old`."""
    kept: bool = False
    """Whether the statements inside stay: only the block around them differs."""


class BothSides(NamedTuple):
    """The lines of both sides, from which statements have their text."""

    old: Sequence[str]
    new: Sequence[str]


def edits(old: ast.AST, new: ast.AST, sources: BothSides) -> list[Edit]:
    """The edits of a function, class or module, without those of the definitions in it."""
    found: list[Edit] = []
    if isinstance(old, _DEFINITIONS) and isinstance(new, _DEFINITIONS):
        found += _within(old, new, ())
    return [*found, *_blocks(_block(old, "body"), _block(new, "body"), (old,), sources)]


def _blocks(
    old: Sequence[ast.stmt], new: Sequence[ast.stmt], above: Above, sources: BothSides
) -> Iterator[Edit]:
    texts = [_text(one, sources.old) for one in old]
    texts_now = [_text(one, sources.new) for one in new]
    if texts == texts_now:
        return
    matcher = difflib.SequenceMatcher(None, texts, texts_now, autojunk=False)
    for tag, start, end, start_now, end_now in matcher.get_opcodes():
        if tag != "equal" and max(end - start, end_now - start_now) <= _MANY:
            yield from _stretch(list(old[start:end]), list(new[start_now:end_now]), above, sources)


def _stretch(
    old: list[ast.stmt], new: list[ast.stmt], above: Above, sources: BothSides
) -> Iterator[Edit]:
    """Compares statements of which none is the same on both sides."""
    for n, one in enumerate(old):
        if _is_only_around(one, new, sources):
            yield Edit(one, None, above, kept=True)
            yield from _blocks([*old[:n], *_inside(one), *old[n + 1 :]], new, above, sources)
            return
    for n, one in enumerate(new):
        if _is_only_around(one, old, BothSides(sources.new, sources.old)):
            yield Edit(None, one, above, kept=True)
            yield from _blocks(old, [*new[:n], *_inside(one), *new[n + 1 :]], above, sources)
            return
    partners = _partners(old, new, sources)
    for one in old:
        partner = partners.get(one)
        if partner is None:
            yield Edit(one, None, above)
        elif type(one) is type(partner):
            yield from _statement(one, partner, above, sources)
        else:
            yield Edit(one, partner, above, kept=True)
            yield from _blocks(_inside(one), _inside(partner), (one, *above), sources)
    taken = set(partners.values())
    yield from (Edit(None, one, above) for one in new if one not in taken)


def _statement(
    one: ast.stmt, partner: ast.stmt, above: Above, sources: BothSides
) -> Iterator[Edit]:
    yield from _within(one, partner, above)
    around = (one, *above)
    for name in _BLOCKS:
        yield from _blocks(_block(one, name), _block(partner, name), around, sources)
    handlers, now = (list[ast.excepthandler](getattr(x, "handlers", ())) for x in (one, partner))
    for handler, other in zip(handlers, now, strict=False):
        yield from _within(handler, other, around)
        yield from _blocks(
            _block(handler, "body"), _block(other, "body"), (handler, *around), sources
        )
    yield from (Edit(gone, None, around) for gone in handlers[len(now) :])
    yield from (Edit(None, came, around) for came in now[len(handlers) :])
    cases, cases_now = (list[ast.match_case](getattr(x, "cases", ())) for x in (one, partner))
    for case, case_now in zip(cases, cases_now, strict=False):
        yield from _blocks(case.body, case_now.body, (case, *around), sources)


def _partners(
    old: list[ast.stmt], new: list[ast.stmt], sources: BothSides
) -> dict[ast.stmt, ast.stmt]:
    """The statements that correspond, most similar first and in order."""
    likely = sorted(
        (
            (_likeness(_text(one, sources.old), _text(other, sources.new)), -abs(n - m), n, m)
            for n, one in enumerate(old)
            for m, other in enumerate(new)
            if type(one) is type(other) or (isinstance(one, _AROUND) and isinstance(other, _AROUND))
        ),
        reverse=True,
    )
    found: list[tuple[int, int]] = []
    least = 0.01 if len(old) == len(new) == 1 else _SIMILAR
    for share, _, n, m in likely:
        if share >= least and all((o < n and p < m) or (o > n and p > m) for o, p in found):
            found.append((n, m))
    return {old[n]: new[m] for n, m in sorted(found)}


def _is_only_around(one: ast.stmt, others: list[ast.stmt], sources: BothSides) -> bool:
    """Whether at least half of the statements inside of `one` are among `others`, without it."""
    if not isinstance(one, _AROUND):
        return False
    inside = Counter(_text(part, sources.old) for part in _inside(one))
    there = Counter(_text(part, sources.new) for part in others)
    return 2 * (inside & there).total() >= inside.total() > 0


def _within(old: ast.AST, new: ast.AST, above: Above) -> Iterator[Edit]:
    """The edits of two nodes of the same type, without the blocks of statements in them."""
    around = (old, *above)
    for name in old._fields:
        if name in _SKIPPED:
            continue
        before: object = getattr(old, name, None)
        after: object = getattr(new, name, None)
        if isinstance(before, ast.AST) and isinstance(after, ast.AST):
            if isinstance(before, ast.operator | ast.unaryop | ast.boolop):
                if type(before) is not type(after):
                    yield Edit(old, new, above)
            else:
                yield from _parts(before, after, around)
        elif isinstance(before, list) and isinstance(after, list):
            yield from _lists(old, new, cast("list[object]", before), cast("list[object]", after),
                              above)  # fmt: skip
        elif isinstance(before, ast.AST):
            yield Edit(before, None, around)
        elif isinstance(after, ast.AST):
            yield Edit(None, after, around)
        elif before != after:
            yield Edit(old, new, above)


def _lists(
    old: ast.AST, new: ast.AST, before: list[object], after: list[object], above: Above
) -> Iterator[Edit]:
    parts, parts_now = ([one for one in x if isinstance(one, ast.AST)] for x in (before, after))
    if any(isinstance(one, ast.cmpop) for one in parts):
        if [type(one) for one in parts] != [type(one) for one in parts_now]:
            yield Edit(old, new, above)
        return
    texts, texts_now = ([ast.dump(one) for one in x] for x in (parts, parts_now))
    matcher = difflib.SequenceMatcher(None, texts, texts_now, autojunk=False)
    around = (old, *above)
    for tag, start, end, start_now, end_now in matcher.get_opcodes():
        if tag == "equal":
            continue
        gone, came = parts[start:end], parts_now[start_now:end_now]
        if len(gone) == len(came):
            for one, other in zip(gone, came, strict=True):
                yield from _parts(one, other, around)
        else:
            yield from (Edit(one, None, around) for one in gone)
            yield from (Edit(None, one, around) for one in came)


def _parts(old: ast.AST, new: ast.AST, above: Above) -> Iterator[Edit]:
    """The edits of two expressions, or other small nodes, in the same place."""
    text, text_now = ast.dump(old), ast.dump(new)
    if text == text_now:
        return
    if isinstance(old, ast.BoolOp) and (kept := _operand(old, text_now)) is not None:
        yield from (Edit(one, None, (old, *above)) for one in old.values if one is not kept)
    elif isinstance(new, ast.BoolOp) and (kept := _operand(new, text)) is not None:
        yield from (Edit(None, one, (new, *above)) for one in new.values if one is not kept)
    elif type(old) is type(new) and not (_contains(old, text_now) or _contains(new, text)):
        yield from _within(old, new, above)
    else:
        yield Edit(old, new, above)


def _operand(node: ast.BoolOp, text: str) -> ast.expr | None:
    """The operand with this dump."""
    return next((one for one in node.values if ast.dump(one) == text), None)


def _contains(node: ast.AST, text: str) -> bool:
    """Whether a part of `node` has this dump."""
    return any(ast.dump(one) == text for one in ast.walk(node) if one is not node)


def _block(node: ast.AST, name: str) -> list[ast.stmt]:
    """The statements of a block, without definitions.

    What an `else` has after a way out counts as the statements that follow.
    """
    if name == "orelse" and _leaves(node):
        return []
    found: object = getattr(node, name, None)
    statements = cast("list[ast.stmt]", found) if isinstance(found, list) else []
    flat: list[ast.stmt] = []
    for one in statements:
        while _leaves(one) and len(one.orelse) == 1 and isinstance(one.orelse[0], ast.If):
            flat.append(one)
            one = one.orelse[0]
        flat += [one, *one.orelse] if _leaves(one) else [one]
    return [one for one in flat if not isinstance(one, _DEFINITIONS)]


def _leaves(node: ast.AST) -> TypeGuard[ast.If]:
    """Whether code after an `if` runs only if its condition does not hold."""
    return isinstance(node, ast.If) and isinstance(node.body[-1], _EXITS)


def _inside(node: ast.stmt) -> list[ast.stmt]:
    return [one for name in _BLOCKS for one in _block(node, name)]


def _text(node: ast.stmt, lines: Sequence[str]) -> str:
    """The statement as it is written, without indentation."""
    last = node.body[-1] if _leaves(node) else node
    own = lines[node.lineno - 1 : last.end_lineno or last.lineno]
    return re.sub(r"^elif\b", "if", "\n".join(line.strip() for line in own))


@functools.lru_cache(maxsize=1_000)
def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+|[^\w\s]", text))


def _likeness(one: str, other: str) -> float:
    """The share of words and signs that two texts have in common, 0 to 1."""
    words, others = _words(one), _words(other)
    return 2 * (words & others).total() / max(1, words.total() + others.total())
