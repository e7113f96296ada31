"""A run that is told event by event, and what each event changes of its state."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import cast

from leadhand.contracts.events import Event, nested
from leadhand.state.fold import RunState, TaskState, apply
from leadhand.testing.journal_stories import NOON

Told = Callable[..., Event]
"""An event but for its stamp."""


class Run:
    """Stamps what it is told, a second apart, and applies it."""

    def __init__(self) -> None:
        self.state = RunState()

    def tell(self, told: Told, *, within: str | None = None) -> dict[str, object]:
        """What the event changes: of tasks as `a.status`, of nested runs as `a/usage`."""
        before, seq = dict(_fields(self.state)), self.state.seq + 1
        event = told(seq=seq, at=NOON, elapsed_s=float(seq), run_id="r")
        for around in reversed(within.split("/") if within is not None else ()):
            event = nested(event, around)
        apply(self.state, event)
        after = dict(_fields(self.state))
        assert after.pop("seq") == seq
        after.pop(f"{within}/seq", None)
        return {name: value for name, value in after.items() if before.get(name) != value}

    def told(self, *events: Told) -> "Run":
        """The run once it was told all these."""
        for event in events:
            self.tell(event)
        return self


def _fields(state: RunState, way: str = "") -> Iterator[tuple[str, object]]:
    for name, value in _shallow(state):
        if name == "calls":
            yield way + name, (state.calls.took_s, tuple(state.calls.filled))
        elif name in ("tasks", "retired"):
            tasks = cast("dict[str, TaskState]", value)
            yield way + name, tuple(tasks)
            for id, task in tasks.items():
                yield from _of_task(task, f"{way}{id}.")
        elif name == "questions":
            yield way + name, {id: event.question for id, event in state.questions.items()}
        else:
            yield way + name, value


def _of_task(task: TaskState, way: str) -> Iterator[tuple[str, object]]:
    for name, value in _shallow(task):
        if isinstance(value, RunState):
            yield from _fields(value, f"{way[:-1]}/")
        else:
            yield way + name, value


def _shallow(state: RunState | TaskState) -> Iterator[tuple[str, object]]:
    for field in dataclasses.fields(state):
        yield field.name, getattr(state, field.name)
