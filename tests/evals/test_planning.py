"""Plans against gold graphs: what counts as the same task, and which dependencies count."""

import os
from pathlib import Path

import pytest
from benchmarks.first_errors import by_rules, failures
from benchmarks.gold_plans import graphs, parsed

from leadhand.evals.cases import GoldTask
from leadhand.evals.planning import compared, depth, direct_edges

WORKLOADS = Path(os.environ.get("LEADHAND_WORKLOADS", "../shared/workloads"))
needs_workloads = pytest.mark.skipif(
    not WORKLOADS.is_dir(), reason=f"no {WORKLOADS}: name the folder with LEADHAND_WORKLOADS"
)


def task(id: str, intent: str, *depends_on: str, worker: str = "") -> GoldTask:
    return GoldTask(id=id, intent=intent, depends_on=depends_on, worker=worker)


GOLD = [
    task("a", "Find the invoices of May"),
    task("b", "Search the handbook for refunds"),
    task("c", "Write a letter to the customer", "a", "b"),
]


def test_tasks_are_matched_by_their_words_whatever_their_ids_and_order() -> None:
    found = [
        task("3", "write the customer a letter", "1", "2"),
        task("2", "search for refunds in the handbook"),
        task("1", "find all invoices of May"),
    ]
    match = compared(GOLD, found)
    assert (match.nodes, match.edges) == (1, 1)
    assert match.pairs == {"a": "1", "b": "2", "c": "3"}


def test_a_task_of_another_worker_is_another_task() -> None:
    wanted = [task("a", "Find the invoices", worker="billing")]
    assert compared(wanted, [task("x", "Find the invoices", worker="reply")]).nodes == 0
    assert compared(wanted, [task("x", "Find the invoices", worker="billing")]).nodes == 1


def test_a_dependency_that_is_missing_or_too_many_costs_and_one_that_follows_does_not() -> None:
    chain = [task("a", "one"), task("b", "two", "a"), task("c", "three", "b")]
    redundant = [*chain[:2], task("c", "three", "a", "b")]
    assert compared(chain, redundant).edges == 1
    assert direct_edges(redundant) == {("a", "b"), ("b", "c")}
    assert compared(chain, [*chain[:2], task("c", "three")]).edges == pytest.approx(2 / 3)
    assert compared(chain[:2], [task("a", "one"), task("b", "two")]).edges == 0


def test_a_cycle_has_a_depth_and_ends() -> None:
    loop = [task("a", "one", "b"), task("b", "two", "a", "b")]
    assert depth(loop) == 2
    assert direct_edges(loop) == {("a", "b"), ("b", "a")}
    assert depth(GOLD) == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Node:\n1: a\n2: b\nEdge: (START,1) (1,2) (2,END)", ""),
        ("Node:\n1: a\n", "it has no list of nodes followed by edges"),
        ("Node:\n1: a\nSo we get:\nEdge: (START,1)", "a line among the nodes is no node"),
        ("Node:\n1: a\n1: b\nEdge: (START,1)", "two nodes have the same number"),
        ("Node:\n1: a\nEdge: (START,1) as you see", "there is text among the edges"),
        ("Node:\n1: a\nEdge: (1,2)", "an edge names a node that is not there"),
        ("Node:\n1: a\n2: b\nEdge: (1,2) (2,1)", "its edges form a cycle"),
    ],
)
def test_what_is_wrong_with_a_gold_graph_is_named(text: str, problem: str) -> None:
    assert parsed(text, "x").problems == ((problem,) if problem else ())


@needs_workloads
def test_every_sound_gold_graph_is_the_same_as_itself() -> None:
    found = [graph for _, graph in graphs(WORKLOADS)]
    sound = [graph.tasks for graph in found if not graph.problems]
    assert (len(found), len(sound)) == (1_570, 1_516)
    for tasks in sound:
        match = compared(tasks, tasks)
        assert (match.nodes, match.edges) == (1, 1)


@needs_workloads
def test_the_rules_name_the_agent_of_a_mistake_more_often_than_chance() -> None:
    logs = failures(WORKLOADS)
    agents = sum(by_rules(log)[0].lower() == log.agent.lower() for log in logs)
    steps = sum(by_rules(log)[1] == log.step for log in logs)
    assert (agents, steps) == (50, 26)
