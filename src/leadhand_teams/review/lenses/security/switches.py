"""Values that a change makes less safe: switches, settings and lists, by their names.

A switch counts only if the code before had it on its safe side: by a value, or by leaving out what
is safe by default in a call or an object that is still there.
"""

import ast
import itertools
import re
from collections.abc import Iterator, Mapping

from leadhand_teams.review import syntax
from leadhand_teams.review.comparison import DefinitionPairs, Pair, Part, Removal, shown, vocabulary
from leadhand_teams.review.comparison.code import Code, span
from leadhand_teams.review.syntax import pattern_of, words_of

_ON_IS_SAFE, _OFF_IS_SAFE = pattern_of("switches.on_is_safe"), pattern_of("switches.off_is_safe")
_SAFE_BY_DEFAULT, _CONTEXTS = map(words_of, ("switches.safe_by_default", "switches.contexts"))
_DENY, _ALLOW, _CHECKS = map(words_of, ("switches.deny", "switches.allow", "switches.checks"))
_SETTINGS = pattern_of("lost.settings")
ADDED = re.compile(rf"(?:{'|'.join(sorted(_SAFE_BY_DEFAULT | _ALLOW))})[-\w. ]*['\"\])]*\s*[:=]")
"""What is, in lower case, in every file in which added lines alone tell something here."""
_TLS = re.compile(r"verify|ssl|tls|cert|hostname|minimum_version", re.IGNORECASE)
_VERSIONS = ("SSLv2", "SSLv3", "TLSv1", "TLSv1_1")
_WILD = re.compile(r"'([^']*\*[^']*|\.[\w.-]+\.\w+|0\.0\.0\.0(/0)?|::/0)'")
"""Entries that stand for many values."""


def find(pair: Pair, sides: DefinitionPairs) -> Iterator[Removal]:
    """The switches, settings and lists of a definition that are less safe now."""
    if pair.gone:
        return
    before, after = _by_name(pair.old), _by_name(pair.new)
    for name, now in after.items():
        yield from _switched(name, before.get(name, []), now, pair)
        yield from _turned_off(name, before.get(name, []), now, pair)
    lists, lists_now = (_lists(found) for found in (before, after))
    for name in lists.keys() & lists_now.keys():
        yield from _entries(name, lists[name], lists_now[name], pair, sides)


def switch_rule(name: str) -> str:
    """The rule for a switch of this name."""
    return "tls" if _TLS.search(name) else "flag"


def is_unsafe(switch: Part) -> bool:
    """Whether a switch is on its unsafe side."""
    lower, value = switch.name.lower(), switch.node
    last = syntax.last_name(value)
    if last in ("CERT_NONE", "VERIFY_NONE", "_create_unverified_context"):
        return True
    if lower == "minimum_version":
        return last in _VERSIONS
    if not isinstance(value, ast.Constant):
        return False
    if _ON_IS_SAFE.fullmatch(lower):
        return value.value is False or (lower != "secure" and value.value == "none")
    return value.value is True and bool(_OFF_IS_SAFE.fullmatch(lower))


def is_off(value: ast.expr | ast.arg) -> bool:
    """Whether a value turns something off."""
    return isinstance(value, ast.Constant) and value.value in (False, None, 0, "", -1)


def _by_name(code: Code) -> dict[str, list[Part]]:
    """Name -> the values that are set, passed or the default under it."""
    found: dict[str, list[Part]] = {}
    for part in itertools.chain(*(code.parts[kind] for kind in ("default", "argument", "value"))):
        if part.name:
            found.setdefault(part.name, []).append(part)
    return found


def _switched(name: str, had: list[Part], now: list[Part], pair: Pair) -> Iterator[Removal]:
    if sum(map(is_unsafe, had)) >= sum(map(is_unsafe, now)):
        return
    switch = next((one for one in now if is_unsafe(one) and pair.new.changes(one.node)), None)
    if switch is None:
        return
    rule, text = f"security/removed-{switch_rule(name)}", f"{name} = {shown(switch.text)}"
    safe = (one for one in had if not is_unsafe(one))
    gone = next(((n, one) for one in safe for n in span(one.node) if pair.removes(n)), None)
    if gone is not None:
        line, was = gone
        yield Removal(rule, line, f"Is `{text}` safe? {pair.place} had `{shown(was.text)}`.")
    elif not had and _was_safe_by_default(switch, pair.old):
        question = f"Is `{text}` safe? {pair.place} left the safe default before."
        yield Removal(rule, switch.node.lineno, question, added=True)


def _was_safe_by_default(switch: Part, old: Code) -> bool:
    if switch.name not in _SAFE_BY_DEFAULT:
        return False
    calls, owner = old.call_counts.keys(), switch.owner
    return owner in calls or (owner in old.names and bool(calls & _CONTEXTS))


def _turned_off(name: str, had: list[Part], now: list[Part], pair: Pair) -> Iterator[Removal]:
    """Settings in capitals with a value that turns them off."""
    had, now = ([one for one in parts if one.kind == "value"] for parts in (had, now))
    if not (had and now and name.isupper() and _SETTINGS.search(name)):
        return
    was, value = had[-1], now[-1]
    if is_off(value.node) and not is_off(was.node) and pair.removes(was.line):
        rule = "limit" if vocabulary.is_limit(name) else "flag"
        question = f"Is `{name} = {value.text}` safe? It was `{shown(was.text)}`."
        yield Removal(f"security/removed-{rule}", was.line, question)


def _lists(named: Mapping[str, list[Part]]) -> dict[str, dict[str, ast.expr]]:
    """Name -> (source of an entry -> entry) of the lists that have one place."""
    found: dict[str, list[list[ast.expr]]] = {}
    for name, parts in named.items():
        for part in parts:
            value = part.node if part.kind != "default" else None
            if isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords:
                value = value.args[0]
            if isinstance(value, ast.List | ast.Tuple | ast.Set):
                found.setdefault(name, []).append(value.elts)
            elif isinstance(value, ast.Dict):
                found.setdefault(name, []).append([key for key in value.keys if key is not None])
    return {
        name: {ast.unparse(one): one for one in places[0]}
        for name, places in found.items()
        if len(places) == 1
    }


def _entries(
    name: str,
    before: Mapping[str, ast.expr],
    after: Mapping[str, ast.expr],
    pair: Pair,
    sides: DefinitionPairs,
) -> Iterator[Removal]:
    """Lists that refuse less, check less, or allow more."""
    lost = [text for text in before if text not in after]
    gained = [text for text in after if text not in before]
    words = set(syntax.words(name))
    wild = next(filter(_WILD.fullmatch, gained), "")
    if lost and not gained and (rule := _rule(words, lost)):
        line = next(
            (n for text in (*lost, *before) for n in span(before[text]) if pair.removes(n)), 0
        )
        if rule == "entry" and sides.removed_words[_word(lost[0])] > 1:
            return  # what it names goes, too
        if line and not sides.added_words[_word(lost[0])]:
            ask = "harmless now" if rule == "entry" else "no longer needed"
            question = f"Is `{shown(lost[0])}` {ask}? It was removed from `{name}`."
            yield Removal(f"security/removed-{rule}", line, question)
    elif wild and words & _ALLOW and pair.new.changes(after[wild]):
        question = f"Is all of `{shown(wild)}` harmless? It was added to `{name}`."
        yield Removal("security/removed-entry", after[wild].lineno, question, added=True)


def _rule(words: set[str], lost: list[str]) -> str:
    """The rule for a list that lost entries, by its name and by theirs."""
    if words & _CHECKS:
        return "validator"
    if any(vocabulary.guards(_word(text)) for text in lost if _is_reference(text)):
        return "decorator"
    return "entry" if words & _DENY else ""


def _is_reference(text: str) -> bool:
    """Whether an entry is code, or a text that names a class or a function in a module."""
    return text[0] not in "'\"" or re.search(r"\w\.\w|[a-z][A-Z]", text) is not None


def _word(text: str) -> str:
    """The last name in an entry: of a string with a path, a call or a name."""
    return text.split("(")[0].strip("'\"").rsplit(".", 1)[-1]
