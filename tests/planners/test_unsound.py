"""A run whose planner gives no sound plan ends in an answer document, like every other failure."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from leadhand import PlanError, Role, Route, Supervisor, TaskTemplate, Team, Worker
from leadhand.contracts.events import ModelCalled, PlanProposed, PlanRejected
from leadhand.contracts.outcome import Handoff
from leadhand.contracts.planner_kinds import PlannerKind
from leadhand.contracts.task import Plan, PlanRequest
from leadhand.journal import MemoryJournal
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json, Object
from tests.handles import resumed
from tests.in_process import InProcess
from tests.planners.planners import MODEL, proposal, proposing, task, team
from tests.plans.samples import plan
from tests.plans.samples import task as plan_task
from tests.stored import store_of
from tests.team_folders import worker, write_team

UNSOUND: dict[str, tuple[Sequence[Json], str]] = {
    "a cycle": ([task("a", "search", "b"), task("b", "search", "a")], "a -> b -> a"),
    "a self-dependency": ([task("a", "search", "a"), task("b")], "task 'a' depends on itself"),
    "a duplicate id": ([task("a"), task("a")], "more than one task has the id 'a'"),
    "an unknown worker": ([task("a", "cook")], "'cook', who is not in team"),
    "no tasks": ([], "the plan has no tasks"),
    "no plan at all": (["x"], "tasks[0]: "),
}


@pytest.mark.parametrize(("tasks", "problem"), UNSOUND.values(), ids=UNSOUND)
def test_a_plan_that_stays_unsound_ends_in_an_answer_that_names_its_problems(
    server: ScriptedServer, tasks: Sequence[Json], problem: str
) -> None:
    """F11"""
    server.reset(script=proposing(proposal(*tasks)))
    supervisor = Supervisor(_that_only_changes_things())
    answer = supervisor.run_sync("Compare the prices of copper and zinc since 2019")
    assert (answer.status, answer.tasks) == ("failed", ())
    ((id, why),) = [(gap.task_id, gap.why) for gap in answer.gaps]
    assert id == "plan"
    assert "the planner gave no valid plan" in why
    assert problem in why
    rejected = [
        event
        for event in store_of(supervisor).events(answer.run_id)
        if isinstance(event, PlanRejected)
    ]
    assert len(rejected) == 3
    assert any(problem in one for one in rejected[-1].problems)


def test_a_template_stands_in_for_a_plan_that_stays_unsound(server: ScriptedServer) -> None:
    server.reset(script=proposing(proposal(task("a", "cook"))))
    own = Team(
        "t",
        model=MODEL,
        workers=(Worker("words", "Counts", run=_counted),),
        template=(TaskTemplate("count", "words", "count the words of: {request}"),),
    )
    answer = Supervisor(own).run_sync("three small words")
    assert (answer.status, [one.id for one in answer.tasks]) == ("complete", ["count"])


@pytest.mark.parametrize("kind", ["ahead", "stepwise"])
def test_each_worker_gets_the_request_if_there_is_neither_a_plan_nor_a_template(
    server: ScriptedServer, kind: PlannerKind
) -> None:
    """Models still work, and the answer's first sentence says who got it."""
    unsound: Object = {"json": {"tasks": [task("a", "cook")], "reason": "", "done": False}}
    found: Object = {"json": {"answer": "zinc rose", "summary": "", "confidence": 90}}
    joined: Object = {"json": {"answer": "Zinc rose.", "contradictions": list[Json]()}}
    script: list[Object] = [
        {"match": {"role": "planner"}, "reply": unsound},
        {"match": {"role": "worker"}, "reply": found},
        {"reply": joined},
    ]
    server.reset(script=script)
    own = team(planner=Role(kind=kind))
    writes = Worker("orders", "Orders metals", read_only=False)
    own = replace(own, workers=[*own.workers, writes])
    supervisor = Supervisor(own)
    answer = supervisor.run_sync("Compare the prices of copper and zinc since 2019")
    assert [(one.id, one.status) for one in answer.tasks] == [
        ("search", "completed"),
        ("count", "completed"),
    ]
    lead = "*No valid plan came from the model; the whole request went to search and count.*"
    assert (answer.engine, answer.answer.splitlines()[0]) == ("model", lead)
    (plan,) = [
        one
        for one in store_of(supervisor).events(answer.run_id)
        if isinstance(one, PlanProposed) and one.by == "template"
    ]
    assert plan.why == "no valid plan came from the model"


def test_the_default_worker_gets_the_request_instead_if_there_is_one(
    server: ScriptedServer,
) -> None:
    server.reset(
        script=[
            {"match": {"role": "planner"}, "reply": {"text": "I would look at zinc first."}},
            {"reply": {"json": {"answer": "Zinc rose.", "summary": "", "confidence": 90}}},
        ]
    )
    routes = [Route("count", words=["sum"]), Route("search")]
    own = replace(team(planner=Role(kind="ahead")), routes=routes)
    answer = Supervisor(own).run_sync("Compare the prices of copper and zinc since 2019")
    assert [(one.id, one.status) for one in answer.tasks] == [("search", "completed")]
    assert "the whole request went to search.*" in answer.answer.splitlines()[0]


def test_a_dependency_on_no_task_is_removed_from_the_only_task_and_that_is_recorded(
    server: ScriptedServer,
) -> None:
    server.reset(script=proposing(proposal(task("a", "search", "charges"))))
    supervisor = Supervisor(team())
    answer = supervisor.run_sync("Compare the prices of copper and zinc since 2019")
    events = store_of(supervisor).events(answer.run_id)
    asked = [one for one in events if isinstance(one, ModelCalled) and one.role == "planner"]
    rejected = [one.problems for one in events if isinstance(one, PlanRejected)]
    assert (len(asked), [one.id for one in answer.tasks]) == (1, ["a"])
    said = "'a' is the only task, and depends on 'charges': code removed that"
    assert rejected == [(said,)]


def _that_only_changes_things() -> Team:
    """A team whose workers get no task that a model did not plan."""
    own = team()
    return replace(own, workers=[replace(one, read_only=False) for one in own.workers])


def test_offline_code_stands_in_where_every_worker_has_it(server: ScriptedServer) -> None:
    unsound: Object = {"json": proposal(task("a", "cook"))}
    server.reset(script=[{"match": {"role": "planner"}, "reply": unsound}])
    own = Team("t", model=MODEL, workers=(Worker("words", "Counts", offline=_counted),))
    answer = Supervisor(own).run_sync("three small words")
    assert [(one.id, one.status) for one in answer.tasks] == [("words", "completed")]


class _Planner:
    """A planner of the user's own."""

    name = "own"

    def __init__(self, gives: Plan | Exception) -> None:
        self._gives = gives

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        """The plan that it was made with, or that exception."""
        if isinstance(self._gives, Exception):
            raise self._gives
        return self._gives


def _counted(handoff: Handoff) -> int:
    return len(handoff.intent.split())


OWN = Team("t", workers=(Worker("words", "Counts", run=_counted),))


@pytest.mark.parametrize(
    ("gives", "why"),
    [
        (plan(plan_task("a", "a", worker="words")), "task 'a' depends on itself"),
        (RuntimeError("no route to planner"), "the planner failed: RuntimeError: no route to"),
    ],
    ids=["unsound", "raises"],
)
def test_whatever_a_planner_of_ones_own_gives_or_raises_there_is_an_answer(
    gives: Plan | Exception, why: str
) -> None:
    answer = Supervisor(OWN, planner=_Planner(gives)).run_sync("count")
    assert answer.status == "failed"
    assert why in answer.gaps[0].why


def test_a_plan_that_a_person_hands_in_is_refused_with_every_problem_named() -> None:
    """F11"""
    broken = plan(*(plan_task(f"t{n}", worker=f"nobody-{n}") for n in range(20)))
    with pytest.raises(PlanError) as rejected:
        Supervisor(OWN).run_sync(plan=broken)
    assert all(f"'nobody-{n}'" in str(rejected.value) for n in range(20))


def test_a_plan_that_a_changed_team_can_not_carry_out_is_kept_for_the_old_one() -> None:
    """On resume the team is refused, not the plan: there is no new plan."""
    journal = MemoryJournal()
    whole = Supervisor(OWN, approve=["plan"], journal=journal)
    given = plan(plan_task("a", worker="words"))
    waiting = whole.run_sync(plan=given)
    other = Team("t", workers=(Worker("others", "Counts", run=_counted),))

    with pytest.raises(PlanError, match="'words'"):
        asyncio.run(resumed(Supervisor(other, journal=journal), waiting.run_id))
    again = asyncio.run(resumed(whole, waiting.run_id))
    assert [question.plan for question in again.waiting] == [given]
    proposed = [
        one for one in journal.store.events(waiting.run_id) if isinstance(one, PlanProposed)
    ]
    assert len(proposed) == 1


def test_the_command_line_prints_the_answer_document_of_a_run_without_a_sound_plan(
    server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_process: InProcess
) -> None:
    server.reset(script=proposing(proposal(task("a", "cook"))))
    by_model = worker("description: Writes\nread_only: false").replace(
        "offline: tests.team_folders:work\n", ""
    )
    write_team(tmp_path / "crew", f"name: crew\nmodel: {MODEL}\n", writer=by_model, clerk=by_model)
    monkeypatch.chdir(tmp_path)
    command = ["run", "Write a letter", "--team", "crew", "--json", "--home", "runs"]
    ended = in_process(*command)
    document = json.loads(ended.out)
    assert ended.status == 3
    assert (document["status"], document["tasks"]) == ("failed", [])
    assert "'cook', who is not in team" in document["gaps"][0]["why"]
