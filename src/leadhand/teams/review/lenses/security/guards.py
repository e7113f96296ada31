"""Which names a condition checks, so that what stands behind it is not untrusted any more.

Generous on purpose: a condition that looks at a value at all, in a way that could tell good from
bad, counts as a check of it.
"""

import ast

from leadhand.teams.review.lenses.security.names import listed, plain, words

_TELLS_NOTHING = listed(
    "exists isfile isdir lexists access isinstance hasattr len bool any all print getattr get"
    " is_file is_dir endswith strip lower upper callable str type"
)
_ABOUT_WHO = listed(
    "auth authorized authorised authorize authenticated permission permitted owner owns login"
    " logged admin role"
)
"""A check of who someone is says nothing of what they wrote."""
_MOST_NODES = 400


def checked(test: ast.expr) -> set[str]:
    """The names (`name` or `self.name`) that `test` checks."""
    found: set[str] = set()
    for count, node in enumerate(ast.walk(test)):
        if count > _MOST_NODES:
            break
        if isinstance(node, ast.Call):
            found.update(_checked_by_call(node))
        elif isinstance(node, ast.Compare):
            found.update(_checked_by_comparison(node))
    return found - {"", "self", "cls"}


def guard_words(test: ast.expr) -> frozenset[str]:
    """The words of the names in `test`."""
    found: set[str] = set()
    for count, node in enumerate(ast.walk(test)):
        if count > _MOST_NODES:
            break
        if isinstance(node, ast.Name):
            found.update(words(node.id))
        elif isinstance(node, ast.Attribute):
            found.update(words(node.attr))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.update(words(node.value[:60]))
    return frozenset(found)


def _checked_by_call(node: ast.Call) -> set[str]:
    function = node.func
    last = function.attr if isinstance(function, ast.Attribute) else plain(function)
    if last in _TELLS_NOTHING or _ABOUT_WHO & set(words(last)):
        return set()
    found = {name for arg in _arguments(node) for name in _names(arg)}
    if isinstance(function, ast.Attribute):
        found.update(_names(function.value))
    return found


def _arguments(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(keyword.value for keyword in node.keywords)]


def _checked_by_comparison(node: ast.Compare) -> set[str]:
    found: set[str] = set()
    left = node.left
    for operator, right in zip(node.ops, node.comparators, strict=True):
        if isinstance(operator, ast.In | ast.NotIn):
            found.update(_names(left))
            if isinstance(left, ast.Constant):
                found.update(_names(right))
        elif isinstance(operator, ast.Eq | ast.NotEq) and not (_empty(left) or _empty(right)):
            found.update(_names(left), _names(right))
        left = right
    return found


def _names(node: ast.expr) -> set[str]:
    """The name that `node` is, or the names that it is made of by attributes, items and calls."""
    found: set[str] = set()
    for count, part in enumerate(ast.walk(node)):
        if count > _MOST_NODES:
            break
        if isinstance(part, ast.Name | ast.Attribute):
            found.add(plain(part))
    return found


def _empty(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value
