"""Contradictions in data, found by code: above all, no false ones."""

import pytest
from pydantic import JsonValue

from leadhand import Team, Worker
from leadhand.contracts.answer import Conflict
from leadhand.contracts.outcome import Result, TaskResult
from leadhand.contracts.task import Task
from leadhand.synthesis.conflicts import MAX_FOUND, MAX_RESULTS, compare


def gave(
    id: str,
    output: JsonValue,
    *,
    worker: str | None = None,
    intent: str = "",
    needs: tuple[str, ...] = (),
    artifacts: tuple[str, ...] = (),
    status: str = "completed",
) -> TaskResult:
    """The result of a task, done by its own worker unless `worker` is given."""
    name = worker or f"worker-{id}"
    task = Task(
        id=id, worker=name, intent=intent or f"part {id}", depends_on=needs, artifacts=artifacts
    )
    return TaskResult(task, name, status, Result(output=output), None)


def found_in(results: list[TaskResult]) -> list[Conflict]:
    """The found conflicts."""
    return compare(results)[0]


def about(*results: TaskResult) -> list[str]:
    """What the found conflicts are about."""
    return [conflict.about for conflict in found_in([*results])]


def test_two_workers_that_give_one_key_another_value_contradict_each_other() -> None:
    found = found_in([gave("a", {"revenue": 40}), gave("b", {"revenue": 50, "runners": 3})])
    assert found == [Conflict(task_ids=("a", "b"), about="revenue is 40 in a and 50 in b")]


def test_those_who_agree_stand_together_on_one_side() -> None:
    results = [
        gave(id, {"bill": {"paid": paid}}) for id, paid in zip("abc", (1, 2, 1), strict=True)
    ]
    assert about(*results) == ["bill.paid is 1 in a, c and 2 in b"]
    assert found_in(results)[0].task_ids == ("a", "c", "b")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"revenue": 40}, {"revenue": 40.1}),
        ({"revenue": 0}, {"revenue": 0.0}),
        ({"cause": "The network"}, {"cause": " the  NETWORK."}),
        ({"owner": None}, {"owner": "Ann"}),
        ({"owner": "Ann"}, {"owner": 7}),
        ({"paid": 1}, {"paid": True}),
        ({"text": "x" * 60}, {"text": "y" * 60}),
        ({"quote": "one\nline"}, {"quote": "another"}),
        ({"tags": ["a"]}, {"tags": ["b"]}),
        ({"revenue": 40}, [40]),
        ({"huge": 10**400}, {"huge": 10**400}),
    ],
    ids=str,
)
def test_values_that_are_close_or_not_comparable_are_no_contradiction(
    one: JsonValue, other: JsonValue
) -> None:
    assert about(gave("a", one), gave("b", other)) == []


def test_numbers_that_are_too_long_to_divide_are_compared_all_the_same() -> None:
    assert len(about(gave("a", {"huge": 10**400}), gave("b", {"huge": 1.5}))) == 1


@pytest.mark.parametrize("key", ["confidence", "summary", "count", "answer", "status", "Total"])
def test_keys_that_each_worker_means_in_its_own_way_are_passed_over(key: str) -> None:
    assert about(gave("a", {key: 1}), gave("b", {key: 2})) == []


def test_one_workers_many_results_are_about_many_things() -> None:
    same = [gave(id, {"sold": n}, worker="reader") for n, id in enumerate("abc")]
    assert about(*same) == []
    assert about(*same, gave("d", {"sold": 9})) == []


def test_workers_of_one_role_share_its_work_and_are_of_a_kind() -> None:
    results = [gave("a", {"sold": 1}), gave("b", {"sold": 2})]
    assert len(found_in(results)) == 1
    readers = [Worker(f"worker-{id}", "Reads", run=str, role="reader") for id in "ab"]
    assert compare(results, Team("t", workers=readers)) == ([], "")


def test_tasks_with_the_same_words_and_artifacts_answer_one_question() -> None:
    told = [
        gave(id, {"count": n, "tags": ["x", id]}, worker="w", intent="Count it", artifacts=("f",))
        for n, id in enumerate("ab")
    ]
    assert about(*told) == ["count is 0 in a and 1 in b", "tags is [x, a] in a and [x, b] in b"]
    apart = [gave(id, {"count": n}, worker="w", intent="Count", artifacts=(id,)) for n, id in
             enumerate("ab")]  # fmt: skip
    assert about(*apart) == []


def test_the_order_of_a_list_says_nothing() -> None:
    lists: list[list[JsonValue]] = [["x", "Y", 1], [1.001, "y", "x"]]
    assert (
        about(*(gave(id, {"tags": v}, intent="same") for id, v in zip("ab", lists, strict=True)))
        == []
    )


def test_results_about_other_artifacts_are_about_something_else() -> None:
    one = gave("a", {"sold": 1}, artifacts=("x.csv", "y.csv"))
    assert about(one, gave("b", {"sold": 2}, artifacts=("z.csv",))) == []
    assert len(about(one, gave("b", {"sold": 2}, artifacts=("y.csv",)))) == 1


def test_a_result_that_rests_on_another_replaces_it() -> None:
    draft, middle = gave("a", {"revenue": 1}), gave("m", "checked", needs=("a",))
    assert about(draft, middle, gave("b", {"revenue": 2}, needs=("m",))) == []


def test_objects_with_other_names_are_other_things_and_those_of_one_name_are_compared() -> None:
    north: JsonValue = {"region": "north", "sold": 1}
    assert about(gave("a", north), gave("b", {"region": "south", "sold": 2})) == []
    assert about(gave("a", {"about": "texts"}), gave("b", {"about": "tables"})) == []
    listed: list[JsonValue] = [{"name": "A", "price": 3}, {"name": "B", "price": 4}]
    other: list[JsonValue] = [{"name": "B", "price": 5}, {"name": "A", "price": 3}, {"price": 9}]
    assert about(gave("a", {"items": listed}), gave("b", {"items": other})) == [
        "items[B].price is 4 in a and 5 in b"
    ]


def test_findings_in_one_file_are_about_different_places() -> None:
    def found(line: int) -> JsonValue:
        return {
            "findings": [{"path": "app.py", "line": line, "end_line": line, "rule": f"r{line}"}]
        }

    assert about(gave("security", found(8)), gave("bugs", found(21))) == []


def test_only_tasks_that_completed_are_compared() -> None:
    assert about(gave("a", {"x": 1}), gave("b", {"x": 2}, status="escalated")) == []


def test_there_is_an_end_to_what_is_found() -> None:
    many: dict[str, JsonValue] = {f"k{n}": n for n in range(1, 99)}
    found = about(gave("a", many), gave("b", dict.fromkeys(many, -1)))
    assert len(found) == MAX_FOUND
    enough = [gave(f"t{n}", {"sold": n}, worker="w") for n in range(MAX_RESULTS - 1)]
    two = [gave("a", {"revenue": 1}), gave("b", {"revenue": 2})]
    assert len(found_in([*enough[1:], *two])) == 1
    assert found_in([*enough, *two]) == []
