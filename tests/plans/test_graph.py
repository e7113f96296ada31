"""The task graph: order, cycles and paths."""

import random

from hypothesis import given
from hypothesis import strategies as st

from leadhand.contracts.task import Plan
from leadhand.engine.run_tasks import Dependencies
from leadhand.plans import graph
from tests.plans.samples import edges, plan, plans, task

DIAMOND = plan(task("a"), task("b", "a"), task("c", "a"), task("d", "b", "c"))


def test_order_puts_every_task_after_those_it_needs() -> None:
    assert graph.order(DIAMOND.tasks) == ["a", "b", "c", "d"]


def test_order_leaves_out_what_lies_on_or_behind_a_cycle() -> None:
    tasks = plan(task("a"), task("b", "c"), task("c", "b"), task("d", "c")).tasks
    assert graph.order(tasks) == ["a"]


def test_a_cycle_is_given_as_its_path() -> None:
    """F11"""
    needs = {"a": ("b",), "b": ("c",), "c": ("d", "a"), "d": ()}
    assert graph.cycle(needs) == ["a", "b", "c", "a"]


def test_a_cycle_of_fifty_thousand_tasks_is_found_without_recursion() -> None:
    count = 50_000
    needs = {str(n): (str((n + 1) % count),) for n in range(count)}
    way = graph.cycle(needs)
    assert way is not None
    assert len(way) == count + 1


def test_self_edges_and_unknown_ids_are_no_cycles() -> None:
    assert graph.cycle({"a": ("a", "nobody"), "b": ("a",)}) is None


def test_the_critical_path_is_the_longest_chain_in_seconds() -> None:
    seconds = {"a": 1.0, "b": 2.0, "c": 5.0, "d": 1.0}
    assert graph.critical_path(DIAMOND.tasks, seconds) == (7.0, ("a", "c", "d"))
    assert graph.critical_path((), {}) == (0.0, ())


def test_the_remaining_path_counts_tasks_where_no_durations_are_known() -> None:
    assert graph.remaining_path(DIAMOND.tasks) == {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}


def test_descendants_are_all_that_depend_on_a_task_directly_or_not() -> None:
    after = graph.dependants(DIAMOND.tasks)
    assert graph.descendants(after, "b") == {"d"}
    assert graph.descendants(after, "a") == {"b", "c", "d"}


@given(plans())
def test_acyclic_plans_have_no_cycle_and_a_full_order(any_plan: Plan) -> None:
    assert graph.cycle(edges(any_plan.tasks)) is None
    position = {id: n for n, id in enumerate(graph.order(any_plan.tasks))}
    assert len(position) == len(any_plan.tasks)
    for one in any_plan.tasks:
        assert all(position[needed] < position[one.id] for needed in one.depends_on)


@given(plans(), st.randoms(use_true_random=False))
def test_the_frontier_ends_every_task_once_and_never_before_its_dependencies(
    any_plan: Plan, chance: random.Random
) -> None:
    dependencies = Dependencies(any_plan.tasks)
    by_id = {one.id: one for one in any_plan.tasks}
    gave: dict[str, bool] = {}
    ready = dependencies.ready()
    while ready:
        id = ready.pop(chance.randrange(len(ready)))
        assert set(by_id[id].depends_on) <= set(gave)
        gave[id] = chance.random() < 0.7
        more, skipped = dependencies.finish(id, gave_result=gave[id])
        for skipped_id, blame in skipped:
            assert gave[blame] is False
            assert skipped_id not in gave
            assert not by_id[skipped_id].tolerates_missing
            gave[skipped_id] = False
        ready += more
    assert set(gave) == set(by_id)
    for one in any_plan.tasks:
        if gave[one.id]:
            assert one.tolerates_missing or all(gave[needed] for needed in one.depends_on)
