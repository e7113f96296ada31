"""Runs a scenario through the real engine, and records all that its promises are checked against.

A run may go through several processes, each on an event loop of its own.
"""

import asyncio
from collections.abc import Callable, Sequence
from random import Random

from leadhand.contracts.events import Event, ModelCalled, WorkerStuck
from leadhand.contracts.outcome import Handoff
from leadhand.contracts.people import RunMessage
from leadhand.contracts.planner_kinds import PlannerKind
from leadhand.contracts.task import PlanRequest
from leadhand.engine.recorder import Recorder
from leadhand.engine.shared_workers import SharedWorkers, Slots
from leadhand.journal.store_journal import StoreJournal
from leadhand.models.ledger import NANO, NOTHING, Account, Amount, Ledger, nano_usd
from leadhand.run.connections import SharedConnections
from leadhand.run.people import People
from leadhand.run.questions import open_questions
from leadhand.run.roles import OwnRoles, open_roles
from leadhand.run.run import Execution
from leadhand.run.settings import RunSettings
from leadhand.run.step_context import ROLE_GRACE_S, ActiveRun, StepContext
from leadhand.run.stored import check_resumable, tasks_from
from leadhand.state.fold import fold
from leadhand.testing import VirtualClock
from tests.simulation.behaviours import Behaviour
from tests.simulation.planners import LevelsPlanner, ScriptedDecider, ScriptedPlanner, of_kind
from tests.simulation.recording import MortalStore, Recording, SimulatedLoop, Stalled
from tests.simulation.roles import PersonHere, ScriptedRemedies, ScriptedSynthesizer, reply_to
from tests.simulation.scenario import Process, processes, scenario

LINGER_S = 5.0
"""How long is watched, after a run, whether anything of it still goes on."""

_ABANDONED: list[object] = []
"""What hung in runs that never ended: collecting it would only make more noise."""


class Workers:
    """Every worker of a simulated run, nested teams' too."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.moods: dict[str, dict[Behaviour, float]] = {}
        self.account: Account | None = None
        self.recorder: Recorder | None = None
        self.process = 1
        self.noticed: list[str] = []
        self.returned: list[tuple[int, str, int]] = []

    @property
    def seq(self) -> int:
        return self.recorder.state.seq if self.recorder is not None else 0

    def now_in(self, recording: Recording) -> None:
        """From now on they work in the process of `recording`, which takes down what they do."""
        self.process = recording.process.number
        self.account = self.recorder = None
        self.returned = recording.returned
        self.noticed = recording.noticed

    async def work(self, handoff: Handoff) -> object:
        """What chance and the worker's mood say; the same for the same attempt whatever else."""
        way = way_of(asyncio.current_task())
        lives = f" {self.process}" if self.process > 1 else ""
        chance = Random(f"{self._seed} {way} {handoff.attempt} {handoff.to_agent}{lives}")
        returned = self.returned
        mood = self.moods[handoff.to_agent]
        (behaviour,) = chance.choices([*mood], [*mood.values()])
        try:
            if self.account is not None:
                await self._spend(self.account, chance, way, handoff.attempt)
            return await behaviour(handoff, chance)
        finally:
            returned.append((self.seq, way, handoff.attempt))

    async def _spend(self, account: Account, chance: Random, way: str, attempt: int) -> None:
        """Reserve and settle as a call to a model does; it may cost more than was expected."""
        for _ in range(chance.choice((0, 1, 3))):
            amount = Amount(1, chance.randrange(1, 2_000), chance.randrange(10_000_000))
            await account.reserve(amount, role="worker")
            if min(account.ledger.left) < 0:
                self.noticed.append(f"reserved beyond the budget: {account.ledger.left} is left")
            used = NOTHING
            try:
                await asyncio.sleep(chance.expovariate(1.0))
                dear = chance.random() < 0.05
                used = amount._replace(tokens=int(amount.tokens * (3 if dear else chance.random())))
            finally:
                account.settle(amount, used)
            self._called(used, way, attempt)

    def _called(self, used: Amount, way: str, attempt: int) -> None:
        if self.recorder is None:
            return
        *within, id = way.split("/")
        self.recorder.record(
            ModelCalled(
                **self.recorder.stamp(),
                within=tuple(within),
                role="worker",
                model="x:y",
                task_id=id,
                attempt=attempt,
                input_tokens=used.tokens,
                cost_usd=used.nano_usd / NANO,
                duration_s=0.0,
            )
        )


def way_of(task: "asyncio.Task[object] | None") -> str:
    """The whole way of the run's task that an asyncio task works on."""
    return task.get_name().removeprefix("task:") if task is not None else ""


def simulate(seed: int, kind: PlannerKind | None = None) -> Recording:
    """The run of a seed, to the end of its last process, with a planner of some kind or none."""
    workers = Workers(seed)
    made = scenario(seed, workers.work, kind)
    made = of_kind(made, kind) if kind is not None else made
    workers.moods = made.moods
    first, *others = processes(made)
    recording = _lived(Recording(first), workers)
    for process in others:
        recording = _lived(_following(recording, process), workers)
    return recording


def _following(before: Recording, process: Process) -> Recording:
    """What is known when a process begins: what was not kept of the one before never was."""
    last = len(before.events)
    return Recording(
        process,
        before,
        events=before.events,
        returned=[one for one in before.returned if one[0] <= last],
    )


def _lived(recording: Recording, workers: Workers) -> Recording:
    """The recording of a process that has come to its end."""
    recording.store = MortalStore(recording.events, lost_at=recording.process.lost_at)
    workers.now_in(recording)
    loop = SimulatedLoop()
    try:
        loop.run_until_complete(_watched(recording, workers))
    except Stalled as stalled:
        recording.noticed.append(str(stalled))
        _ABANDONED.extend(asyncio.all_tasks(loop))
    finally:
        loop.close()
    recording.events = tuple(recording.store.events("run"))
    return recording


async def _watched(recording: Recording, workers: Workers) -> None:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(
        lambda _, context: recording.noticed.append(f"nobody dealt with: {context}")
    )
    task = loop.create_task(_run(recording, workers), name="the run")
    ends = recording.scenario.ends
    cancel = loop.call_later(ends[1], task.cancel) if ends and ends[0] == "cancel" else None

    def lost() -> None:
        # Once is enough: whoever is told twice does not come to cleaning up.
        if cancel is not None:
            cancel.cancel()
        if not task.cancelling():
            task.cancel()

    recording.store.on_lost = lost
    await asyncio.wait([task])
    if cancel is not None:
        cancel.cancel()
    recording.ended_s = loop.time()
    if task.cancelled():
        recording.error = asyncio.CancelledError()
    else:
        recording.error = task.exception()
    recording.seq_at_end = recording.state.seq
    # A person of a nested run may ignore that run's end for as long as a role's grace period.
    await asyncio.sleep(ROLE_GRACE_S)
    if not recording.store.lost:
        recording.left = _left(recording)
    await asyncio.sleep(LINGER_S)


def _left(recording: Recording) -> list[str]:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SimulatedLoop)
    here = asyncio.current_task()
    tasks = [task.get_name() for task in asyncio.all_tasks() if task is not here]
    # What a worker that was let go of has set for itself is nobody else's to cancel.
    stuck = any(isinstance(event, WorkerStuck) for event in recording.store.events("run"))
    timers = [
        name for name in loop.timers_left() if not (stuck and name.startswith(("task:", "consult")))
    ]
    return [*tasks, *(f"a timer of {name or 'the loop'}" for name in timers)]


async def _run(recording: Recording, workers: Workers) -> None:
    """From the request to the answer, or on from where the run stands, as the supervisor does."""
    made, past = recording.scenario, recording.events
    recorder = Recorder("run", recording.store, clock=VirtualClock(), past=past)
    recording.state = recorder.state
    recorder.state.nonce = "nonce"  # else the crew makes one by chance
    from_there = _again(recording)
    check_resumable(recorder.state, "run", made.team, from_there) if past else None
    active = ActiveRun()
    ledger = Ledger(made.budget, spent=spent(past)) if made.budget is not None else None
    account = Account(ledger) if ledger is not None else None
    workers.account, workers.recorder = account, recorder
    names = [worker.name for worker in made.team.workers]
    planner = _planner(recording.process)
    synthesizer = ScriptedSynthesizer(made.synthesis) if made.synthesis != "code" else None
    remedies = ScriptedRemedies(recording.process.seed, names) if made.remedies else None
    asked, settings = (
        PlanRequest("do it all"),
        RunSettings(made.deadline_s, made.budget, account=account),
    )
    stop = _stop_in_time(recording, active.stop)
    try:
        async with open_roles(
            made.team,
            recorder,
            asked,
            settings,
            own=OwnRoles(planner, synthesizer, remedies),
            connections=SharedConnections(),
        ) as roles:
            if isinstance(planner, ScriptedPlanner):
                planner.early = roles.early
            context = StepContext(
                team=made.team,
                recorder=recorder,
                roles=roles,
                active=active,
                people=_people(recording, recorder),
                settings=settings,
                concurrency=made.concurrency,
                shared_workers=SharedWorkers(made.team),
                slots=Slots(made.concurrency),
            )
            plan = None if made.team.planner.kind is not None else made.plan
            recording.answer = await Execution(context).to_answer(asked, plan, again=from_there)
    finally:
        if stop is not None:
            stop.cancel()
        if ledger is not None and ledger.held != NOTHING and not recorder.state.stuck:
            recording.noticed.append(f"still reserved after the run: {ledger.held}")


def spent(events: Sequence[Event]) -> Amount:
    calls = [event for event in events if isinstance(event, ModelCalled)]
    tokens = sum(call.input_tokens for call in calls)
    return Amount(len(calls), tokens, sum(nano_usd(call.cost_usd or 0.0) for call in calls))


def _again(recording: Recording) -> tuple[str, ...]:
    share, ids = recording.process.again, [*recording.state.tasks]
    if share is None or not ids:
        return ()
    return tasks_from(recording.state, ids[int(share * len(ids))])


def _people(recording: Recording, recorder: Recorder) -> People | None:
    process, store = recording.process, recording.store
    chance = Random(f"people {process.made.seed} {process.number}")
    if process.people == "by message":
        for asked in open_questions(fold(recording.events)):
            if chance.random() < 0.8:
                store.post(RunMessage(run_id="run", reply=reply_to(asked, chance)))
    occasions = process.occasions if process.people != "nobody" else ()
    never = process.made.comes_to_an_end
    here = PersonHere(chance, may_never=never) if process.people == "here" else None
    team = process.made.team
    return People(recorder, StoreJournal(store), team=team, occasions=occasions, ask=here)


def _planner(process: Process) -> ScriptedPlanner | ScriptedDecider | LevelsPlanner | None:
    match process.made.team.planner.kind:
        case "ahead":
            return ScriptedPlanner(process)
        case "recursive":
            return LevelsPlanner(process)
        case "stepwise":
            return ScriptedDecider(process)
        case _:
            return None


def _stop_in_time(recording: Recording, stop: Callable[[str], None]) -> asyncio.TimerHandle | None:
    ends = recording.scenario.ends
    if ends is None or ends[0] != "stop":
        return None

    def now() -> None:
        recording.stopped = True
        stop("somebody said so")

    return asyncio.get_running_loop().call_later(ends[1], now)
