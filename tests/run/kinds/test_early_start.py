"""Tasks start while the planner still writes; nothing of it is lost, whatever it writes (F11)."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from leadhand import Handoff, Plan, Reply, Supervisor, Task, Team, Worker, WorkerFactory
from leadhand.contracts.answer import Answer
from leadhand.contracts.events import (
    Event,
    PlanAccepted,
    TaskCancelled,
    TaskDispatched,
    TaskEvent,
    TaskPlanned,
)
from leadhand.contracts.people import Question
from leadhand.contracts.team import TaskTemplate
from leadhand.contracts.tools import is_read_only, may_start_early
from leadhand.journal import MemoryJournal
from leadhand.plans.team_checks import team_problems
from leadhand.run.work_step import NOT_IN_PLAN
from leadhand.state.fold import fold
from leadhand.testing import ScriptedModel, VirtualClock, run_virtual
from leadhand.testing.json_data import Json, Object, compact
from tests.run.kinds.kinds import REQUEST
from tests.run.resuming.story import RUN
from tests.simulation.rules import rules


async def works(handoff: Handoff) -> str:
    """Takes a second."""
    await asyncio.sleep(1)
    return f"{handoff.task_id} by {handoff.to_agent}"


def task(id: str, *depends_on: str, worker: str = "reader", intent: str = "") -> Object:
    """A task as the planner writes it, in about 40 tokens: most of a second."""
    needs: list[Json] = [*depends_on]
    intent = intent or f"Find the figures of part {id} on copper and on zinc, with their sources"
    return {"id": id, "worker": worker, "intent": intent, "depends_on": needs}


def writes(*tasks: Object, text: str = "{}", times: int = 1, **misbehave: Json) -> Object:
    """A rule: the planner answers by a plan, as the output tool's arguments or within a text."""
    plan: Object = {"tasks": [*tasks], "synthesis": "merge", "instruction": ""}
    reply: Object = {"json": plan} if text == "{}" else {"text": text.format(compact(plan))}
    return {
        "match": {"role": "planner"},
        "reply": {**reply, "misbehave": misbehave},
        "times": times,
    }


def model(*script: Object, tokens_per_s: float = 50.0) -> ScriptedModel:
    """A model that writes by this script."""
    return ScriptedModel(script=[*script], tokens_per_s=tokens_per_s)


def team(by: ScriptedModel, *workers: Worker, template: bool = False) -> Team:
    """A team with early start: one worker that only reads, and one that does not."""
    reader = Worker("reader", "Reads", run=works, read_only=True)
    writer = Worker("writer", "Writes", run=works)
    known = {worker.name: worker for worker in (reader, writer, *workers)}
    entries = [TaskTemplate("t", "reader", "Read all that there is")] if template else []
    return Team(
        "metals", model=by.model, workers=[*known.values()], early_start=True, template=entries
    )


def ask(
    of: Team, *, journal: MemoryJournal | None = None, **settings: object
) -> tuple[Answer, Sequence[Event]]:
    """The answer to the request, and its log, which keeps to the simulation's rules."""
    journal = journal or MemoryJournal()
    by = Supervisor(of, journal=journal, clock=VirtualClock(), **settings)  # pyright: ignore[reportArgumentType]
    answer = run_virtual(by.run(REQUEST, run_id=RUN))
    return answer, checked(journal, of)


def checked(journal: MemoryJournal, of: Team) -> Sequence[Event]:
    """The log of the run, which keeps to the simulation's rules."""
    log = journal.store.events(RUN)
    assert [*rules(log, of)] == []
    return log


def early(log: Sequence[Event]) -> list[str]:
    """The tasks that were dispatched before there was a plan."""
    planned = next((e.seq for e in log if isinstance(e, PlanAccepted)), len(log) + 1)
    return [e.task_id for e in log if isinstance(e, TaskDispatched) and e.seq < planned]


def seq(log: Sequence[Event], kind: type[Event], id: str = "") -> int:
    """The place of the last event of that kind, about that task."""
    of_kind = [event for event in log if isinstance(event, kind)]
    return max(e.seq for e in of_kind if not id or (isinstance(e, TaskEvent) and e.task_id == id))


def test_the_first_of_ten_tasks_starts_before_a_fifth_of_the_plan_is_written() -> None:
    tasks = [task(f"t{number}") for number in range(10)]
    slow = [replace(worker, run=_slow) for worker in team(model()).workers]
    answer, log = ask(team(model(writes(*tasks)), *slow))
    written_s = next(event.elapsed_s for event in log if isinstance(event, PlanAccepted))
    starts = [event.elapsed_s for event in log if isinstance(event, TaskDispatched)]
    assert starts[0] < written_s / 5
    assert early(log) == [f"t{number}" for number in range(10)]
    waiting, _ = ask(replace(team(model(writes(*tasks)), *slow), early_start=False))
    assert (answer.status, waiting.status) == ("complete", "complete")
    assert answer.answer == waiting.answer
    assert answer.metrics.makespan_s < waiting.metrics.makespan_s
    assert answer.metrics.requests == waiting.metrics.requests
    # What all would take one after the other is the same; the longest chain is shorter.
    same = answer.metrics.sequential_s - waiting.metrics.sequential_s
    assert abs(same) < 0.5  # a stream also takes its opening and its end
    assert waiting.metrics.critical_path_s == pytest.approx(waiting.metrics.makespan_s, abs=0.1)
    assert answer.metrics.critical_path_s == pytest.approx(answer.metrics.makespan_s, abs=0.1)


async def _slow(handoff: Handoff) -> str:
    await asyncio.sleep(30)
    return handoff.task_id


@pytest.mark.parametrize("text", ["{}", "{}\n", "The plan is:\n```json\n{}\n```", 'I "think" {}'])
def test_a_plan_is_read_as_arguments_of_a_call_and_as_text(text: str) -> None:
    odd = task("a", intent='Find "}]" and \\ in é, \U0001f600 and {braces} of copper')
    answer, log = ask(team(model(writes(odd, task("b"), task("c"), text=text))))
    assert (answer.status, early(log)) == ("complete", ["a", "b", "c"])
    assert fold(log).tasks["a"].task.intent == odd["intent"]


def test_a_task_waits_for_those_it_needs_and_for_the_plan_if_its_worker_may_change_things() -> None:
    tasks = [
        task("later", "base"),
        task("write", worker="writer"),
        task("after", "write"),
        task("base"),
        task("end"),
    ]
    answer, log = ask(team(model(writes(*tasks))))
    assert answer.status == "complete"
    planned = [event.task_id for event in log if isinstance(event, TaskPlanned)]
    assert planned == ["base", "later", "end"]
    assert {"base", "later"} <= {*early(log)} <= {*planned}
    assert [one.id for one in answer.tasks] == ["later", "write", "after", "base", "end"]


@pytest.mark.parametrize("case", ["approval", "own plan", "off", "undeclared"])
def test_nothing_starts_early_that_a_person_decides_on_or_that_was_not_allowed(case: str) -> None:
    async def approve(question: Question) -> Reply:
        return Reply(verdict="approved")

    of = team(model(writes(task("a"), task("b"))))
    person = approve if case == "approval" else None
    if case == "off":
        of = replace(of, early_start=False)
    elif case == "undeclared":
        of = replace(of, workers=[replace(one, read_only=None) for one in of.workers])
    elif case == "own plan":
        plan = Plan(goal="g", tasks=[Task(id="a", worker="reader", intent="Read of copper")])
        answer = Supervisor(of).run_sync(plan=plan)
        assert answer.status == "complete"
        return
    answer, log = ask(of, approve=["plan"] if person else None, person=person)
    assert (answer.status, early(log)) == ("complete", [])
    assert not any(isinstance(event, TaskPlanned) for event in log)


def tool(city: str) -> str:
    """A function of the user."""
    return city


def test_who_is_read_only() -> None:
    plain = Worker("plain", "p", tools=["read_file", "query"])
    own = Worker("own", "o", tools=["read_file", tool])
    code = Worker("code", "c", run=works)
    assert [is_read_only(one) for one in (plain, own, code)] == [True, False, False]
    assert not is_read_only(Worker("offline", "o", offline=works))
    assert not is_read_only(Worker("agent", "a", agent="module:agent"))
    assert not is_read_only(replace(plain, read_only=False))
    assert is_read_only(replace(own, read_only=True))
    assert is_read_only(Worker("t", "t", team=Team("inner", workers=[plain])))
    assert not is_read_only(Worker("t", "t", team=Team("inner", workers=[plain, own])))
    # Neither may a task start early that another worker may take over who changes things.
    falls = replace(plain, fallback="own")
    assert not may_start_early(falls, Team("x", workers=[falls, own]))
    first, second = replace(plain, role="r"), replace(own, role="r")
    assert not may_start_early(first, Team("x", workers=[first, second]))
    assert may_start_early(first, Team("x", workers=[first, own]))


def test_with_a_kind_that_writes_no_whole_plan_the_team_is_refused() -> None:
    for kind in ("stepwise", "routed", "template"):
        wrong = replace(team(model()), planner=kind)  # pyright: ignore[reportArgumentType]
        assert [one for one in team_problems(wrong) if "early_start" in one] != []
    wrong = replace(team(model()), worker_factory=WorkerFactory(tools=["calculate"]))
    assert [one for one in team_problems(wrong) if "early_start" in one] != []
    assert team_problems(team(model())) == ()


def test_started_tasks_that_the_repaired_plan_has_are_kept_and_others_cancelled() -> None:
    same, other, gone = task("same"), task("changed"), task("gone")
    unsound = [same, other, task("needs", "changed"), gone, task("x", "nowhere")]
    changed = task("changed", intent="Find the figures of tin, with their sources, and compare")
    repaired = [same, changed, task("needs", "changed"), task("new")]
    slow = Worker("reader", "Reads", run=_slow, read_only=True)
    answer, log = ask(team(model(writes(*unsound), writes(*repaired)), slow))
    assert early(log)[:4] == ["same", "changed", "gone", "new"]
    assert answer.status == "complete"
    attempts = {one.id: one.attempts for one in answer.tasks}
    assert attempts == {"same": 1, "changed": 2, "needs": 1, "new": 1}
    cancelled = [event for event in log if isinstance(event, TaskCancelled)]
    assert {event.task_id for event in cancelled} == {"changed", "gone", "needs"}
    assert {event.reason for event in cancelled} == {NOT_IN_PLAN}
    state = fold(log)
    assert state.retired["gone"].status == "cancelled"
    # Their work still counts.
    work_s = sum(one.worked_s for one in (*state.tasks.values(), *state.retired.values()))
    assert answer.metrics.sequential_s >= work_s > 4 * 30
    assert state.tasks["changed"].worked_s > 30
    assert log[-1].elapsed_s < 120


def test_after_the_first_problem_no_more_tasks_start() -> None:
    vague = task("vague", intent="process the data")
    plan = writes(task("a"), vague, task("b"), task("c"))
    log = ask(team(model(plan, writes(task("a"), task("b")))))[1]
    rejected = next(event.seq for event in log if event.type == "plan_rejected")
    assert [e.task_id for e in log if isinstance(e, TaskPlanned) and e.seq < rejected] == ["a"]
