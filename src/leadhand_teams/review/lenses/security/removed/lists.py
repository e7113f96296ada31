"""Lists that a change makes weaker: what is refused, what is allowed, which checks take part."""

import ast
import re
from collections.abc import Iterator, Mapping

from leadhand_teams.review import syntax
from leadhand_teams.review.comparison.code import Code, span
from leadhand_teams.review.comparison.pairs import DefinitionPairs, Pair
from leadhand_teams.review.comparison.removals import Removal, shown
from leadhand_teams.review.lens import LensRule
from leadhand_teams.review.lenses.security.removed.declarations import guards
from leadhand_teams.review.lenses.security.removed.rules import DECORATOR, ENTRY, VALIDATOR

_DENY = syntax.word_set(
    "deny denied denylist block blocked blocklist black blacklist blacklisted forbid forbidden ban"
    " banned unsafe dangerous reserved disallow disallowed restricted illegal reject rejected"
    " sensitive private protected dangerous invalid prohibited escape remove strip redact hidden"
)
ALLOW = syntax.word_set(
    "allow allowed allowlist white whitelist whitelisted safe permitted trusted"
)
_CHECKS = syntax.word_set("validators validator constraints")
_WILD = re.compile(r"'([^']*\*[^']*|\.[\w.-]+\.\w+|0\.0\.0\.0(/0)?|::/0)'")
"""Entries that stand for many values."""


def find(pair: Pair, sides: DefinitionPairs) -> Iterator[Removal]:
    """The lists of a definition that refuse less, allow more, or check less."""
    if pair.new is None:
        return
    after = _collections(pair.new)
    for name, (node, entries) in _collections(pair.old).items():
        if name not in after:
            continue
        entries_now = after[name][1]
        lost = [text for text in entries if text not in entries_now]
        gained = [text for text in entries_now if text not in entries]
        words = set(syntax.words(name))
        if lost and not gained and (rule := _rule(words, lost)):
            line = next((n for n in (entries[text].lineno for text in lost) if pair.removes(n)), 0)
            line = line or next((n for n in span(node) if pair.removes(n)), 0)
            if line and not sides.added_words[_word(lost[0])]:
                what = shown(lost[0])
                message = (
                    f"Is `{what}` harmless now? It was removed from `{name}`." if rule is ENTRY
                    else f"Is `{what}` no longer needed? It was removed from `{name}`."
                )  # fmt: skip
                yield Removal(rule, line, message)
        elif words & ALLOW and (wild := [text for text in gained if _WILD.fullmatch(text)]):
            line = entries_now[wild[0]].lineno
            if line in pair.new.changed:
                message = f"Is all of `{shown(wild[0])}` harmless? It was added to `{name}`."
                yield Removal(ENTRY, line, message, added=True)


def _rule(words: set[str], lost: list[str]) -> LensRule | None:
    """The rule for a list that lost entries, by its name and by theirs."""
    if words & _CHECKS:
        return VALIDATOR
    if any(guards(_word(text)) for text in lost if _is_reference(text)):
        return DECORATOR
    return ENTRY if words & _DENY else None


def _is_reference(text: str) -> bool:
    """Whether an entry is code, or a text that names a class or a function in a module."""
    return text[0] not in "'\"" or re.search(r"\w\.\w|[a-z][A-Z]", text) is not None


def _word(text: str) -> str:
    """The last name in an entry: of a string with a path, a call or a name."""
    return text.split("(")[0].strip("'\"").rsplit(".", 1)[-1]


def _collections(code: Code) -> dict[str, tuple[ast.expr, Mapping[str, ast.expr]]]:
    """Name -> (value, source of an entry -> entry) of the lists that have one place."""
    found: dict[str, tuple[ast.expr, Mapping[str, ast.expr]]] = {}
    twice: set[str] = set()
    for node in code.nodes:
        for name, value in _named(node):
            inner = value
            if isinstance(inner, ast.Call) and len(inner.args) == 1 and not inner.keywords:
                inner = inner.args[0]
            if isinstance(inner, ast.List | ast.Tuple | ast.Set):
                entries = inner.elts
            elif isinstance(inner, ast.Dict):
                entries = [key for key in inner.keys if key is not None]
            else:
                continue
            if name in found:
                twice.add(name)
            found[name] = (value, {ast.unparse(one): one for one in entries})
    return {name: both for name, both in found.items() if name and name not in twice}


def _named(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """(name, value) of what a node assigns, passes or maps."""
    match node:
        case ast.Assign(targets=[target], value=value):
            yield key(target), value
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield key(target), value
        case ast.keyword(arg=str(name), value=value):
            yield name, value
        case ast.Dict(keys=keys, values=values):
            yield from ((key(one), value) for one, value in zip(keys, values, strict=True) if one)
        case _:
            pass


def key(target: ast.expr | None) -> str:
    """The last name of a target, or the text of a key."""
    if isinstance(target, ast.Subscript):
        target = target.slice
    if isinstance(target, ast.Constant):
        return target.value if isinstance(target.value, str) else ""
    return syntax.last_name(target) if target is not None else ""
