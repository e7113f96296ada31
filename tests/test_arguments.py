"""Wrong arguments of teams, plans and options: one line that says what, where and what to do."""

import dataclasses
import inspect
import pydoc
import sys
from collections.abc import Callable
from typing import get_args

import pytest
from pydantic import BaseModel, ValidationError

from leadhand import (
    Budget,
    Event,
    InputError,
    Ladder,
    Limits,
    Plan,
    Reply,
    Retry,
    Role,
    Route,
    Task,
    TaskTemplate,
    Team,
    Worker,
    WorkerFactory,
)
from leadhand.contracts.budget import Rate
from leadhand.contracts.ladder import RetryRules
from leadhand.contracts.task import PlannedWorker
from leadhand.contracts.worker import (
    AgentWorkerFields,
    FunctionWorkerFields,
    ModelWorkerFields,
    TeamWorkerFields,
)


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        (Worker, {"tier": "large"}, "`tier` is 'large' and must be 'fast', 'standard' or 'strong'"),
        (Worker, {"tools": len}, "`tools` is a builtin_function_or_method and must be a list"),
        (Worker, {"limits": {"timeout": 5}}, "there is no `limits.timeout`"),
        (Worker, {"retry": 5}, "`retry.bool` is 5 and must be true or false"),
        (Worker, {"name": ""}, "Worker '': `name` is '' and must not be empty"),
        (Team, {"judge": {"temperature": 1}}, "there is no `judge.temperature`"),
        (Team, {"workers": [1, "x"]}, "Team 'a': `workers.0` is 1 and must be a Worker"),
        (Ladder, {"failed": ["retri"]}, "`failed.0` is 'retri' and must be 'retry', "),
        (Retry, {"on": ValueError}, "Retry: `on` is a type and must be a list"),
        (Budget, {"usd": -1}, "Budget: `usd` is -1 and must be greater than 0"),
        (Rate, {"rpm": 0}, "Rate: `rpm` is 0 and must be greater than or equal to 1"),
        (TaskTemplate, {"limits": {}, "id": 5, "worker": "b", "intent": "x"}, "`id` is 5 and must"),
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


def test_many_wrong_arguments_are_counted_and_those_without_a_name_are_named() -> None:
    with pytest.raises(InputError, match="Worker: `name` is 5 and must be text"):
        Worker(5, "b")  # pyright: ignore[reportArgumentType]
    many = dict.fromkeys(("tier", "tools", "retry", "role", "team", "isolate", "limits"), 5)
    with pytest.raises(InputError, match=r"; and 2 more problems$"):
        Worker("a", "b", **many)  # pyright: ignore[reportArgumentType, reportCallIssue]


def test_an_argument_that_a_dataclass_does_not_have_is_pythons_own_error() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'timeout_s'"):
        Worker("a", "b", timeout_s=2)  # pyright: ignore[reportArgumentType, reportCallIssue]


ARGUMENTS = (
    Budget, Ladder, Limits, Plan, PlannedWorker, Rate, Reply, Retry, RetryRules, Role, Route, Task,
    TaskTemplate, Team, Worker, WorkerFactory,
)  # fmt: skip


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_help_shows_fields_with_types_defaults_and_docstrings(kind: type[object]) -> None:
    shown = {*inspect.signature(kind).parameters}
    is_dataclass = not issubclass(kind, BaseModel)
    if is_dataclass:
        assert type(kind) is type
    assert not {"args", "kwargs", "named"} & shown
    text = pydoc.plain(pydoc.render_doc(kind))
    assert "*args" not in text.partition("Methods defined here")[0]
    for name in shown if is_dataclass else ():
        assert f"\n |    {name}: " in text, name


def test_help_quotes_what_the_source_says_of_a_field() -> None:
    text = pydoc.plain(pydoc.render_doc(Worker))
    assert " |    tier: Tier | None = None\n |        The tier of model to start with" in text
    assert " |    planner: " in pydoc.plain(pydoc.render_doc(Team))
    assert Route.__doc__ is not None
    assert Route.__doc__.startswith("A routing rule: requests that meet any of its conditions")


@pytest.mark.parametrize("kind", get_args(Event))
def test_help_shows_the_fields_of_each_event(kind: type[Event]) -> None:
    text = pydoc.plain(pydoc.render_doc(kind))
    for name in inspect.signature(kind).parameters:
        assert f"\n |    {name}: " in text, name
    assert "Position in the log, from 1, without gaps." in text
    if sys.version_info < (3, 14):  # where a union takes no docstring
        union = pydoc.plain(pydoc.render_doc(Event))
        assert f" leadhand.events.{kind.__name__}(" in union
        assert "\n      elapsed_s: float\n" in union


def test_a_changed_copy_is_checked_too() -> None:
    with pytest.raises(InputError, match="`name` is 5 and must be text"):
        dataclasses.replace(Worker("a", "b"), name=5)


def test_checkers_know_every_argument_of_a_worker() -> None:
    kinds = (ModelWorkerFields, FunctionWorkerFields, AgentWorkerFields, TeamWorkerFields)
    known = {"name", "description"}.union(*(kind.__annotations__ for kind in kinds))
    assert known == {field.name for field in dataclasses.fields(Worker)}


def test_data_that_is_read_has_the_errors_of_pydantic_with_all_places() -> None:
    with pytest.raises(ValidationError, match=r"(?s)tasks\.0\.intent.+tasks\.1\.worker"):
        Plan.model_validate({"goal": "x", "tasks": [{"id": "a", "worker": "b"}, {"id": "a"}]})
