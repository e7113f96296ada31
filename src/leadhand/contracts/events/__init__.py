"""Events: frozen records of what happened in a run. The log of them is the run.

Events are slotted dataclasses, not models: a run of 100,000 tasks keeps about 200,000 of them, and
most of their cost is what the garbage collector has to walk. `parse` validates them; our own code
is typed.
"""

import dataclasses
import functools
import inspect
from contextlib import suppress
from typing import Annotated, TypeVar, Union, get_args

from pydantic import Field, TypeAdapter

from leadhand.contracts.data import with_field_docs
from leadhand.contracts.events import run as _run
from leadhand.contracts.events import task as _task
from leadhand.contracts.events.fields import RunEvent as RunEvent
from leadhand.contracts.events.fields import TaskEvent as TaskEvent
from leadhand.contracts.events.run import *  # noqa: F403
from leadhand.contracts.events.task import *  # noqa: F403

Event = Union[  # noqa: UP007 (`|` has no docstring)
    _run.RunLevelEvent,
    _task.TaskPlanned,
    _task.TaskDispatched,
    _task.ModelCalled,
    _task.ToolCalled,
    _task.AttemptEnd,
    _task.TaskDecision,
    _task.TaskSkipped,
    _task.WorkerStuck,
    _run.BreakerOpened,
    _run.BreakerClosed,
]
"""One thing that happened in a run: a frozen instance of a class in `leadhand.events`."""


def _describe(union: object) -> None:
    """Have `help` show the classes of events, the fields of all of them, and each one's own."""
    common = inspect.signature(RunEvent).parameters
    lines = ["A frozen instance of one of these classes; `help` of each says more.", ""]
    for kind in get_args(union):
        own = [str(one) for one in inspect.signature(kind).parameters.values()]
        own = [one for one in own if one.partition(":")[0] not in common]
        lines.append(f"  leadhand.events.{kind.__name__}({', '.join(own)})")
        with_field_docs(kind)
    lines += ["", "Fields of every event:", "", *(f"  {one}" for one in common.values())]
    with suppress(AttributeError):  # from Python 3.14 a union takes none
        union.__doc__ = "\n".join(lines)


_describe(Event)


E = TypeVar("E", bound=RunEvent)


@functools.cache
def adapter() -> TypeAdapter[Event]:
    """Built on first use, because that takes a tenth of a second."""
    return TypeAdapter(Annotated[Event, Field(discriminator="type")])


def parse(line: str | bytes) -> Event:
    """The inverse of `dump`. Raises `pydantic.ValidationError`."""
    return adapter().validate_json(line)


def dump(event: Event) -> str:
    return adapter().dump_json(event).decode()


# A nested run does not know that it is nested. Its events go into the log of the outer run, under
# the task that the nested run carries out.

_OWN_TASK = TaskEvent | _task.ModelCalled | _run.ApprovalRequested | _run.ApprovalGiven
"""Events whose `task_id` is a task of their own run."""


def nested(event: E, task_id: str) -> E:
    """The event of a nested run that carries out `task_id`, as the outer run records it."""
    within = (task_id, *event.within)
    if isinstance(event, _OWN_TASK):
        own = f"{task_id}/{event.task_id}" if event.task_id is not None else task_id
        return dataclasses.replace(event, within=within, task_id=own)
    return dataclasses.replace(event, within=within)


def unnested(event: E) -> E:
    """The event as the nested run one level down recorded it; the inverse of `nested`."""
    task_id, *deeper = event.within
    within = tuple(deeper)
    if isinstance(event, _OWN_TASK) and event.task_id is not None:
        own = event.task_id.removeprefix(f"{task_id}/") if event.task_id != task_id else None
        return dataclasses.replace(event, within=within, task_id=own)
    return dataclasses.replace(event, within=within)
