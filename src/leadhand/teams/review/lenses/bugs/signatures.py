"""Compares the arguments of a call with the parameters of a function."""

import ast

from leadhand.teams.review.lenses.syntax import Function, defaults


def mismatch(function: Function, call: ast.Call, *, bound: bool) -> str | None:
    """Why the call fails, as in "needs `x`"; `None` if it fits or that is unknown.

    With `bound`, the call omits the first parameter (`self`).
    """
    if _open(call):
        return None
    found = function.args
    positional = _positional(function, bound=bound)
    if len(call.args) > len(positional) and found.vararg is None:
        return f"takes {len(positional)} positional arguments, not {len(call.args)}"
    keywords = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
    known = set(positional) - {one.arg for one in found.posonlyargs}
    known |= {one.arg for one in found.kwonlyargs}
    unknown = sorted(keywords - known)
    if unknown and found.kwarg is None:
        return f"has no parameter `{unknown[0]}`"
    filled = set(positional[: len(call.args)])
    twice = sorted(filled & keywords & known)
    if twice:
        return f"gets `{twice[0]}` twice"
    missing = [name for name in _required(function, bound=bound) if name not in filled | keywords]
    return f"needs `{missing[0]}`" if missing else None


def moved_parameter(old: Function, new: Function, call: ast.Call, *, bound: bool) -> str | None:
    """The first parameter that moved, for a call that passes it by its old position; or `None`."""
    if _open(call):
        return None
    before, after = _positional(old, bound=bound), _positional(new, bound=bound)
    for place, name in enumerate(before[: len(call.args)]):
        if place < len(after) and after[place] != name and name in after:
            return f"takes `{after[place]}` where it took `{name}`"
    return None


def _open(call: ast.Call) -> bool:
    """Whether the call passes an unknown number of arguments."""
    return any(isinstance(argument, ast.Starred) for argument in call.args) or any(
        keyword.arg is None for keyword in call.keywords
    )


def _positional(function: Function, *, bound: bool) -> list[str]:
    found = function.args
    names = [one.arg for one in (*found.posonlyargs, *found.args)]
    return names[1:] if bound else names


def _required(function: Function, *, bound: bool) -> list[str]:
    keywords = [one.arg for one in function.args.kwonlyargs]
    names = [*_positional(function, bound=bound), *keywords]
    return [name for name in names if name not in defaults(function)]
