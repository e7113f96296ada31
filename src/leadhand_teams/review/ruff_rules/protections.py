"""Judges of ruff's security rules: whether something is at stake, and whether a caller decides."""

import ast
import re

from leadhand_teams.review.ruff_rules.hits import RuffHit, ruff_message
from leadhand_teams.review.syntax import FUNCTIONS, Tree, dotted, words, words_of

CALLERS_CHOICE = words_of("protections.callers_choice")
"""Words of conditions that leave the decision to a caller or a setting."""

_PROTECTED = words_of("protections.protected")


def is_callers_choice(tree: Tree, node: ast.AST) -> bool:
    """Whether a condition or the name of the function around `node` shows that a caller decides."""
    function = tree.enclosing(node, *FUNCTIONS)
    around = ast.walk(function) if function is not None else tree.ancestors(node)
    tests = [ast.unparse(one.test) for one in around if isinstance(one, ast.If | ast.IfExp)]
    named = words(function.name) if function is not None else []
    chosen = not CALLERS_CHOICE.isdisjoint(words(" ".join(tests)))
    return chosen or not {"unverified", "insecure", "noverify"}.isdisjoint(named)


def without_callers_choice(hit: RuffHit) -> str | None:
    """Not where a caller decides."""
    return None if hit.call and is_callers_choice(hit.tree, hit.call) else ruff_message(hit)


def protects(hit: RuffHit) -> str | None:
    """Only if names say that the hash protects a password, a signature or the like.

    Checksums and cache keys are left alone.
    """
    node = hit.call
    if node is None:
        return None
    about = ", ".join(ast.unparse(one) for one in node.args)
    found = [word for word in words(f"{about} {_target(hit, node)}") if word in _PROTECTED]
    algorithm = re.search(r"\b(?:md[245]|sha1?)\b", ast.unparse(node), re.IGNORECASE)
    what = algorithm[0] if algorithm else dotted(node.func)
    return f"`{what}` is used to protect `{found[0]}`." if found else None


def world_writable(hit: RuffHit) -> str | None:
    """Only masks that let every user write, without the sticky bit."""
    node = hit.call
    modes = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)] if node else []
    numbers = [mode for mode in modes if isinstance(mode, int)]
    named = node is not None and re.search(r"\bS_(?:IWOTH|IRWXO)\b", ast.unparse(node))
    if not named and not any(mode & 0o002 and not mode & 0o1000 for mode in numbers):
        return None
    return ruff_message(hit)


def binds(hit: RuffHit) -> str | None:
    """Only the address of a socket: other code compares and shows such addresses."""
    node = hit.call
    if node is None or not dotted(node.func).endswith(".bind"):
        return None
    return "The socket accepts connections on every interface."


def _target(hit: RuffHit, node: ast.AST) -> str:
    """The name that the statement around `node` assigns to; empty if it assigns to none."""
    statement = hit.tree.statement(node)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    return ast.unparse(target).rsplit(".", 1)[-1] if target is not None else ""
