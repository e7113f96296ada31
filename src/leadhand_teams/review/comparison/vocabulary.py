"""The words by which code names its protections, and which expressions are replies of refusal."""

import ast
import re
from collections.abc import Iterable

from leadhand_teams.review import syntax
from leadhand_teams.review.syntax import words_of

_VERBS = words_of("comparison.verbs")
"""A function with one of these words protects something."""
_NOUNS = words_of("comparison.nouns")
"""A function that checks one of these protects something."""
_CHECKS = words_of("comparison.checks")
_EXACT = words_of("comparison.exact")
_CLEANS = re.compile(r"clean_(?!up|all|old|dirs?|files?|cache|tmp)\w+")
_LIMITS = syntax.pattern_of("vocabulary.limits")
_NOT_LIMITS = syntax.pattern_of("vocabulary.not_limits")
_ACCESS = words_of("comparison.access")
_DENIALS = words_of("comparison.denials")
_ENCODERS = words_of("comparison.encoders")
WRITES = words_of("comparison.writes")
"""Functions that a function which encodes a text may be made of."""
_GUARDING = words_of("comparison.guarding")
_NOT_GUARDING = words_of("comparison.not_guarding")
_SAFETY = _VERBS | _NOUNS | _ACCESS | _DENIALS | {"scheme", "netloc", "host"}
_REFUSALS = _ACCESS | {"redirect", "denied", "error", "errors", "errcode", "reject", "rejected"}
_STATUS = syntax.pattern_of("vocabulary.status")


def protects(name: str) -> bool:
    """Whether a function of this name checks, limits or makes something safe."""
    return checks(name) or (is_limit(name) and name != "max")


def checks(name: str) -> bool:
    """Whether a function of this name checks something or makes it safe."""
    found = set(syntax.words(name))
    known = name in _EXACT or bool(_CLEANS.fullmatch(name))
    return known or bool(found & _VERBS) or bool(found & _CHECKS and found & _NOUNS)


def guards(name: str) -> bool:
    """Whether a decorator or base class of this name protects what it is put on."""
    words = set(syntax.words(name))
    return bool(words & _GUARDING) and not words & _NOT_GUARDING


def encodes(name: str) -> bool:
    """Whether a function of this name only writes a text in a safe form."""
    return not _ENCODERS.isdisjoint(syntax.words(name))


def about_safety(names: Iterable[str]) -> bool:
    """Whether these names speak of protection, or of what decides where a request goes."""
    return any(not _SAFETY.isdisjoint(syntax.words(name)) for name in names)


def about_access(names: Iterable[str]) -> bool:
    """Whether these names speak of identity or permissions."""
    return any(not _ACCESS.isdisjoint(syntax.words(name)) for name in names)


def is_limit(name: str) -> bool:
    """Whether a parameter, keyword or constant of this name limits something."""
    if name == "MAX":
        return False  # the name of a member rather than of a limit
    lower = name if name.isupper() is False else name.lower()
    return bool(_LIMITS.search(lower)) and not _NOT_LIMITS.search(lower)


def is_error_status(node: ast.expr) -> bool:
    """Whether an expression is an HTTP status of 400 to 599, as a number or by its name."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, int):
            if 400 <= part.value <= 599:
                return True
        elif isinstance(part, ast.Attribute) and _STATUS.search(part.attr):
            return True
    return False


def refusing_value(value: ast.expr) -> str:
    """What a returned value that rejects a request is called; empty if it rejects nothing."""
    match value:
        case ast.Tuple(elts=[_, *rest]) if any(is_error_status(part) for part in rest):
            return "return"
        case ast.Call(func=function):
            name = syntax.last_name(function)
            if _REFUSALS & set(syntax.words(name)) or name.endswith("BadRequest"):
                return name
            given = (*value.args, *(keyword.value for keyword in value.keywords))
            return name if any(map(is_error_status, given)) else ""
        case ast.Dict(keys=keys):
            named = {key.value for key in keys if isinstance(key, ast.Constant)}
            return "return" if named & {"error", "errors", "errcode"} else ""
        case _:
            return ""


def denies(refusal: ast.stmt) -> bool:
    """Whether a refusal is a 4xx status or a permission error."""
    if isinstance(refusal, ast.Return) and refusal.value is not None:
        return bool(refusing_value(refusal.value))
    names = {
        name
        for node in ast.walk(refusal)
        if isinstance(node, ast.Name | ast.Attribute)
        for name in syntax.words(syntax.last_name(node))
    }
    return bool(names & (_ACCESS | _DENIALS)) or any(
        is_error_status(node) for node in ast.walk(refusal) if isinstance(node, ast.expr)
    )


def is_logging(function: ast.expr) -> bool:
    """Whether a function writes a log line."""
    name = syntax.dotted(function)
    return bool({"log", "logger", "logging", "warnings"} & set(syntax.words(name)))


def speaks_of_access(node: ast.AST) -> bool:
    """Whether a text in `node` speaks of identity or permissions."""
    return any(
        isinstance(part, ast.Constant)
        and isinstance(part.value, str)
        and not _ACCESS.isdisjoint(re.findall(r"[a-z]+", part.value.lower()))
        for part in ast.walk(node)
    )
