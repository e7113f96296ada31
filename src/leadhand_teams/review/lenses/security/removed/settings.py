"""Settings, headers, lists, patterns and version floors that a change makes less safe."""

import ast
import re
from collections.abc import Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from leadhand_teams.review import syntax
from leadhand_teams.review.change import ChangedFile
from leadhand_teams.review.comparison import vocabulary
from leadhand_teams.review.comparison.code import Code
from leadhand_teams.review.comparison.pairs import DefinitionPairs, Pair
from leadhand_teams.review.comparison.removals import Removal, shown
from leadhand_teams.review.lenses.security.removed.rules import FLAG, FLOOR, HEADER, LIMIT, PATTERN

_HEADER = re.compile(
    r"""["'](X-Frame-Options|Content-Security-Policy(?:-Report-Only)?|Strict-Transport-Security"""
    r"""|X-Content-Type-Options|X-XSS-Protection|Referrer-Policy|Permissions-Policy"""
    r"""|Cross-Origin-\w+-Policy|Content-Disposition|Vary|no-store|nosniff|SAMEORIGIN|DENY"""
    r"""|Cookie|HttpOnly|SameSite)["']"""
)
_HEADER_ATTRIBUTES = syntax.word_set(
    "vary content_security_policy x_frame_options strict_transport_security no_store"
)
_SETTING = re.compile(
    r"SECURE|HTTPONLY|SAMESITE|CSRF|CSP|HSTS|COOKIE|AUTH|PERMISSION|PASSWORD_|VALIDATOR|ALLOWED_"
    r"|SESSION|THROTTLE|RATELIMIT|VERIFY|SANDBOX|SAFE|LIMIT|MAX_"
)


def find(pair: Pair, sides: DefinitionPairs) -> Iterator[Removal]:
    """What the new code of a definition sets less safely."""
    if pair.new is None:
        return
    yield from _headers(pair, pair.new, sides)
    yield from _assigned(pair, pair.new, sides)
    yield from _anchors(pair, pair.new)


def _headers(pair: Pair, new: Code, sides: DefinitionPairs) -> Iterator[Removal]:
    before, after = _header_uses(pair.old), _header_uses(new)
    for name, lines in before.items():
        gone = [line for line in lines if pair.removes(line)]
        moved = (
            sides.added_words[name] >= sides.removed_words[name] > 0
            or f'"{name}"' in sides.added_text
        )
        if gone and len(after.get(name, ())) < len(lines) and not moved:
            message = f"Is the header part `{name}` still sent? {pair.place} set it here."
            yield Removal(HEADER, gone[0], message)


def _header_uses(code: Code) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for node in code.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if _HEADER.fullmatch(f'"{node.value}"'):
                found.setdefault(node.value, []).append(node.lineno)
        elif isinstance(node, ast.Attribute) and node.attr in _HEADER_ATTRIBUTES:
            found.setdefault(node.attr, []).append(node.end_lineno or node.lineno)
    return found


def _assigned(pair: Pair, new: Code, sides: DefinitionPairs) -> Iterator[Removal]:
    """Settings with a safe value that are gone or have an unsafe one."""
    after = _settings(new)
    for name, value in _settings(pair.old).items():
        if not pair.removes(value.lineno):
            continue
        now = after.get(name)
        if now is None and not sides.added_words[name] and sides.removed_words[name] == 1:
            if sides.sets_elsewhere(name):
                continue
            if _is_literal(value) and name not in new.names and not vocabulary.is_limit(name):
                message = f"Is the default of `{name}` as safe? {pair.place} set it here."
                yield Removal(FLAG, value.lineno, message)
        elif now is not None and _off(now) and not _off(value):
            rule = LIMIT if vocabulary.is_limit(name) else FLAG
            message = (
                f"Is `{name} = {ast.unparse(now)}` safe? It was `{shown(ast.unparse(value))}`."
            )
            yield Removal(rule, value.lineno, message)


def _is_literal(value: ast.expr) -> bool:
    """Whether a value is written out, and not one that turns something off."""
    kinds = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict)
    return isinstance(value, kinds) and not _off(value)


def _off(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value in (False, None, 0, "", -1)


def _settings(code: Code) -> dict[str, ast.expr]:
    """Name or key -> value, of assignments and of pairs in dictionaries."""
    found: dict[str, ast.expr] = {}
    for node in code.nodes:
        pairs = zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
        for target, value in (*syntax.assigned(node), *pairs):
            name = _key(target)
            if name.isupper() and _SETTING.search(name):
                found[name] = value
    return found


def _key(target: ast.expr | None) -> str:
    if isinstance(target, ast.Subscript):
        target = target.slice
    if isinstance(target, ast.Constant):
        return target.value if isinstance(target.value, str) else ""
    return syntax.last_name(target) if target is not None else ""


def _anchors(pair: Pair, new: Code) -> Iterator[Removal]:
    """Patterns that no longer have to match from the start or to the end."""
    after = _patterns(new)
    for name, (line, pattern) in _patterns(pair.old).items():
        now = after.get(name, (0, ""))[1]
        if not now or now == pattern or not pair.removes(line):
            continue
        lost = [
            mark
            for mark, has in (("^", str.startswith), ("$", str.endswith), (r"\Z", str.endswith))
            if has(pattern, mark) and not has(now, mark)
        ]
        if lost and not (now.endswith((r"\Z", "$")) and lost != ["^"]):
            message = f"May `{name}` match more? Its pattern lost `{lost[0]}` in {pair.place}."
            yield Removal(PATTERN, line, message)


def _patterns(code: Code) -> dict[str, tuple[int, str]]:
    found: dict[str, tuple[int, str]] = {}
    for node in code.nodes:
        for target, value in syntax.assigned(node):
            match value:
                case ast.Call(
                    func=function, args=[ast.Constant(value=str(pattern)) as first, *_]
                ) if syntax.last_name(function) == "compile":
                    found[_key(target)] = (first.lineno, pattern)
                case _:
                    pass
    return found


def floors(file: ChangedFile) -> Iterator[Removal]:
    """Requirements in `file` that now allow an older release."""
    name = file.path.rsplit("/", 1)[-1].lower()
    if not (name in ("setup.py", "setup.cfg", "pyproject.toml") or "requirements" in file.path):
        return
    now = dict(filter(None, map(_floor, file.added.values())))
    for line, text in file.removed.items():
        found = _floor(text)
        if found and found[0] in now and now[found[0]] < found[1]:
            message = f"Are releases of {found[0]} before {found[1]} safe? They are allowed now."
            yield Removal(FLOOR, line, message)


def _floor(line: str) -> tuple[str, Version] | None:
    """The package that a line requires, and the oldest release that it allows."""
    text = re.split(r"\s[#\\]|\s--", line)[0].strip(" \t,\"'")
    try:
        wanted = Requirement(text)
    except InvalidRequirement:
        return None
    floors = (one for one in wanted.specifier if one.operator in (">=", ">", "==", "~="))
    versions = [Version(one.version.removesuffix(".*")) for one in floors]
    return (canonicalize_name(wanted.name), max(versions)) if versions else None
