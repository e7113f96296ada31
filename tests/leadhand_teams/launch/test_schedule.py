"""Tasks are placed backwards from the launch, as late as the date allows."""

import datetime as dt
from graphlib import CycleError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadhand_teams.launch.schedule import (
    LaunchTask,
    back,
    launch_after,
    placed,
    working_days,
)

FRIDAY = dt.date(2026, 10, 2)
MONDAY = dt.date(2026, 10, 5)


def test_the_critical_path_ends_on_the_working_day_before_the_launch() -> None:
    tasks = [
        LaunchTask("tooling", 5),
        LaunchTask("photos", 2, ("tooling",)),
        LaunchTask("pilot", 3, ("tooling",)),
        LaunchTask("shop", 1, ("photos", "pilot")),
    ]
    found = {one.task: one for one in placed(tasks, MONDAY)}
    assert found["shop"].start == found["shop"].end == FRIDAY
    assert (found["pilot"].start, found["pilot"].end) == (
        dt.date(2026, 9, 29),
        dt.date(2026, 10, 1),
    )
    assert found["tooling"].start == dt.date(2026, 9, 22)
    assert {name for name, one in found.items() if one.critical} == {"tooling", "pilot", "shop"}
    assert found["photos"].slack == 1


def test_weekends_are_not_worked() -> None:
    assert back(MONDAY, 1) == FRIDAY
    assert back(MONDAY, 6) == dt.date(2026, 9, 25)
    assert working_days(dt.date(2026, 9, 25), MONDAY) == 6
    assert working_days(MONDAY, FRIDAY) == 0


def test_tasks_that_wait_for_each_other_are_named() -> None:
    with pytest.raises(CycleError) as circle:
        placed([LaunchTask("a", 1, ("b",)), LaunchTask("b", 1, ("a",))], MONDAY)
    assert set(circle.value.args[1]) == {"a", "b"}


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 1023)), min_size=1, max_size=10))
def test_no_task_begins_before_what_it_depends_on_has_ended(
    drawn: list[tuple[int, int]],
) -> None:
    tasks = [
        LaunchTask(str(n), days, tuple(str(one) for one in range(n) if needs >> one & 1))
        for n, (days, needs) in enumerate(drawn)
    ]
    found = {one.task: one for one in placed(tasks, MONDAY)}
    for one in found.values():
        assert one.slack >= 0
        assert one.end < MONDAY or not one.days
        for name in one.depends_on:
            if one.days and found[name].days:
                assert found[name].end < one.start
    assert any(one.critical for one in found.values())


def test_the_earliest_launch_is_on_the_first_working_day_after_the_work() -> None:
    friday, saturday = dt.date(2027, 10, 1), dt.date(2027, 10, 2)
    assert launch_after(friday, 1) == dt.date(2027, 10, 4)
    assert launch_after(saturday, 1) == dt.date(2027, 10, 5)
    assert working_days(friday, launch_after(friday, 12)) == 12
