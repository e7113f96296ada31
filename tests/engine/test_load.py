"""Load: workers of one role share the work, and a fallback helps out where a queue is too long."""

import asyncio
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from leadhand import Handoff, Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.events import Event, TaskDispatched, TaskReassigned
from leadhand.contracts.outcome import Failed
from leadhand.contracts.team import Ladder, RetryRules
from leadhand.policies.load_balancing import WorkerLoad, substitute
from leadhand.state.fold import fold
from leadhand.testing import VirtualClock, run_virtual
from tests.stored import store_of

loads = st.builds(
    WorkerLoad,
    st.sampled_from("abcdef"),
    st.booleans(),
    st.integers(0, 20),
    st.integers(0, 20),
    st.none() | st.floats(0.01, 100),
)


@given(loads, st.lists(loads, max_size=4), st.none() | loads, st.none() | st.integers(0, 20))
def test_a_task_is_given_away_only_to_someone_who_can_start_it_now(
    own: WorkerLoad, peers: list[WorkerLoad], fallback: WorkerLoad | None, max_queue: int | None
) -> None:
    taken = substitute(own, peers, fallback=fallback, max_queue=max_queue)
    if taken is None:
        return
    others = [*peers, *([fallback] if fallback is not None else [])]
    assert taken.worker in {load.worker for load in others if load.has_room}
    if own.has_room or any(peer.has_room for peer in peers):
        assert taken.worker in {peer.worker for peer in peers if peer.has_room}


def test_who_is_quicker_or_has_less_to_do_takes_the_next_task() -> None:
    own = WorkerLoad("own", True, running=2, latency_s=1.0)
    assert substitute(own, [WorkerLoad("slow", True, running=1, latency_s=4.0)]) is None
    quick = substitute(own, [WorkerLoad("quick", True, running=1, latency_s=1.0)])
    assert quick is not None
    assert (quick.worker, quick.reason) == ("quick", "quick, of the same role as own, is less busy")
    assert substitute(own, [WorkerLoad("even", True, running=2, latency_s=1.0)]) is None
    assert substitute(own, [WorkerLoad("busy", True, running=0, waiting=9, latency_s=1.0)]) is None
    unknown = substitute(
        WorkerLoad("own", True, running=1, latency_s=5.0), [WorkerLoad("new", True)]
    )
    assert unknown is not None, "who is not known yet is taken to be like the others"


def test_a_fallback_helps_out_only_while_the_queue_is_too_long() -> None:
    helper = WorkerLoad("helper", True)
    full = WorkerLoad("own", False, running=1, waiting=4)
    taken = substitute(full, [], fallback=helper, max_queue=3)
    assert taken is not None
    assert taken.reason == "4 tasks wait for own, more than 3: helper helps out"
    assert substitute(full, [], fallback=helper, max_queue=4) is None
    assert substitute(full, [], fallback=helper) is None
    assert substitute(full, [], fallback=WorkerLoad("helper", False), max_queue=0) is None
    assert substitute(WorkerLoad("own", True, waiting=9), [], fallback=helper, max_queue=0) is None


# Through the real scheduler


def sleeps(seconds: float) -> object:
    async def work(handoff: Handoff) -> str:
        await asyncio.sleep(seconds)
        return handoff.to_agent

    return work


def worker(name: str, seconds: float = 1.0, **fields: object) -> Worker:
    given: dict[str, object] = {"run": sleeps(seconds), "concurrency": 1, **fields}
    return Worker(name, f"Does {name}", **given)  # pyright: ignore[reportArgumentType, reportCallIssue]


def run(team: Team, count: int) -> tuple[Counter[str], float, list[Event]]:
    """How many of `count` tasks for the first worker each one did, and the virtual seconds."""
    events: list[Event] = []
    first = team.workers[0].name
    tasks = tuple(Task(id=f"t{n}", worker=first, intent=f"Part {n}.") for n in range(count))
    supervisor = Supervisor(team, clock=VirtualClock())
    plan = Plan(goal="share", tasks=tasks)
    answer = run_virtual(supervisor.run(plan=plan, listener=events.append))
    assert answer.status == "complete"
    assert fold(events) == fold(store_of(supervisor).events(answer.run_id))
    did = Counter(event.worker for event in events if isinstance(event, TaskDispatched))
    return did, answer.metrics.makespan_s, events


def test_workers_of_one_role_share_what_was_planned_for_one_of_them() -> None:
    """The quick one does more of it, and nobody idles while there is work."""
    quick, slow = worker("quick", 1.0, role="desk"), worker("slow", 3.0, role="desk")
    did, took_s, events = run(Team("office", workers=(quick, slow, worker("other"))), 8)
    assert did == {"quick": 6, "slow": 2}
    assert 6.0 <= took_s < 6.5
    moved = [event for event in events if isinstance(event, TaskReassigned)]
    assert {event.worker for event in moved} == {"slow"}
    assert all("of the same role as quick" in event.reason for event in moved)


def test_where_all_can_take_more_the_less_busy_one_does() -> None:
    one, two = (worker(name, role="desk", concurrency=None) for name in ("one", "two"))
    did, _, _ = run(Team("office", workers=(one, two)), 10)
    assert did == {"one": 5, "two": 5}


def test_without_a_role_everybody_does_their_own() -> None:
    did, took_s, _ = run(Team("office", workers=(worker("one"), worker("two"))), 4)
    assert did == {"one": 4}
    assert took_s >= 4.0


def test_a_fallback_takes_what_is_too_much_and_no_more() -> None:
    busy = worker("busy", fallback="helper", max_queue=2)
    did, _, events = run(Team("office", workers=(busy, worker("helper"))), 6)
    # Five wait at first, then four and three: the helper takes one each time, until two are left.
    assert did == {"busy": 4, "helper": 2}
    reasons = [event.reason for event in events if isinstance(event, TaskReassigned)]
    assert reasons[0] == "5 tasks wait for busy, more than 2: helper helps out"


def test_a_task_that_was_given_to_somebody_for_a_reason_stays_there() -> None:
    """A fallback is not asked because it is less busy, and so the task does not wander back."""

    async def broken(handoff: Handoff) -> object:
        return Failed(kind="error", message="no")

    first = worker("first", run=broken, role="desk", fallback="second")
    team = Team("office", workers=(first, worker("second", role="desk", concurrency=None)))
    did, _, events = run(team, 1)
    assert did == {"first": 1, "second": 1}
    assert len([event for event in events if isinstance(event, TaskReassigned)]) == 1


async def test_a_fallback_whose_breaker_is_open_does_not_help() -> None:
    async def down(handoff: Handoff) -> object:
        return Failed(kind="error", message="down", transient=True)

    team = Team(
        "office",
        workers=(
            worker("busy", fallback="helper", max_queue=1),
            worker("helper", run=down, concurrency=None),
        ),
        ladder=Ladder(breaker_failures=1, breaker_pause_s=1_000.0, failed=("reassign",)),
        retry=RetryRules(max_attempts=1),
    )
    supervisor = Supervisor(team, clock=VirtualClock())
    first = Plan(goal="g", tasks=(Task(id="h", worker="helper", intent="Try it."),))
    tasks = tuple(Task(id=f"t{n}", worker="busy", intent=f"Part {n}.") for n in range(5))

    await supervisor.run(plan=first)
    answer = await supervisor.run(plan=Plan(goal="share", tasks=tasks))
    assert {one.worker for one in answer.tasks} == {"busy"}
    assert answer.status == "complete"
