"""How long a planner keeps trying if its model is overloaded or loses calls."""

import pytest

from leadhand import Answer, Handoff, Supervisor, Team, Worker
from leadhand.contracts.team import TaskTemplate
from leadhand.models.calls import MAX_PATIENCE_S
from leadhand.testing import VirtualClock, run_virtual
from leadhand.testing.json_data import Json, Object
from tests.models.in_process import InProcess

TASK: Object = {"id": "a", "worker": "search", "intent": "Find what moved it", "depends_on": []}
PLAN: Object = {"tasks": [TASK], "done": True}


def work(handoff: Handoff) -> str:
    """The intent."""
    return handoff.intent


def asked(
    script: list[Object], *, deadline_s: float | None = None, **fields: object
) -> tuple[Answer, InProcess]:
    """The answer of a run whose planner's model follows the script, and the model."""
    model = InProcess(script=script)
    search = Worker("search", "Finds passages", run=work)
    team = Team("metals", model=model.model, workers=[search], **fields)  # pyright: ignore[reportArgumentType]
    supervisor = Supervisor(team, clock=VirtualClock(), deadline_s=deadline_s)
    return run_virtual(supervisor.run("What moved copper?")), model


def failing(fault: Object, *, times: int | None = None) -> list[Object]:
    """A script in which so many calls fail before there is a plan; None: all."""
    rule: dict[str, Json] = {"reply": {"misbehave": fault}}
    return [{**rule, **({} if times is None else {"times": times})}, {"reply": {"json": PLAN}}]


@pytest.mark.parametrize("kind", ["ahead", "stepwise"])
@pytest.mark.parametrize("fault", ["429", "503", "500", "reset"])
def test_a_planner_goes_on_after_seven_lost_or_refused_calls(fault: str, kind: str) -> None:
    answer, model = asked(failing({fault: None}, times=7), planner=kind)
    assert answer.status == "complete"
    assert model.stats().requests >= 8


@pytest.mark.parametrize("fault", ["429", "500", "reset"])
@pytest.mark.parametrize(
    ("deadline_s", "most_s"), [(60.0, 20.0), (None, MAX_PATIENCE_S), (10_000.0, MAX_PATIENCE_S)]
)
def test_it_tries_for_a_third_of_the_deadline_and_five_minutes_and_the_run_says_so(
    fault: str, deadline_s: float | None, most_s: float
) -> None:
    answer, model = asked(failing({fault: None}), deadline_s=deadline_s)
    assert answer.status == "failed"
    assert most_s / 4 < answer.metrics.makespan_s <= most_s
    assert model.stats().requests > 4
    (gap,) = answer.gaps
    assert gap.task_id == "plan"
    assert "(tried for " in gap.why


def test_then_the_template_is_carried_out() -> None:
    template = (TaskTemplate(id="t", worker="search", intent="Find it all"),)
    answer, _ = asked(failing({"429": None}), deadline_s=60.0, template=template)
    assert [task.id for task in answer.tasks] == ["t"]
    assert answer.output == "Find it all"
    assert answer.metrics.makespan_s <= 20.0


def test_a_model_whose_key_is_refused_is_asked_once() -> None:
    answer, model = asked(failing({"401": None}))
    assert (answer.status, model.stats().requests) == ("failed", 1)
