"""Wrong arguments of teams, plans and options: one line that says what, where and what to do."""

import dataclasses
from collections.abc import Callable

import pytest
from pydantic import ValidationError

from leadhand import (
    Budget,
    InputError,
    Ladder,
    Limits,
    Plan,
    Rate,
    Reply,
    Retry,
    Role,
    Task,
    Team,
    Worker,
)


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        (Worker, {"timeout_s": 2}, "Worker 'a': there is no `timeout_s`: give `limits=Limits("),
        (Worker, {"instuctions": "x"}, "there is no `instuctions`: did you mean `instructions`?"),
        (Worker, {"tier": "large"}, "`tier` is 'large' and must be 'fast', 'standard' or 'strong'"),
        (Worker, {"tools": len}, "`tools` is a builtin_function_or_method and must be a list"),
        (Worker, {"limits": {"timeout": 5}}, "there is no `limits.timeout`"),
        (Worker, {"retry": 5}, "`retry.bool` is 5 and must be true or false"),
        (Worker, {"name": ""}, "Worker '': `name` is '' and must not be empty"),
        (Team, {"workers": [1, "x"]}, "Team 'a': `workers.0` is 1 and must be a Worker"),
        (Role, {"temperature": 1}, "there is no `temperature`: there are tier, model, settings"),
        (Ladder, {"failed": ["retri"]}, "`failed.0` is 'retri' and must be 'retry', "),
        (Retry, {"on": ValueError}, "Retry: `on` is a type and must be a list"),
        (Budget, {"usd": -1}, "Budget: `usd` is -1 and must be more than 0"),
        (Rate, {"rpm": 0}, "Rate: `rpm` is 0 and must be 1 or more"),
        (Limits, {"timeout": 5}, "Limits: there is no `timeout`: did you mean `timeout_s`?"),
        (Task, {"id": "a", "worker": "b"}, "Task 'a': `intent` is missing"),
        (Plan, {"goal": "x", "tasks": [5]}, "Plan: `tasks.0` is 5 and must be a Task"),
        (Reply, {"verdict": "approve"}, "Reply: `verdict` is 'approve' and must be 'approved', "),
    ],
)
def test_a_wrong_argument_is_named_in_one_line(
    kind: Callable[..., object], given: dict[str, object], said: str
) -> None:
    usual = {"name": "a", "description": "b"} if kind is Worker else {}
    usual = {"name": "a"} if kind is Team else usual
    with pytest.raises(InputError) as refused:
        kind(**{**usual, **given})
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert refused.value.__suppress_context__


def test_arguments_without_names_are_named_and_those_too_many_counted() -> None:
    with pytest.raises(InputError, match="Worker: `name` is 5 and must be text"):
        Worker(5, "b")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="'c' is an argument too many: give it by name"):
        Worker("a", "b", "c")  # pyright: ignore[reportCallIssue]
    many = {f"a{number}": 1 for number in range(7)}
    with pytest.raises(InputError, match=r"; and 2 more problems$"):
        Limits(**many)  # pyright: ignore[reportArgumentType]


def test_a_changed_copy_is_checked_too() -> None:
    with pytest.raises(InputError, match="`name` is 5 and must be text"):
        dataclasses.replace(Worker("a", "b"), name=5)


def test_data_that_is_read_has_the_errors_of_pydantic_with_all_places() -> None:
    with pytest.raises(ValidationError, match=r"(?s)tasks\.0\.intent.+tasks\.1\.worker"):
        Plan.model_validate({"goal": "x", "tasks": [{"id": "a", "worker": "b"}, {"id": "a"}]})
