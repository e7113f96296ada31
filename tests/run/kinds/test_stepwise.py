"""A stepwise planner decides round by round: what it sees, when it is asked, and when that ends."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest

from leadhand import Handoff, Ladder, Plan, Reply, Result, Supervisor, Task, Team, Worker
from leadhand.contracts.events import (
    Event,
    PlanAmended,
    RoundDecided,
    RunResumed,
    TaskCompleted,
    TaskDispatched,
)
from leadhand.contracts.outcome import PlanImpact, TaskResult
from leadhand.contracts.people import Question
from leadhand.contracts.planner_kinds import Decision, Round
from leadhand.contracts.team import Role, WorkFunction
from leadhand.errors import InputError, ModelError
from leadhand.journal import MemoryJournal
from leadhand.testing import ScriptedModel, VirtualClock, run_virtual
from leadhand.testing.json_data import Object, mapping
from tests.handles import replied, resumed
from tests.run.kinds.kinds import fails, works
from tests.run.resuming.story import RUN, kept

Problems = Callable[[Decision], Sequence[str]]
Step = Decision | Exception


def start(*tasks: Task, **more: object) -> Decision:
    return Decision(tasks, "to know more", **more)  # pyright: ignore[reportArgumentType]


def find(id: str, *needs: str, worker: str = "a", intent: str = "") -> Task:
    said = intent or f"Find the figures of {id} on copper"
    return Task(id=id, worker=worker, intent=said, depends_on=needs)


DONE = Decision(reason="it is all there", done=True)


@dataclass
class Steps:
    """A planner by code that takes these steps, and what it saw each time."""

    steps: list[Step]
    delay_s: float = 0.0
    seen: list[Round] = field(default_factory=list[Round])
    refused: list[Sequence[str]] = field(default_factory=list[Sequence[str]])
    name: str = "steps"

    async def decide(self, now: Round, *, problems: Problems) -> Decision:
        self.seen.append(now)
        await asyncio.sleep(self.delay_s)
        step = self.steps[now.number - 1]
        if isinstance(step, Exception):
            raise step
        if found := problems(step):
            self.refused.append(found)
            return DONE
        return step


async def slowly(handoff: Handoff) -> str:
    """Takes as many seconds as the intent has letters `s` at its end."""
    await asyncio.sleep(len(handoff.intent) - len(handoff.intent.rstrip("s")))
    return f"the figures of {handoff.task_id}"


def team(run: WorkFunction = works, *, max_rounds: int = 12, workers: str = "ab") -> Team:
    return Team(
        "metals",
        workers=[Worker(name, f"Knows {name}", run=run, retry=False) for name in workers],
        planner=Role(kind="stepwise", max_rounds=max_rounds),
    )


def supervisor(
    steps: Steps | None, of: Team | None = None, *, journal: MemoryJournal | None = None
) -> Supervisor:
    return Supervisor(of or team(), planner=steps, journal=journal, clock=VirtualClock())


def ran(steps: Steps, of: Team | None = None) -> tuple[Object, list[Event]]:
    """The answer and the events of a run."""
    events: list[Event] = []
    answer = run_virtual(
        supervisor(steps, of).run("Compare copper and zinc", listener=events.append)
    )
    return mapping(answer.model_dump(mode="json")), events


def rounds(events: Sequence[Event]) -> list[tuple[int, list[str], str | None]]:
    found = [event for event in events if isinstance(event, RoundDecided)]
    return [(one.round, [task.id for task in one.tasks], one.end) for one in found]


def test_each_round_sees_the_request_the_results_and_what_is_left() -> None:
    steps = Steps([start(find("x"), find("y")), start(find("z", "x", worker="b")), DONE])
    answer, events = ran(steps)
    assert answer["status"] == "complete"
    assert rounds(events) == [(1, [], None), (2, ["z"], None), (3, [], "done")]
    first, second, third = steps.seen
    assert (first.request, first.tasks, first.max_rounds) == ("Compare copper and zinc", (), 12)
    assert [(one.task.id, one.status) for one in second.tasks] == [
        ("x", "completed"),
        ("y", "completed"),
    ]
    assert all(isinstance(one, TaskResult) for one in second.tasks)
    assert second.new == {"x", "y"}
    assert third.new == {"z"}
    z = next(one for one in third.tasks if one.task.id == "z")
    assert z.result is not None
    assert z.result.output == "b: Find the figures of z on copper"


def test_the_planner_is_asked_after_all_of_its_tasks_or_after_the_first() -> None:
    def asked_at(asks_after: str) -> list[tuple[int, list[str]]]:
        steps = Steps(
            [
                start(find("x", intent="Find it: s"), find("y", intent="Find that: ssss"),
                      asks_after=asks_after),
                DONE,
            ]
        )  # fmt: skip
        _, events = ran(steps, team(slowly))
        (second,) = [one for one in events if isinstance(one, RoundDecided) and one.round == 2]
        done = [event.task_id for event in events[: second.seq] if isinstance(event, TaskCompleted)]
        return [(round(second.elapsed_s), done)]

    assert asked_at("all") == [(4, ["x", "y"])]
    assert asked_at("first") == [(1, ["x"])]


def test_running_tasks_continue_and_end_while_the_planner_decides() -> None:
    steps = Steps(
        [
            start(find("x", intent="Find it: s"), find("y", intent="Find that: sssss"),
                  asks_after="first"),
            start(find("z", intent="Find more: s")),
            DONE,
        ],
        delay_s=10.0,
    )  # fmt: skip
    _, events = ran(steps, team(slowly))
    order = [event.type for event in events if isinstance(event, TaskCompleted | RoundDecided)]
    assert order == [
        "round_decided", "task_completed", "task_completed", "round_decided",
        "task_completed", "round_decided",
    ]  # fmt: skip
    assert steps.seen[2].new == {"y", "z"}, "what ended while it decided is new to it afterwards"


def test_a_decision_without_tasks_waits_for_those_that_run() -> None:
    steps = Steps(
        [
            start(find("x", intent="Find it: s"), find("y", intent="Find that: ssss"),
                  asks_after="first"),
            Decision(reason="y is needed"),
            DONE,
        ]
    )  # fmt: skip
    answer, _ = ran(steps, team(slowly))
    assert answer["status"] == "complete"
    assert [len([one for one in now.tasks if one.result]) for now in steps.seen] == [0, 1, 2]


def test_the_last_tasks_can_be_named_without_another_decision() -> None:
    steps = Steps([start(find("x"), done=True)])
    answer, events = ran(steps)
    assert answer["status"] == "complete"
    assert rounds(events) == [(1, [], "done")]


@pytest.mark.parametrize(
    ("again", "about"),
    [
        (find("other", intent="find the figures of X, on COPPER!"), "the same as 'x'"),
        (find("other", intent=" Find  the figures of x on copper"), "the same as 'x'"),
    ],
)
def test_the_same_worker_is_not_asked_for_the_same_thing_twice(again: Task, about: str) -> None:
    steps = Steps([start(find("x")), start(again)])
    _, events = ran(steps)
    assert about in steps.refused[0][0]
    assert sum(isinstance(event, TaskDispatched) for event in events) == 1
    other = Steps([start(find("x")), start(again.model_copy(update={"worker": "b"})), DONE])
    ran(other)
    assert other.refused == [], "another worker may be asked for the same"


def test_an_id_that_is_taken_gets_a_number_and_dependencies_follow() -> None:
    later = [find("x", "x", worker="b"), find("y", "x", worker="b")]
    steps = Steps([start(find("x")), start(*later), DONE])
    answer, events = ran(steps)
    assert answer["status"] == "complete"
    (second,) = [one for one in events if isinstance(one, RoundDecided) and one.round == 2]
    assert [(one.id, one.depends_on) for one in second.tasks] == [("x-2", ("x",)), ("y", ("x-2",))]


def test_at_the_limit_of_rounds_the_answer_is_written_with_a_gap() -> None:
    steps = Steps([start(find(f"x{number}")) for number in range(9)])
    answer, events = ran(steps, team(max_rounds=3))
    assert answer["status"] == "partial"
    assert [end for _, _, end in rounds(events)] == [None, None, None, "limit"]
    (gap,) = answer["gaps"]  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType]
    assert gap == {
        "task_id": "plan",
        "why": "the planner was not done after 3 rounds, which is the limit",
        "what": "",
    }


def test_a_planner_that_fails_ends_the_rounds_and_a_resumed_run_asks_it_again() -> None:
    broken = Steps([start(find("x")), ModelError("no model answered", transient=True)])
    journal = MemoryJournal()
    first = run_virtual(supervisor(broken, journal=journal).run("Compare", run_id=RUN))
    assert (first.status, first.ended_by) == ("partial", None)
    assert first.gaps[0].why == "round 2 was not decided: no model answered"
    works_now = Steps([DONE, start(find("y")), DONE])
    again = run_virtual(resumed(supervisor(works_now, journal=journal), RUN))
    assert again.status == "complete"
    assert [now.number for now in works_now.seen] == [2, 3]
    assert {task.id for task in again.tasks} == {"x", "y"}


def test_no_model_takes_over_what_a_planner_in_code_decides() -> None:
    """`leadhand resume` of such a run has the team's planner only."""
    broken = Steps([start(find("x")), ModelError("no model answered", transient=True)])
    journal = MemoryJournal()
    run_virtual(supervisor(broken, journal=journal).run("Compare", run_id=RUN))
    model = ScriptedModel()
    with pytest.raises(InputError, match="its rounds are decided by 'steps', a planner in code"):
        run_virtual(
            resumed(supervisor(None, replace(team(), model=model.model), journal=journal), RUN)
        )
    assert model.stats().by_role == {}


def test_a_result_that_does_not_fit_the_plan_has_the_planner_asked_at_once() -> None:
    async def objects(handoff: Handoff) -> Result:
        await asyncio.sleep(9.0 if handoff.task_id == "y" else 1.0)
        impact = PlanImpact(kind="adds", reason="there are two mines")
        return Result(output="x", plan_impact=impact if handoff.task_id == "x" else None)

    steps = Steps([start(find("x"), find("y"), done=True), start(find("z")), DONE])
    answer, events = ran(steps, team(objects))
    assert answer["status"] == "complete"
    second = next(one for one in events if isinstance(one, RoundDecided) and one.round == 2)
    assert second.elapsed_s == pytest.approx(1.0)  # pyright: ignore[reportUnknownMemberType]
    assert not [one for one in events if isinstance(one, PlanAmended)], "no revision besides"


def test_a_plan_of_the_callers_own_is_carried_out_without_rounds() -> None:
    steps = Steps([])
    plan = Plan(goal="Compare", tasks=[find("x")])
    answer = run_virtual(supervisor(steps).run(plan=plan))
    assert (answer.status, steps.seen) == ("complete", [])


def test_without_a_model_the_template_is_the_plan() -> None:
    answer = run_virtual(supervisor(None).run("Compare copper and zinc"))
    assert (answer.status, answer.engine) == ("complete", "deterministic")
    assert {task.id for task in answer.tasks} == {"a", "b"}


def test_f46_each_round_waits_for_the_person_who_approved_the_first() -> None:
    """They may change a round, refuse one, and take their time in another process."""
    questions: list[str] = []
    replies = [
        Reply(verdict="approved"),
        Reply(verdict="approved"),
        Reply(verdict="refused", text="zinc is enough"),
    ]

    async def ask(question: Question) -> Reply:
        questions.append(question.text)
        return replies.pop(0)

    steps = Steps([start(find("x")), start(find("y")), start(find("z"))])
    asked = Supervisor(team(), planner=steps, approve=["plan"], person=ask, clock=VirtualClock())
    answer = run_virtual(asked.run("Compare copper and zinc"))
    assert questions[1].startswith("Round 2 adds y: to know more")
    assert {task.id for task in answer.tasks} == {"x", "y"}
    assert answer.status == "partial"
    assert "the tasks of round 3 do not start" in answer.gaps[0].why
    assert "zinc is enough" in answer.gaps[0].why


async def test_f46_an_approval_that_comes_later_starts_the_round_that_was_decided() -> None:
    journal = MemoryJournal()

    def by(steps: Steps) -> Supervisor:
        return Supervisor(
            team(), planner=steps, approve=["plan"], journal=journal, clock=VirtualClock()
        )

    first = Steps([start(find("x")), start(find("y")), DONE])
    waits = await by(first).run("Compare", run_id=RUN)
    assert waits.status == "waiting"
    waits = await replied(by(first), RUN, Reply(verdict="approved"))
    assert (waits.status, [task.id for task in waits.tasks]) == ("waiting", ["x"])
    other = Steps([DONE, DONE, DONE])
    answer = await replied(by(other), RUN, Reply(verdict="approved"))
    assert answer.status == "complete"
    assert [now.number for now in other.seen] == [3], "round 2 stays as it was decided"
    assert {task.id for task in answer.tasks} == {"x", "y"}


def test_a_task_that_is_done_again_does_not_reopen_what_the_planner_said_is_done() -> None:
    journal = MemoryJournal()
    steps = Steps([start(find("x")), start(find("y", "x")), DONE])
    run_virtual(supervisor(steps, journal=journal).run("Compare", run_id=RUN))
    answer = run_virtual(resumed(supervisor(steps, journal=journal), RUN, from_task="x"))
    assert answer.status == "complete"
    assert len(steps.seen) == 3
    again = [event for event in journal.store.events(RUN) if isinstance(event, RunResumed)]
    assert again[0].again == ("x", "y")


def test_a_run_that_is_killed_while_the_planner_decides_decides_once() -> None:
    journal = MemoryJournal()
    steps = Steps([start(find("x")), start(find("y")), DONE])
    run_virtual(supervisor(steps, journal=journal).run("Compare", run_id=RUN))
    events = journal.store.events(RUN)
    at = next(n for n, one in enumerate(events) if isinstance(one, RoundDecided) and one.round == 2)
    left, again = kept(events[:at]), Steps(steps.steps)
    answer = run_virtual(resumed(supervisor(again, journal=left), RUN))
    assert [now.number for now in again.seen] == [2, 3]
    assert {task.id for task in answer.tasks} == {"x", "y"}


def test_a_round_whose_tasks_breakers_refuse_at_once_is_followed_by_another() -> None:
    broken = replace(team(fails), ladder=Ladder(breaker_failures=1))
    steps = Steps([start(find("x")), start(find("y")), DONE])
    answer, _ = ran(steps, broken)
    assert answer["status"] == "failed"
    assert [now.number for now in steps.seen] == [1, 2, 3]


def test_tasks_that_are_done_again_are_waited_for_before_the_next_round() -> None:
    broken = Steps([start(find("x")), ModelError("no model answered", transient=True)])
    journal = MemoryJournal()
    run_virtual(supervisor(broken, journal=journal).run("Compare", run_id=RUN))
    again = Steps([DONE, DONE])
    run_virtual(resumed(supervisor(again, journal=journal), RUN, from_task="x"))
    assert [one.status for one in again.seen[0].tasks] == ["completed"]
