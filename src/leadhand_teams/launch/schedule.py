"""Places tasks backwards from a date: latest starts, slack and the critical path. Pure.

The critical path method (Kelley and Walker 1959) on working days, Monday to Friday.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter

from leadhand_teams.launch.output import ScheduledTask


@dataclass(frozen=True, slots=True)
class LaunchTask:
    """A task as it is handed in."""

    name: str
    days: int
    """Working days that it takes."""
    depends_on: tuple[str, ...] = ()
    owner: str | None = None
    ref: str = ""
    is_estimated: bool = True
    """Whether its source says how long it takes."""


def placed(tasks: Sequence[LaunchTask], launch: dt.date) -> list[ScheduledTask]:
    """Every task as late as possible so that all end before `launch`, in the order of their start.

    Raises `CycleError` if tasks wait for each other.
    """
    by_name = {task.name: task for task in tasks}
    before = {task.name: [name for name in task.depends_on if name in by_name] for task in tasks}
    order = list(TopologicalSorter(before).static_order())
    after: dict[str, list[str]] = {name: [] for name in order}
    for name, needed in before.items():
        for one in needed:
            after[one].append(name)
    earliest: dict[str, int] = {}
    for name in order:
        earliest[name] = max((earliest[one] + by_name[one].days for one in before[name]), default=0)
    total = max((earliest[name] + by_name[name].days for name in order), default=0)
    latest: dict[str, int] = {}
    for name in reversed(order):
        latest[name] = min((latest[one] for one in after[name]), default=total) - by_name[name].days
    found = [_placed(by_name[name], latest[name], earliest[name], total, launch) for name in order]
    return sorted(found, key=lambda one: (one.start, one.end, one.task))


def _placed(
    task: LaunchTask, latest: int, earliest: int, total: int, launch: dt.date
) -> ScheduledTask:
    start = back(launch, total - latest)
    end = back(launch, total - latest - task.days + 1) if task.days else start
    return ScheduledTask(
        task=task.name, start=start, end=end, days=task.days, slack=latest - earliest,
        critical=latest == earliest, ref=task.ref, owner=task.owner,
        depends_on=list(task.depends_on),
    )  # fmt: skip


def back(day: dt.date, working_days: int) -> dt.date:
    """The date so many working days before `day`."""
    while working_days > 0:
        day -= dt.timedelta(days=1)
        working_days -= day.weekday() < 5
    return day


def launch_after(day: dt.date, working_days: int) -> dt.date:
    """The day after so many working days, of which `day` is the first if it is one."""
    working_days += day.weekday() > 4
    while working_days > 0:
        day += dt.timedelta(days=1)
        working_days -= day.weekday() < 5
    return day


def working_days(start: dt.date, end: dt.date) -> int:
    """The working days from `start` up to the day before `end`; 0 if there are none."""
    weeks, rest = divmod(max(0, (end - start).days), 7)
    return weeks * 5 + sum((start.weekday() + n) % 7 < 5 for n in range(rest))
