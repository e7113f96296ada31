"""Tasks are read from a plan that is still being written, piece by piece."""

import json
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadhand.planners.task_reader import TaskReader

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('{}[],:"\\a\U0001f600é \n'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('tasks"{}'), inner),
    max_leaves=8,
)
TASK = st.dictionaries(st.sampled_from(["id", "worker", 'in"tent', "depends_on", "tasks"]), JSON)
PLAN = st.dictionaries(st.sampled_from(["goal", "synthesis", "a,b", "t"]), JSON)


def read(pieces: Iterable[str]) -> list[object]:
    """All tasks in the pieces of a plan."""
    reader = TaskReader()
    return [task for piece in pieces for task in reader.feed(piece)]


@given(
    PLAN,
    st.lists(TASK | st.integers(0, 9), max_size=4),
    PLAN,
    st.booleans(),
    st.sampled_from([None, 2]),
    st.sampled_from(["", "The plan:\n```json\n", 'I have "it": ']),
    st.lists(st.integers(0, 400), max_size=6),
)
def test_the_tasks_are_those_of_the_whole_plan_however_it_is_cut(
    before: dict[str, object],
    tasks: list[object],
    after: dict[str, object],
    ascii: bool,
    indent: int | None,
    words: str,
    cuts: list[int],
) -> None:
    plan = {**before, "tasks": tasks, **after}
    text = json.dumps(plan, ensure_ascii=ascii, indent=indent)
    whole = words + text + ("\n```" if words else "")
    wanted: list[object] = [task for task in json.loads(text)["tasks"] if task.__class__ is dict]
    edges = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    assert read(whole[start:end] for start, end in pairwise(edges)) == wanted
    assert read(whole) == wanted  # character by character


def test_a_task_is_given_as_soon_as_it_ends() -> None:
    text = json.dumps({"tasks": [{"id": "a", "intent": "find } and ]"}, {"id": "b"}], "goal": "x"})
    reader = TaskReader()
    ends = [at for at, sign in enumerate(text) for _ in reader.feed(sign)]
    assert [text[: at + 1].count('"id"') for at in ends] == [1, 2]
    assert all(text[at] == "}" for at in ends)
    assert reader.ended


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ('{"tasks": [{"id": "a"}, {"id": "\\ud800"}, {"id": "c"}]}', ["a"]),
        ('{"tasks": [{"id": "a"}, {"id": NaN}, {"id": "c"}]}', ["a"]),
        ('{"tasks": [{"id": "a", "x": ' + "[" * 100_000 + "]" * 100_000 + "}]}", []),
        ('{"tasks": {"a": {"id": "a"}}}', []),
        ('{"plan": {"tasks": [{"id": "a"}]}}', []),
        ('{"tasks": [[{"id": "a"}], {"id": "b"}]}', ["b"]),
        ('{"tasks": [{"id": "a"}]} {"tasks": [{"id": "b"}]}', ["a"]),
        ("no plan at all, \"tasks\": [{'id'}", []),
        ('{"t\\u0061sks": [{"id": "\ud83d"}]}', ["\ufffd"]),
    ],
)
def test_what_can_not_be_read_ends_the_reading(text: str, ids: list[str]) -> None:
    found = [task["id"] for piece in (text, "") for task in TaskReader().feed(piece)]
    assert found == ids
