"""A worker function that returns None, on purpose, by mistake, or against its annotation."""

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal, Protocol, TypedDict

import pytest

from leadhand import Handoff, Supervisor, Team, Worker
from leadhand.contracts.events import TaskRetried
from leadhand.contracts.outcome import Completed, Failed, Outcome, Result
from leadhand.workers.function import FunctionWorker
from leadhand.workers.processes import ProcessPool, ProcessWorker
from leadhand.workers.returns import outcome_of_none
from tests.stored import store_of
from tests.workers.worker_samples import Invoice, forgotten, make_handoff, meant

HANDOFF = make_handoff()
NOTHING = Completed(result=Result())


class Row(TypedDict):
    number: int


class Sized(Protocol):
    size: int


def run(function: Callable[[Handoff], object], output: object = None) -> Outcome:
    return asyncio.run(FunctionWorker(function, output=output).run(HANDOFF))


async def meant_later(handoff: Handoff) -> None:
    """The same in the event loop."""


def unannotated(handoff: Handoff):  # type: ignore[no-untyped-def]
    """It may have forgotten to return something."""


def returning(annotation: object) -> Callable[..., object]:
    """A function that returns nothing and is annotated like that."""

    def function(handoff: Handoff) -> object:
        return None

    function.__annotations__["return"] = annotation
    return function


@pytest.mark.parametrize("function", [meant, meant_later, functools.partial(meant)])
def test_a_function_annotated_none_completes_without_output(
    function: Callable[[Handoff], object], caplog: pytest.LogCaptureFixture
) -> None:
    assert run(function) == NOTHING
    assert caplog.records == []


def test_an_unannotated_function_completes_with_one_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    worker = Worker("quiet", "Says nothing", run=unannotated)
    for _ in range(2):
        answer = Supervisor(Team("one", workers=(worker,))).run_sync("do it")
        assert (answer.status, answer.output) == ("complete", None)
    (warning,) = [one for one in caplog.records if one.levelno >= logging.WARNING]
    assert warning.getMessage() == (
        "worker 'quiet' returned nothing: return its output, or annotate the function `-> None`"
    )


@pytest.mark.parametrize(
    "annotation",
    [str, list[str], "Invoice", int | str, Annotated[str, "a name"], Literal["a"], Row,
     Awaitable[str], Outcome],
    ids=str,
)  # fmt: skip
def test_an_annotation_that_excludes_none_makes_it_a_failure(annotation: object) -> None:
    outcome = outcome_of_none(returning(annotation), None, worker="w")
    assert isinstance(outcome, Failed)
    assert (outcome.kind, outcome.transient) == ("invalid_output", False)
    assert outcome.message.startswith("the worker returned None, not ")


@pytest.mark.parametrize(
    "annotation",
    [None, str | None, "Invoice | None", object, Any, Annotated[str | None, "a name"],
     Literal["a", None], Awaitable[None], Sized, "NoSuchName"],
    ids=str,
)  # fmt: skip
def test_an_annotation_that_may_allow_none_completes(annotation: object) -> None:
    assert outcome_of_none(returning(annotation), None, worker="w") == NOTHING


@pytest.mark.parametrize("output", [Invoice, str, list[int], {"type": "object"}], ids=str)
def test_a_declared_output_that_excludes_none_is_a_failure(output: object) -> None:
    outcome = run(meant, output)
    assert isinstance(outcome, Failed)
    assert (outcome.kind, outcome.transient) == ("invalid_output", False)


@pytest.mark.parametrize("output", [Invoice | None, {"type": ["object", "null"]}, {}], ids=str)
def test_a_declared_output_that_allows_none_completes(output: object) -> None:
    assert run(forgotten, output) == NOTHING


@pytest.mark.wall_clock
async def test_a_worker_process_tells_the_same_apart() -> None:
    async with ProcessPool(1) as pool:
        workers = [
            ProcessWorker(meant, pool),
            ProcessWorker(forgotten, pool),
            ProcessWorker(meant, pool, output=Invoice),
        ]
        fine, annotated, declared = [await worker.run(HANDOFF) for worker in workers]
    assert fine == NOTHING
    for outcome in (annotated, declared):
        assert isinstance(outcome, Failed)
        assert outcome.kind == "invalid_output"


@pytest.mark.parametrize("isolate", [None, "process"])
def test_none_of_these_is_retried(isolate: str | None) -> None:
    """F38: the same call would return the same."""
    kept = {"isolate": isolate} if isolate else {}
    worker = Worker("w", "Works", run=meant, output=Invoice, **kept)  # pyright: ignore[reportArgumentType, reportCallIssue]
    supervisor = Supervisor(Team("one", workers=(worker,)))
    answer = supervisor.run_sync("do it")
    assert answer.status == "failed"
    assert answer.tasks[0].attempts == 1
    events = store_of(supervisor).events(answer.run_id)
    assert not any(isinstance(event, TaskRetried) for event in events)
