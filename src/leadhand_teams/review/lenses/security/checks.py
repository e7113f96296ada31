"""The names that a condition checks; their values are trusted in the code after it.

Generous on purpose: any condition that could tell a good value from a bad one counts as a check.
"""

import ast
import itertools

from leadhand_teams.review.syntax import dotted, last_name, words, words_of

_NO_CHECKS = words_of("checks.no_checks")
_IDENTITY = words_of("checks.identity")
"""A check of a user's identity says nothing about the user's input."""
_MAX_NODES = 400


def checked_names(test: ast.expr) -> set[str]:
    """The names (`name` or `self.name`) that `test` checks."""
    found: set[str] = set()
    for node in itertools.islice(ast.walk(test), _MAX_NODES):
        if isinstance(node, ast.Call):
            last = last_name(node.func)
            if last not in _NO_CHECKS and not _IDENTITY & set(words(last)):
                owner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
                found |= _names(*node.args, *(one.value for one in node.keywords), *owner)
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for operator, (left, right) in zip(node.ops, itertools.pairwise(sides), strict=True):
                both = (left, right)
                empty = any(isinstance(one, ast.Constant) and not one.value for one in both)
                if isinstance(operator, ast.In | ast.NotIn):
                    found |= _names(left, *([right] if isinstance(left, ast.Constant) else []))
                elif isinstance(operator, ast.Eq | ast.NotEq) and not empty:
                    found |= _names(*both)
    return found - {"", "self", "cls"}


def _names(*nodes: ast.expr) -> set[str]:
    """The names (`name` or `self.name`) in `nodes`."""
    return {
        dotted(part)
        for node in nodes
        for part in itertools.islice(ast.walk(node), _MAX_NODES)
        if isinstance(part, ast.Name | ast.Attribute)
    }
