"""Switches that a change turns to their unsafe side: keywords, attributes, defaults and settings.

A switch counts only if the code before had it on its safe side: by a value, or by leaving out what
is safe by default in a call or an object that is still there.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from leadhand_teams.review import syntax
from leadhand_teams.review.comparison.code import Code, span
from leadhand_teams.review.comparison.pairs import DefinitionPairs, Pair
from leadhand_teams.review.comparison.removals import Removal, shown
from leadhand_teams.review.lenses.security.removed.lists import ALLOW, key
from leadhand_teams.review.lenses.security.removed.rules import FLAG, TLS

_ON_IS_SAFE = re.compile(
    r"verify(_?\w*)?|check_hostname|assert_hostname|validate_certs?|ssl_verify|autoescape|secure"
    r"|http_?only|samesite|escape|sandbox(ed)?|no_network|forbid_dtd|weights_only|csrf(_\w+)?"
    r"|verify_mode|cert_reqs|(session_)?cookie_(secure|httponly)|login_required|safe_mode"
    r"|ssl_cert_reqs|require_\w+|enforce_\w+"
)
_OFF_IS_SAFE = re.compile(
    r"shell|debug|resolve_entities|allow_pickle|trust_\w+|insecure|unsafe\w*|dangerously\w*|no_verify"
    r"|(skip|disable|ignore)_\w*(verif|valid|auth|check|ssl|tls|csrf|cert)\w*|csrf_exempt"
    r"|allow_(unsafe|dangerous|any|all|insecure|none|private|local)\w*"
)
_SAFE_BY_DEFAULT = re.compile(r"shell|verify|check_hostname|verify_ssl|allow_pickle|verify_mode")
ADDED = re.compile(
    rf"(?:{_SAFE_BY_DEFAULT.pattern}|{'|'.join(sorted(ALLOW))})[-\w. ]*['\"\])]*\s*[:=]"
)
"""What is, in lower case, in every file in which added lines alone tell `lists` or this module."""
_TLS = re.compile(r"verify|ssl|tls|cert|hostname|minimum_version", re.IGNORECASE)
_VERSIONS = ("SSLv2", "SSLv3", "TLSv1", "TLSv1_1", "TLSv1_2", "TLSv1_3")


class Switch(NamedTuple):
    """A named value of a definition."""

    value: ast.expr
    owner: str
    """The call or object that it belongs to; empty if it stands alone."""


def find(pair: Pair, sides: DefinitionPairs) -> Iterator[Removal]:
    """The switches of a definition that are on their unsafe side now."""
    if pair.new is None:
        return
    before, after = _switches(pair.old), _switches(pair.new)
    for name, now in after.items():
        had = before.get(name, [])
        for switch in now:
            if not _unsafe(name, switch.value) or not pair.new.changes(switch.value):
                continue
            if _count(name, had) >= _count(name, now):
                break
            safe = next((one for one in had if _is_changed(pair, name, one)), None)
            rule = TLS if _TLS.search(name) else FLAG
            text = f"{name} = {shown(ast.unparse(switch.value))}"
            if safe is not None:
                line = next(n for n in span(safe.value) if pair.removes(n))
                was = shown(ast.unparse(safe.value))
                yield Removal(rule, line, f"Is `{text}` safe? {pair.place} had `{was}`.")
            elif not had and _safe_by_default(name, switch, pair.old):
                message = f"Is `{text}` safe? {pair.place} left the safe default before."
                yield Removal(rule, switch.value.lineno, message, added=True)
            break
    yield from _gone(pair, before, after, sides)


def _gone(
    pair: Pair,
    before: dict[str, list[Switch]],
    after: dict[str, list[Switch]],
    sides: DefinitionPairs,
) -> Iterator[Removal]:
    """Attributes and items that turned something safe, and are no longer set."""
    for name, had in before.items():
        if name in after or sides.added_words[name] or not _ON_IS_SAFE.fullmatch(name.lower()):
            continue
        for switch in had:
            kept = pair.new is not None and switch.owner in pair.new.names
            if kept and not _unsafe(name, switch.value) and _is_set(pair.old, switch):
                line = switch.value.lineno
                if pair.removes(line):
                    message = f"Is `{switch.owner}` still safe? {pair.place} set its `{name}` here."
                    yield Removal(TLS if _TLS.search(name) else FLAG, line, message)
                break


def _is_set(code: Code, switch: Switch) -> bool:
    assigned = (node for node in code.nodes if isinstance(node, ast.Assign))
    return any(node.value is switch.value for node in assigned)


def _count(name: str, switches: list[Switch]) -> int:
    return sum(_unsafe(name, one.value) for one in switches)


def _is_changed(pair: Pair, name: str, switch: Switch) -> bool:
    """Whether an old switch was safe and the change removes it."""
    return not _unsafe(name, switch.value) and any(map(pair.removes, span(switch.value)))


def _safe_by_default(name: str, switch: Switch, old: Code) -> bool:
    if not _SAFE_BY_DEFAULT.fullmatch(name):
        return False
    calls = {syntax.last_name(call.func) for call in old.calls}
    return switch.owner in calls or (switch.owner in old.names and bool(calls & _CONTEXTS))


_CONTEXTS = syntax.word_set("create_default_context SSLContext Session Client AsyncClient")


def _unsafe(name: str, value: ast.expr) -> bool:
    """Whether a switch of this name is on its unsafe side."""
    lower = name.lower()
    last = syntax.last_name(value)
    if last in ("CERT_NONE", "VERIFY_NONE", "_create_unverified_context"):
        return True
    if lower == "minimum_version":
        return last in _VERSIONS[:4]
    if not isinstance(value, ast.Constant):
        return False
    if _ON_IS_SAFE.fullmatch(lower):
        return value.value is False or (lower != "secure" and value.value == "none")
    return value.value is True and bool(_OFF_IS_SAFE.fullmatch(lower))


def _switches(code: Code) -> dict[str, list[Switch]]:
    """Name -> the switches of that name, of all kinds."""
    found: defaultdict[str, list[Switch]] = defaultdict(list)
    if isinstance(code.node, syntax.FUNCTIONS):
        for name, value in syntax.defaults(code.node).items():
            found[name].append(Switch(value, ""))
    for node in code.nodes:
        match node:
            case ast.Call(func=function, keywords=keywords):
                for one in keywords:
                    found[one.arg or ""].append(Switch(one.value, syntax.last_name(function)))
            case ast.Assign(targets=[target], value=value):
                found[key(target)].append(Switch(value, _owner(target)))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                found[key(target)].append(Switch(value, _owner(target)))
            case ast.Dict(keys=keys, values=values):
                for one, value in zip(keys, values, strict=True):
                    found[key(one)].append(Switch(value, ""))
            case _:
                pass
    found.pop("", None)
    return found


def _owner(target: ast.expr) -> str:
    """The variable or attribute of which a target is a part; empty for a name."""
    while isinstance(target, ast.Attribute | ast.Subscript):
        target = target.value
        if isinstance(target, ast.Name | ast.Attribute):
            return syntax.last_name(target)
    return ""
