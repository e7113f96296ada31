"""A recursive planner that is a model: what it is told, and what becomes of its odd replies."""

from dataclasses import replace

import pytest

from leadhand import Budget, Handoff, Result, Role, Supervisor, Team, Worker
from leadhand.contracts.answer import Answer
from leadhand.contracts.events import PlanAccepted
from leadhand.contracts.outcome import PlanImpact
from leadhand.contracts.planner_kinds import PlannerKind
from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.team import WorkFunction
from leadhand.journal import MemoryJournal
from leadhand.testing import VirtualClock, run_virtual
from leadhand.testing.json_data import Json, Object, mapping
from tests.handles import resumed
from tests.models.in_process import InProcess
from tests.planners.planners import said
from tests.run.kinds.kinds import REQUEST, part, plan, planning, works

RUN = "levels"


def team(model: InProcess, run: WorkFunction | None = works, **role: object) -> Team:
    return Team(
        "metals",
        model=model.model,
        workers=[Worker(name, f"Knows {name}", run=run) for name in "ab"],
        planner=Role(kind="recursive", **role),  # pyright: ignore[reportArgumentType]
    )


def ran(model: InProcess, of: Team | None = None, **settings: object) -> Answer:
    asked = Supervisor(of or team(model), clock=VirtualClock(), **settings)  # pyright: ignore[reportArgumentType]
    return run_virtual(asked.run(REQUEST))


def told(model: InProcess) -> list[str]:
    asked = [one for one in model.stats().bodies if one.get("role") == "planner"]
    return [said(one, "user")[-1] for one in asked]


def may_break_down(body: Object) -> bool:
    """Whether the schema of a planning call has the mark."""
    return "break_down" in str(mapping(body["body"])["tools"])


M = part("m", "a", "Compare copper and zinc in Chile", break_down=True)
N = part("n", "b", "Find figures on both in Peru")
X = part("x", "a", "Find copper in Chile")


def test_a_nested_planner_sees_its_part_and_little_else() -> None:
    beside: list[Object] = [part(f"n{n}", "b", f"Find figure {n} " * 40) for n in range(30)]
    model = InProcess(script=list(planning(plan(X), plan(M, *beside))))
    answer = ran(model, team(model, max_levels=1))
    assert answer.status == "complete"
    first, second = told(model)
    assert first == f"Plan this request:\n\n{REQUEST}"
    assert second.startswith(
        "Plan this request:\n\nCompare copper and zinc in Chile\n\nThis is one part of a larger"
    )
    assert "At most 169 tasks are left for it." in second
    assert f"Request: {REQUEST}\nBeside your part, `n0`: Find figure 0" in second
    assert "<data-" in second.partition("Request:")[0].rpartition("\n\n")[2]
    assert "and 10 more tasks beside it" in second
    assert len(second) < 6_000
    asked = [one for one in model.stats().bodies if one.get("role") == "planner"]
    assert [may_break_down(one) for one in asked] == [True, False], (
        "the last level breaks nothing down"
    )


def test_broken_down_at_every_level_it_ends_at_the_limit() -> None:
    both: list[Json] = [
        part("p", "a", "Find part {} of it", break_down=True),
        part("q", "b", "Find the rest"),
    ]

    def deeper(levels: int) -> Object:
        parts = [mapping(one) for one in both]
        parts[0] = {**parts[0], "intent": f"Find what is below level {levels}"}
        return plan(*parts)

    script: list[Object] = [
        {
            "match": {"role": "planner", "contains": f"Find what is below level {levels}\n\nThis"},
            "reply": {"json": deeper(levels + 1)},
        }
        for levels in range(4)
    ]
    model = InProcess(
        script=[*script, {"match": {"role": "planner"}, "reply": {"json": deeper(0)}}]
    )
    events: list[object] = []
    asked = Supervisor(team(model), clock=VirtualClock())
    answer = run_virtual(asked.run(REQUEST, listener=events.append))
    assert answer.status == "complete"
    accepted = [event for event in events if isinstance(event, PlanAccepted)]
    assert [len(event.within) for event in accepted] == [0, 1, 2, 3]
    # Five leaves in four plans of two tasks: at the last level the mark is not in the schema.
    assert model.stats().requests == answer.metrics.requests == 4 + 4


def test_a_part_that_repeats_its_whole_is_refused_and_the_others_go_on() -> None:
    again = part("again", "a", "compare COPPER, and zinc in Chile!", break_down=True)
    model = InProcess(script=list(planning(plan(again, X), plan(M, N))))
    answer = ran(model)
    assert answer.status == "partial"
    (gap,) = answer.gaps
    assert "'again' is to be broken down and repeats what this plan is for" in gap.why
    assert len(told(model)) == 1 + 3, "it may correct itself twice"
    assert "is to be broken down and repeats what" in str(model.stats().bodies[-1])


def test_a_plan_that_is_one_task_to_be_broken_down_is_refused() -> None:
    one = part("one", "a", "Find all on metals, in other words", break_down=True)
    model = InProcess(script=[{"match": {"role": "planner"}, "reply": {"json": plan(one)}}])
    answer = ran(model)
    assert answer.status == "failed"
    assert "the plan is task 'one' alone, which is to be broken down" in answer.gaps[0].why


@pytest.mark.parametrize(
    ("mark", "broken_down"),
    [(True, True), ("true", True), (1, True), (None, False), ("no", False), (False, False)],
)
def test_marks_are_read_leniently(mark: Json, broken_down: bool) -> None:
    model = InProcess(script=list(planning(plan(X), plan({**M, "break_down": mark}, N))))
    answer = ran(model)
    assert answer.status == "complete"
    assert [task.worker for task in answer.tasks] == [SUBPLANNER if broken_down else "a", "b"]


@pytest.mark.parametrize("mark", ["perhaps", 2, [], {"by": "a"}])
def test_other_marks_are_told_and_may_be_corrected(mark: Json) -> None:
    wrong: Object = {
        "match": {"role": "planner"},
        "reply": {"json": plan({**M, "break_down": mark}, N)},
        "times": 1,
    }
    model = InProcess(script=[wrong, *planning(plan(X), plan(N))])
    assert ran(model).status == "complete"
    assert "tasks[0].break_down: Input should be" in str(model.stats().bodies[-1])


@pytest.mark.parametrize("kind", ["ahead", "stepwise", None])
def test_a_mark_that_was_not_asked_for_is_ignored(kind: PlannerKind | None) -> None:
    given: Object = {**plan(M, N), "done": True}
    model = InProcess(script=[{"match": {"role": "planner"}, "reply": {"json": given}}])
    answer = ran(model, replace(team(model), planner=Role(kind=kind)))
    assert (answer.status, [task.worker for task in answer.tasks]) == ("complete", ["a", "b"])


def test_a_nested_plan_that_can_not_be_had_fails_its_task_alone() -> None:
    dead: Object = {
        "match": {"role": "planner", "contains": "one part of a larger request"},
        "reply": {"misbehave": {"401": None}},
    }
    model = InProcess(script=[dead, *planning(plan(X), plan(M, N))])
    of = team(model)
    answer = ran(model, of)
    assert answer.status == "partial"
    (gap,) = answer.gaps
    assert gap.task_id == "m"
    assert "401" in gap.why
    assert len(told(model)) == 2, "no further plan, and no template"


def test_results_may_amend_a_nested_plan_and_break_tasks_down() -> None:
    async def surprised(handoff: Handoff) -> object:
        if handoff.task_id == "x":
            impact = PlanImpact(kind="adds", reason="there are two mines")
            return Result(output="x", plan_impact=impact)
        return await works(handoff)

    mines = part("mines", "b", "Compare both mines in Chile", break_down=True)
    below = planning(plan(part("one", "a", "Look at the first mine")), plan(M, N))
    script: list[Object] = [
        {
            "match": {"system": "a worker found that it no longer fits"},
            "reply": {"json": plan(mines)},
        },
        {"match": {"contains": "Compare both mines in Chile"}, "reply": below[0]["reply"]},
        {"match": below[0]["match"], "reply": {"json": plan(X)}},
        below[1],
    ]
    model = InProcess(script=script)
    journal = MemoryJournal()
    answer = ran(model, team(model, surprised), journal=journal)
    assert answer.status == "complete"
    assert "Look at the first mine" in answer.answer


@pytest.mark.parametrize(
    ("requests", "used", "undone"), [(5, 5, ["y"]), (6, 6, ["synthesis"]), (7, 7, [])]
)
def test_no_request_is_kept_for_a_synthesis_that_is_never_made(
    requests: int, used: int, undone: list[str]
) -> None:
    """Two plans, three tasks, two syntheses: seven requests do everything."""
    model = InProcess(script=list(planning(plan(X, part("y", "b", "Find zinc")), plan(M, N))))
    answer = ran(model, team(model, None), budget=Budget(requests=requests))
    assert (answer.metrics.requests, model.stats().requests) == (used, used)
    assert [gap.task_id for gap in answer.gaps] == ["m"] * bool(undone)
    assert [gap.why.partition(":")[0] for gap in answer.gaps] == undone
    assert model.stats().bodies[-1].get("role") == "synthesizer"


@pytest.mark.parametrize(
    ("tasks", "requests", "undone"),
    [(1, 2, []), (2, 2, ["t1"]), (2, 3, ["synthesis"]), (2, 4, []), (3, 4, ["t2"])],
)
def test_no_request_is_kept_while_there_are_not_two_results(
    tasks: int, requests: int, undone: list[str]
) -> None:
    """One task failed with one of two requests left."""
    parts = [part(f"t{number}", "a", f"Find {number}") for number in range(tasks)]
    model = InProcess(script=list(planning(plan(*parts), plan(*parts))))
    answer = ran(model, team(model, None), budget=Budget(requests=requests))
    assert answer.metrics.requests == requests
    assert [gap.task_id for gap in answer.gaps] == undone


@pytest.mark.parametrize("requests", [3, 5, 6])
def test_a_larger_budget_continues_the_nested_plan_where_it_stood(requests: int) -> None:
    model = InProcess(script=list(planning(plan(X, part("y", "b", "Find zinc")), plan(M, N))))
    journal, of = MemoryJournal(), team(model, None)
    first = Supervisor(of, journal=journal, budget=Budget(requests=requests), clock=VirtualClock())
    short = run_virtual(first.run(REQUEST, run_id=RUN))
    assert short.ended_by == "budget"
    more = Supervisor(of, journal=journal, budget=Budget(requests=20), clock=VirtualClock())
    answer = run_virtual(resumed(more, RUN))
    assert answer.status == "complete"
    calls = 3 + 2 + 2
    assert calls <= model.stats().requests <= calls + 2, "only syntheses are written again"
    assert len(told(model)) == 2, "no plan is made twice"


def test_nested_plans_of_a_follow_up_get_the_earlier_results_of_their_task() -> None:
    given: list[Handoff] = []

    async def taken_down(handoff: Handoff) -> str:
        given.append(handoff)
        return "found"

    follows: Object = {**M, "artifacts": ["previous"]}
    model = InProcess(script=list(planning(plan(X), plan(follows, N))))
    journal = MemoryJournal()
    by = Supervisor(team(model, taken_down), journal=journal, clock=VirtualClock())

    async def story() -> Answer:
        await by.run(REQUEST, run_id=RUN)
        given.clear()
        return await by.run("And in Chile?", after=RUN)

    assert run_virtual(story()).status == "complete"
    (inner,) = [one for one in given if one.task_id == "x"]
    assert [digest.task_id for digest in inner.context] == ["../previous"]


def test_a_worker_may_be_a_team_at_any_level_and_offline_code_has_its_time() -> None:
    law = Team("law", workers=[Worker("clerk", "Files", run=works)], planner="template")
    model = InProcess(script=list(planning(plan(X, part("y", "b", "Ask the lawyers")), plan(M, N))))
    of = replace(
        team(model),
        workers=[
            Worker("a", "Knows a", instructions="Find it.", offline=works),
            Worker("b", "Lawyers", team=law),
        ],
    )
    answer = ran(model, of, deadline_s=60.0)
    assert answer.status == "complete"
    assert "clerk: Ask the lawyers" in answer.answer
