"""A recursive planner, in code: what happens to tasks that are broken down, level by level."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from leadhand import Handoff, Plan, Reply, Role, Supervisor, Task, Team, Worker
from leadhand.contracts.answer import Answer
from leadhand.contracts.events import Event, PlanAccepted, RunStarted, TaskDispatched
from leadhand.contracts.people import Question
from leadhand.contracts.task import PlanRequest
from leadhand.errors import InputError, ModelError, TeamError
from leadhand.journal import MemoryJournal
from leadhand.run.people import Ask
from leadhand.testing import VirtualClock, run_virtual
from tests.handles import replied, resumed
from tests.run.kinds.kinds import fails, works
from tests.run.resuming.story import RUN, Stops, kept, told

Parts = Mapping[str, "Parts | None"]
"""Tasks by id, with the parts of those that are broken down."""
TREE: Parts = {"m": {"x": None, "k": {"p": None, "q": None}}, "n": None}
"""Four tasks in three plans."""


class Tree:
    """Plans the parts that it finds for a request; the intent of a task is its path."""

    name = "tree"

    def __init__(self, tree: Parts) -> None:
        self.tree = tree
        self.asked: list[tuple[str, int]] = []

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        self.asked.append((request.text, team.planner.max_levels))
        parts: Parts | None = self.tree
        way = [] if request.text == "All" else request.text.removeprefix("Do ").split("/")
        for id in way:
            parts = parts[id] if parts is not None else None
        if not parts:
            raise ModelError("nothing is known of that", transient=False)
        return Plan(
            goal=request.text,
            tasks=[
                Task(
                    id=id,
                    worker="a" if below is None else "subplanner",
                    intent=f"Do {'/'.join((*way, id))}",
                )
                for id, below in parts.items()
            ],
        )


def team(run: object = works, **role: object) -> Team:
    return Team(
        "tree",
        workers=[Worker("a", "Does parts", run=run, retry=False)],  # pyright: ignore[reportArgumentType, reportCallIssue]
        planner=Role(kind="recursive", **role),  # pyright: ignore[reportArgumentType]
    )


def supervisor(
    tree: Parts | Tree,
    of: Team | None = None,
    *,
    journal: MemoryJournal | None = None,
    person: Ask | None = None,
    approve: bool = False,
) -> Supervisor:
    return Supervisor(
        of or team(),
        planner=tree if isinstance(tree, Tree) else Tree(tree),
        journal=journal,
        approve=["plan"] if approve else None,
        person=person,
        clock=VirtualClock(),
    )


def ran(tree: Parts | Tree, of: Team | None = None) -> tuple[Answer, Sequence[Event]]:
    events: list[Event] = []
    answer = run_virtual(supervisor(tree, of).run("All", listener=events.append))
    return answer, events


def test_a_task_that_is_broken_down_is_done_by_a_plan_of_its_own() -> None:
    tree = Tree(TREE)
    answer, events = ran(tree)
    assert (answer.status, [task.id for task in answer.tasks]) == ("complete", ["m", "n"])
    assert sorted(tree.asked) == [("All", 3), ("Do m", 2), ("Do m/k", 1)]
    done = [event.task_id for event in events if isinstance(event, TaskDispatched)]
    assert sorted(done) == ["m", "m/k", "m/k/p", "m/k/q", "m/x", "n"]
    for part in ("Do m/k/p", "Do m/k/q", "Do m/x", "Do n"):
        assert part in answer.answer


def test_gaps_travel_up_with_their_path() -> None:
    async def not_q(handoff: Handoff) -> str:
        return await (fails if handoff.intent.endswith("q") else works)(handoff)

    answer, _ = ran(TREE, team(not_q))
    assert answer.status == "partial"
    (gap,) = answer.gaps
    assert (gap.task_id, gap.why.partition(" (at")[0]) == ("m/k/q", "ValueError: a can't")
    assert "Do m/k/p" in answer.answer


def test_a_level_whose_parts_all_failed_fails_with_all_reasons() -> None:
    async def each(handoff: Handoff) -> str:
        raise ValueError(f"no {handoff.task_id[-1]}")

    tree: Parts = {"m": {"k": {"p": None, "q": None}, **dict.fromkeys("stuvwx")}, "n": None}
    answer, _ = ran(tree, team(each))
    assert answer.status == "failed"
    whys = {gap.task_id: gap.why for gap in answer.gaps}
    assert whys.keys() == {"m", "n"}
    for path, id in (("k/p", "p"), ("k/q", "q"), ("s", "s"), ("x", "x")):
        assert f"{path}: ValueError: no {id}" in whys["m"]


def test_a_task_that_can_not_be_broken_down_fails_once_and_the_others_go_on() -> None:
    tree = Tree({"m": {}, "n": None})
    answer, events = ran(tree)
    assert answer.status == "partial"
    (gap,) = answer.gaps
    assert (gap.task_id, "nothing is known of that" in gap.why) == ("m", True)
    assert tree.asked == [("All", 3), ("Do m", 2)]
    started = [event for event in events if isinstance(event, TaskDispatched)]
    assert sorted(event.task_id for event in started) == ["m", "n"]


DEEP: Parts = {"1": {"2": {"3": {"4": {"5": None, "n": None}, "n": None}, "n": None}, "n": None}}


@pytest.mark.parametrize(("levels", "ends"), [(0, "1"), (1, "1/2"), (3, "1/2/3/4"), (10, "")])
def test_no_plan_is_deeper_than_the_limit(levels: int, ends: str) -> None:
    tree: Parts = {**DEEP, "n": None}
    answer, events = ran(tree, team(max_levels=levels))
    plans = sum(isinstance(event, PlanAccepted) for event in events)
    if not ends:
        assert (answer.status, plans) == ("complete", 5)
        return
    assert plans == levels
    assert f"task '{ends[-1]}' can't be broken down" in answer.gaps[0].why


def test_a_plan_that_only_hands_its_request_on_is_refused() -> None:
    class Endless(Tree):
        async def plan(self, request: PlanRequest, team: Team) -> Plan:
            self.asked.append((request.text, team.planner.max_levels))
            again = Task(id="again", worker="subplanner", intent=f"  {request.text.upper()}!")
            return Plan(goal="", tasks=[again, Task(id="n", worker="a", intent="Do n")])

    endless = Endless({})
    answer, _ = ran(endless)
    assert (answer.status, len(endless.asked)) == ("failed", 1)
    assert "'again' is to be broken down and repeats what this plan is for" in answer.gaps[0].why


def test_all_levels_together_have_the_limit_of_one_plan() -> None:
    tree: Parts = {id: dict.fromkeys((f"{n}" for n in range(70)), None) for id in "abc"}
    first, _ = ran(tree)
    assert first.status == "partial"
    (gap,) = first.gaps
    assert "the plan has 70 tasks: all plans of a run together may have 200, of which 57" in gap.why
    full: Parts = {"a": dict.fromkeys(map(str, range(198)), None), "b": {"x": None}}
    second, _ = ran(full)
    assert "all plans of a run together may have 200, of which 0 are left" in second.gaps[0].why


def test_a_plan_of_your_own_may_have_tasks_that_are_broken_down() -> None:
    plan = Plan(goal="All", tasks=[Task(id="m", worker="subplanner", intent="Do m")])
    answer = run_virtual(supervisor({"m": {"x": None, "y": None}}).run(plan=plan))
    assert answer.status == "complete"
    assert "Do m/x" in answer.answer
    other = Team("x", workers=[Worker("a", "A", run=works)])
    with pytest.raises(InputError, match=r"the team's planner is not `recursive`"):
        run_virtual(Supervisor(other).run(plan=plan))


def test_without_a_model_the_template_is_the_plan_and_breaks_nothing_down() -> None:
    answer = run_virtual(Supervisor(team(), clock=VirtualClock()).run("All"))
    assert (answer.status, [task.worker for task in answer.tasks]) == ("complete", ["a"])
    plan = Plan(goal="All", tasks=[Task(id="m", worker="subplanner", intent="Do m")])
    failed = run_virtual(Supervisor(team(), clock=VirtualClock()).run(plan=plan))
    assert failed.status == "failed"
    assert "only a model, or a planner in code, can break a task down" in failed.gaps[0].why


def test_no_worker_may_have_the_reserved_name() -> None:
    workers = [Worker("subplanner", "Plans", run=works)]
    with pytest.raises(TeamError, match=r"a worker is called 'subplanner'.*: give it another name"):
        Supervisor(Team("x", workers=workers, planner="recursive"))


def test_workers_and_their_limits_are_those_of_the_whole_run() -> None:
    running = most = 0

    async def busy(handoff: Handoff) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(1.0)
        running -= 1
        return "done"

    one_at_once = Team(
        "tree", workers=[Worker("a", "Does parts", run=busy, concurrency=1)], planner="recursive"
    )
    answer, _ = ran(TREE, one_at_once)
    assert (answer.status, most, round(answer.metrics.makespan_s)) == ("complete", 1, 4)


# Approval


def approved(path: str | None) -> Reply:
    return Reply(task_id=path, verdict="approved")


def test_each_nested_plan_is_put_to_the_person_before_its_work_starts() -> None:
    questions: list[Question] = []

    async def ask(question: Question) -> Reply:
        questions.append(question)
        if question.task_id != "m/k":
            return Reply(verdict="approved")
        return Reply(verdict="refused", text="p is enough")

    asked = supervisor(TREE, person=ask, approve=True)
    answer = run_virtual(asked.run("All"))
    assert [one.task_id for one in questions] == [None, "m", "m/k"]
    assert [[task.id for task in one.plan.tasks] for one in questions if one.plan] == [
        ["m", "n"], ["x", "k"], ["p", "q"],
    ]  # fmt: skip
    assert questions[1].text == "Is this plan to be carried out? It breaks down task m."
    assert answer.status == "partial"
    (gap,) = answer.gaps
    assert (gap.task_id, "a person refused the plan: p is enough" in gap.why) == ("m/k", True)


async def test_f46_an_approval_that_comes_later_starts_the_plan_that_was_asked_about() -> None:
    journal, tree = MemoryJournal(), {"m": {"x": None, "y": None}, "l": {"x": None}, "n": None}

    def by(planner: Tree) -> Supervisor:
        return supervisor(planner, journal=journal, approve=True)

    waits = await by(Tree(tree)).run("All", run_id=RUN)
    assert [one.task_id for one in waits.waiting] == [None]
    waits = await replied(by(Tree(tree)), RUN, approved(None))
    assert (waits.status, [one.id for one in waits.tasks]) == ("waiting", ["n"])
    assert [one.task_id for one in waits.waiting] == ["m", "l"]
    assert [task.id for task in waits.waiting[0].plan.tasks] == ["x", "y"]  # pyright: ignore[reportOptionalMemberAccess]
    with pytest.raises(InputError, match="must be approved or refused"):
        await replied(by(Tree(tree)), RUN, Reply(task_id="m", verdict="answered", text="yes"))
    waits = await replied(by(Tree({})), RUN, approved("l"))
    assert ([one.id for one in waits.tasks], waits.status) == (["l", "n"], "waiting")
    one = Task(id="z", worker="a", intent="Do m/x alone")
    mine = Reply(task_id="m", verdict="approved", plan=Plan(goal="Do m", tasks=[one]))
    answer = await replied(by(Tree({})), RUN, mine)
    assert answer.status == "complete"
    assert "Do m/x alone" in answer.answer


def test_f29_a_run_that_waits_for_a_nested_plan_can_be_killed_at_any_commit() -> None:
    async def to_the_end(journal: MemoryJournal, run_id: str | None = None) -> Answer:
        by = supervisor(TREE, journal=journal, approve=True)
        answer = await (resumed(by, RUN) if run_id else by.run("All", run_id=RUN))
        while answer.status == "waiting":
            answer = await replied(by, RUN, *[approved(one.task_id) for one in answer.waiting])
        return answer

    journal = Stops()
    whole = run_virtual(to_the_end(journal))
    events = [*journal.store.events(RUN)]
    assert whole.status == "complete"
    for stop in journal.commits:
        left = kept(events[:stop])
        assert told(run_virtual(to_the_end(left, RUN))) == told(whole), f"after event {stop}"
        log = left.store.events(RUN)
        for path in ((), ("m",), ("m", "k")):
            started = [e for e in log if isinstance(e, RunStarted) and e.within == path]
            assert len(started) == 1, (stop, path)


def test_tasks_of_different_plans_that_ask_the_same_contradict_each_other() -> None:
    """F56: once, with their paths, and not if they were given other things."""

    async def port(handoff: Handoff) -> object:
        return {"port": {"x": 80, "y": 443}.get(handoff.task_id[-1], 80)}

    class Asking(Tree):
        async def plan(self, request: PlanRequest, team: Team) -> Plan:
            plan = await super().plan(request, team)
            tasks = [
                task.model_copy(update={"intent": "Find the port"}) if task.worker == "a" else task
                for task in plan.tasks
            ]
            first = ("m",) if request.text == "All" and "given" in self.tree else ()
            tasks = [
                task.model_copy(update={"depends_on": first}) if task.id == "y" else task
                for task in tasks
            ]
            return plan.model_copy(update={"tasks": tasks})

    deep: Parts = {"m": {"k": {"x": None, "p": None}, "q": None}, "n": {"y": None, "z": None}}
    flat: Parts = {"m": {"x": None, "q": None}, "y": None}
    for tree, ids in ((deep, ("m/k/x", "m/k/p", "m/q", "n/z", "n/y")), (flat, ("m/x", "m/q", "y"))):
        answer, _ = ran(Asking(tree), team(port))
        found = [one for one in answer.conflicts if one.kind == "contradiction"]
        assert ids in [one.task_ids for one in found]
        assert answer.status == "partial"
        assert any("443" in gap.why and "m/q" in gap.why for gap in answer.gaps)
    answer, _ = ran(Asking({**flat, "given": None}), team(port))
    assert (answer.status, answer.conflicts) == ("complete", ())
