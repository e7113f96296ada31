"""The formats that installed packages add for runs of their teams."""

import asyncio
from collections.abc import Callable
from typing import cast

from leadhand.contracts.summary import RunView
from leadhand.errors import InputError
from leadhand.journal import StoreJournal
from leadhand.journal.store import Store
from leadhand.run.reading import run_view
from leadhand.state.run_state import RunState
from leadhand.teams.installed import FORMATS, entry_points, imported, unusable


def answer_text(store: Store, state: RunState) -> str:
    """The answer in the format `text` of the run's team and an empty line; else empty."""
    has_text = f"{state.team}.text" in entry_points(FORMATS)
    if not has_text or state.answer is None or state.answer.output is None:
        return ""
    return formatted(store, state.run_id, "text") + "\n"


def formatted(store: Store, run_id: str, format: str) -> str:
    """Raises `InputError` if there is no such format of its team."""
    view = asyncio.run(run_view(StoreJournal(store), run_id))
    name = f"{view.team}.{format}"
    points = entry_points(FORMATS).get(name)
    if points is None:
        prefix = f"{view.team}."
        there = [
            one.removeprefix(prefix) for one in entry_points(FORMATS) if one.startswith(prefix)
        ]
        has = f"has {', '.join(there)}" if there else "has none of its own"
        raise InputError(f"--format {format}: team {view.team!r} {has}; see also --json")
    render = cast("Callable[[RunView], object]", imported("format", name, points))
    try:
        document = render(view)
    except (Exception, SystemExit) as error:  # the package's code may raise anything
        why = f"{type(error).__name__}: {error}"
        raise InputError(unusable("format", name, points[0], why)) from error
    if not isinstance(document, str):
        why = f"it gives {type(document).__name__} instead of str"
        raise InputError(unusable("format", name, points[0], why))
    return document
