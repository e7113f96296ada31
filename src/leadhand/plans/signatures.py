"""Checks that leadhand can call a function, by its signature; runs nothing."""

import inspect
from collections.abc import Callable


def handoff_problem(function: Callable[..., object]) -> str | None:
    """Why `function` can't be called with only a handoff. An unknown signature is accepted."""
    try:
        # A decorator's own signature counts, not that of the function it wraps.
        signature = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(object())
    except TypeError:
        name = getattr(function, "__name__", None) or type(function).__name__
        bare = [one.replace(annotation=one.empty) for one in signature.parameters.values()]
        shown = signature.replace(parameters=bare, return_annotation=signature.empty)
        return (
            f"{name}{shown} can't be called with one argument, the handoff: "
            f"write `def {name}(handoff): ...`"
        )
    return None
