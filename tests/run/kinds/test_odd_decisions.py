"""Odd decisions of a stepwise planner, by a model or by code: there is always an answer."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import pytest

from leadhand import Handoff, Supervisor, Task
from leadhand.contracts.answer import Answer
from leadhand.contracts.events import RunStarted
from leadhand.contracts.planner_kinds import Decision, Round
from leadhand.errors import ModelError
from leadhand.journal import MemoryJournal
from leadhand.testing import VirtualClock, run_virtual
from leadhand.testing.json_data import Object
from tests.handles import resumed
from tests.models.in_process import InProcess
from tests.run.kinds.kinds import KINDS, RUN, around, deciding, supervisor, team, works
from tests.run.kinds.test_stepwise import DONE, Steps, find, start
from tests.run.kinds.test_stepwise import supervisor as by_code
from tests.run.kinds.test_stepwise import team as team_by_code
from tests.run.resuming.story import Stops, kept, told

STEPWISE = next(kind for kind in KINDS if kind.name == "stepwise")
FIRST = "Find the figures of the café on copper"


def asks(intent: str = FIRST, *, id: str = "x", worker: str = "a", needs: str = "") -> Object:
    needed = [needs] if needs else []
    return {"id": id, "worker": worker, "intent": intent, "depends_on": [*needed]}


def decides(*tasks: Object) -> Object:
    return {"reason": "why", "tasks": [*tasks], "ask_again": "all", "done": False}


def answered(*decisions: Object) -> Answer:
    """The answer if a model decides this, round by round."""
    model = InProcess(script=list(deciding(*decisions)))
    by = supervisor(team(STEPWISE, model.model, run=works))
    return run_virtual(by.run("Compare copper and zinc"))


@pytest.mark.parametrize(
    ("again", "why"),
    [
        ([asks("Find the figures of the cafe\u0301 on COPPER!", id="y")], "the same as 'x'"),
        ([asks("Find the fig\u200bures of the caf\u00e9 on copper", id="y")], "the same as 'x'"),
        ([asks("Find the \uff46igures of the café on copper", id="y")], "the same as 'x'"),
        ([asks("Find zinc", id="y", worker="nobody")], "'nobody', who is not in team"),
        ([asks("Find zinc", id="y", needs="gone")], "depends on 'gone', which is not in the plan"),
        ([asks("Find zinc", id="y", needs="y")], "depends on itself"),
        ([asks(f"Find metal {n}", id=f"y{n}") for n in range(500)], "the plan has 500 tasks"),
        ([asks(f"Find metal {n}", id=f"y{n}") for n in range(200)], "the plan has 201 tasks"),
        (["tasks"], "tasks[0]"),
    ],
)
def test_a_decision_of_a_model_that_cannot_be_done_ends_the_rounds(
    again: list[Object], why: str
) -> None:
    answer = answered(decides(asks()), decides(*again))
    assert (answer.status, [task.id for task in answer.tasks]) == ("partial", ["x"])
    assert why in answer.gaps[0].why


def test_a_round_may_name_the_worker_of_an_earlier_task_instead_of_the_task() -> None:
    again = asks("Find zinc", id="y", worker="b", needs="a")
    done: Object = {"reason": "it is all there", "tasks": [], "ask_again": "all", "done": True}
    answer = answered(decides(asks()), decides(again), done)
    assert (answer.status, [task.id for task in answer.tasks]) == ("complete", ["x", "y"])
    assert answer.metrics.requests == 4, "three decisions, no repair, and the answer"


def test_a_first_decision_that_stays_invalid_is_replaced_by_the_template() -> None:
    """The answer's first sentence says so."""
    answer = answered(decides(asks(needs="gone"), asks("Find zinc", id="y")))
    assert [task.id for task in answer.tasks] == ["a", "b", "c"], "the template's"
    assert "no valid plan came from the model" in answer.answer.lower().split(".")[0]


def test_the_first_decision_may_not_ask_for_the_same_thing_twice_either() -> None:
    answer = answered(decides(asks(), asks(f"{FIRST}.", id="y")))
    assert [task.id for task in answer.tasks] == ["a", "b", "c"], "the template's"


@dataclass
class ByCode:
    """Decides what `odd` gives, in the first round or in the one after `x`."""

    odd: Callable[[], object]
    round: int
    name: str = "code"

    async def decide(
        self, now: Round, *, problems: Callable[[Decision], Sequence[str]]
    ) -> Decision:
        if now.number < self.round:
            return start(find("x"))
        return cast("Decision", self.odd())


def raising(error: BaseException) -> Callable[[], object]:
    def odd() -> object:
        raise error

    return odd


UNSOUND = Task.model_construct(id="y", worker="a", intent=7)


@pytest.mark.parametrize("round", [1, 2])
@pytest.mark.parametrize(
    ("odd", "why"),
    [
        (raising(ValueError("no idea")), "the planner failed: ValueError: no idea"),
        (raising(StopAsyncIteration()), "the planner failed: StopAsyncIteration"),
        (lambda: None, "the planner gave no Decision but NoneType"),
        (lambda: "done", "the planner gave no Decision but str"),
        (lambda: Decision(cast("tuple[Task, ...]", None)), "tasks: 'NoneType' object is not iter"),
        (lambda: Decision((UNSOUND,)), "tasks.0.intent: Input should be a valid string"),
        (lambda: Decision((find("y"),), cast("str", 7)), "reason: Input should be a valid string"),
        (lambda: start(find("y"), asks_after="never"), "asks_after: Input should be 'first' or"),
    ],
)
def test_whatever_a_planner_by_code_does_there_is_an_answer_that_says_it(
    odd: Callable[[], object], why: str, round: int
) -> None:
    by = Supervisor(team_by_code(), planner=ByCode(odd, round), clock=VirtualClock())
    answer = run_virtual(by.run("Compare"))
    assert answer.status == ("failed" if round == 1 else "partial")
    assert why in answer.gaps[0].why


class Odd(BaseException):
    """What no `except Exception` catches."""


@pytest.mark.parametrize("error", [Odd(), GeneratorExit(), asyncio.CancelledError()])
def test_no_run_waits_for_a_planner_that_is_gone(error: BaseException) -> None:
    by = Supervisor(team_by_code(), planner=ByCode(raising(error), 2), clock=VirtualClock())
    answer = run_virtual(by.run("Compare"))
    assert answer.metrics.makespan_s == 0
    assert answer.gaps[0].why == "round 2 was not decided: the planner failed"


def test_a_list_of_tasks_is_as_good_as_a_tuple() -> None:
    listed = Decision(cast("tuple[Task, ...]", [find("y")]), done=True)
    by = Supervisor(team_by_code(), planner=ByCode(lambda: listed, 2), clock=VirtualClock())
    assert [task.id for task in run_virtual(by.run("Compare")).tasks] == ["x", "y"]


def test_a_nested_run_that_is_done_again_starts_anew_wherever_the_process_is_killed() -> None:
    model = InProcess(script=list(STEPWISE.script))
    of = around(team(STEPWISE, model.model, run=works))
    journal = Stops()
    run_virtual(supervisor(of, journal=journal).run("Compare", run_id=RUN))
    first = len(journal.store.events(RUN))
    whole = run_virtual(resumed(supervisor(of, journal=journal), RUN, from_task="inner"))
    events = journal.store.events(RUN)
    for stop in [commit for commit in journal.commits if commit > first]:
        left: MemoryJournal = kept(events[:stop])
        assert told(run_virtual(resumed(supervisor(of, journal=left), RUN))) == told(whole)
        started = [one for one in left.store.events(RUN) if isinstance(one, RunStarted)]
        assert [one.within for one in started] == [(), ("inner",), ("inner",)]


def test_a_task_that_a_resumed_run_tries_again_is_new_to_the_planner() -> None:
    is_out = True

    async def flaky(handoff: Handoff) -> str:
        if is_out and handoff.task_id == "x":
            raise ConnectionError("the line is dead")
        return handoff.task_id

    journal, of = MemoryJournal(), team_by_code(flaky)
    down = Steps([start(find("x")), start(find("y")), ModelError("no model", transient=True)])
    run_virtual(by_code(down, of, journal=journal).run("Compare", run_id=RUN))
    assert [now.new for now in down.seen] == [set(), {"x"}, {"y"}]
    is_out, again = False, Steps([DONE, DONE, start(find("z")), DONE])
    answer = run_virtual(resumed(by_code(again, of, journal=journal), RUN))
    assert answer.status == "complete"
    assert [now.new for now in again.seen] == [{"y"}, {"x", "z"}]
