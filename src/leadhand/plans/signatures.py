"""Checks that leadhand can call a function, by its signature; runs nothing."""

import inspect
from collections.abc import Callable


def handoff_problem(function: Callable[..., object]) -> str | None:
    """Why `function` can't be called with only a handoff. An unknown signature is accepted."""
    return _misfit(function, "handoff")


def role_problem(role: str, run: object) -> str | None:
    """Why `run` can't be the code of a planner, a synthesizer or a report."""
    names, methods = {
        "planner": (("request", "team"), ["plan", "decide"]),
        "synthesizer": (("plan", "results"), ["synthesize"]),
        "report": (("answer",), []),
    }[role]
    is_class = isinstance(run, type)
    if own := [one for one in methods if hasattr(run, one) and not is_class]:
        return None if hasattr(run, "name") else f"an object with `{own[0]}` needs a `name` too"
    if callable(run) and not is_class:
        return _misfit(run, *names)
    what = "a class" if is_class else f"of type {type(run).__name__}"
    objects = f", or an object with `{'` or `'.join(methods)}`" if methods else ""
    return f"it is {what}; write a function{objects}"


def _misfit(function: Callable[..., object], *names: str) -> str | None:
    try:
        # A decorator's own signature counts, not that of the function it wraps.
        signature = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(*names)
    except TypeError:
        name = getattr(function, "__name__", None) or type(function).__name__
        bare = [one.replace(annotation=one.empty) for one in signature.parameters.values()]
        shown = signature.replace(parameters=bare, return_annotation=signature.empty)
        count = "one argument" if len(names) == 1 else "two arguments"
        return (
            f"{name}{shown} can't be called with {count}, the {' and the '.join(names)}: "
            f"write `def {name}({', '.join(names)}): ...`"
        )
    return None
