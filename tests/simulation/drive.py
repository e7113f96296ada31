"""Runs a scenario through the real engine, and records all that its promises are checked against.

A seed's run is either a whole one (`Run` with its crew, teams within teams, budget, synthesis) or
the scheduler alone, which is given remedies and a person.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from leadhand.active import ActiveRun
from leadhand.contracts.answer import Answer
from leadhand.contracts.event import Event, PlanAccepted, PlanProposed, RunStarted, WorkerStuck
from leadhand.contracts.outcome import Handoff
from leadhand.crew import Crew
from leadhand.journal import MemoryJournal
from leadhand.models.ledger import NOTHING, Account, Amount, Ledger
from leadhand.ports import Request
from leadhand.recorder import Recorder
from leadhand.run import Run
from leadhand.scheduler import Scheduler
from leadhand.state import RunState
from leadhand.testing import VirtualClock
from leadhand.workers.function import FunctionWorker
from tests.simulation.behaviours import Behaviour
from tests.simulation.loop import SimulatedLoop, Stalled
from tests.simulation.roles import ScriptedPerson, ScriptedRemedies, ScriptedSynthesizer
from tests.simulation.scenario import Scenario, scenario

LINGER_S = 5.0
"""How long is watched, after a run, whether anything of it still goes on."""

_ABANDONED: list[object] = []
"""What hung in runs that never ended: collecting it would only make more noise."""


@dataclass(slots=True)
class Recording:
    """One simulated run as it went."""

    scenario: Scenario
    events: tuple[Event, ...] = ()
    state: RunState = field(default_factory=RunState)
    answer: Answer | None = None
    error: BaseException | None = None
    """What came out of the run in place of an answer."""
    given: list[tuple[str, Handoff]] = field(default_factory=list[tuple[str, Handoff]])
    """Every handoff, with the whole way of its task."""
    noticed: list[str] = field(default_factory=list[str])
    """What was seen to be wrong while it went on."""
    returned: list[tuple[int, str, int]] = field(default_factory=list[tuple[int, str, int]])
    """Whenever a worker returned: the last event before, the way of its task, the attempt."""
    revised: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Each time the plan was revised: the last event before, and the last one meanwhile."""
    ended_s: float = 0.0
    left: list[str] = field(default_factory=list[str])
    """Tasks and timers that were there after the run."""
    seq_at_end: int = 0
    """The last event when the run returned."""
    whole: bool = False
    stopped: bool = False
    """Whether it was told to stop before it was over."""
    journal: MemoryJournal = field(default_factory=MemoryJournal)

    @property
    def was_cancelled(self) -> bool:
        """Whether the run's own task was cancelled, so that no answer can be asked of it."""
        return isinstance(self.error, asyncio.CancelledError)


class Workers:
    """Every worker of a simulated run, nested teams' too."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.moods: dict[str, dict[Behaviour, float]] = {}
        self.account: Account | None = None
        self.given: list[tuple[str, Handoff]] = []
        self.noticed: list[str] = []
        self.returned: list[tuple[int, str, int]] = []
        self.seq: Callable[[], int] = int

    async def work(self, handoff: Handoff) -> object:
        """What chance and the worker's mood say; the same for the same attempt whatever else."""
        way = way_of(asyncio.current_task())
        self.given.append((way, handoff))
        chance = Random(f"{self._seed} {way} {handoff.attempt} {handoff.to_agent}")
        mood = self.moods[handoff.to_agent]
        (behaviour,) = chance.choices([*mood], [*mood.values()])
        try:
            if self.account is not None:
                await self._spend(self.account, chance)
            return await behaviour(handoff, chance)
        finally:
            self.returned.append((self.seq(), way, handoff.attempt))

    async def _spend(self, account: Account, chance: Random) -> None:
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


def way_of(task: "asyncio.Task[object] | None") -> str:
    """The whole way of the run's task that an asyncio task works on."""
    return task.get_name().removeprefix("task:") if task is not None else ""


def simulate(seed: int) -> Recording:
    """The run of a seed."""
    workers = Workers(seed)
    whole = seed % 2 == 0
    made = scenario(seed, workers.work, nesting=whole)
    workers.moods = made.moods
    recording = Recording(
        made,
        given=workers.given,
        noticed=workers.noticed,
        returned=workers.returned,
        whole=whole,
    )
    workers.seq = lambda: recording.state.seq
    loop = SimulatedLoop()
    try:
        loop.run_until_complete(_watched(recording, workers))
    except Stalled as stalled:
        recording.noticed.append(str(stalled))
        _ABANDONED.extend(asyncio.all_tasks(loop))
    finally:
        loop.close()
    recording.events = tuple(recording.journal.events("run"))
    return recording


async def _watched(recording: Recording, workers: Workers) -> None:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(
        lambda _, context: recording.noticed.append(f"nobody dealt with: {context}")
    )
    run = (_whole if recording.whole else _engine)(recording, workers)
    task = loop.create_task(run, name="the run")
    ends = recording.scenario.ends
    cancel = loop.call_later(ends[1], task.cancel) if ends and ends[0] == "cancel" else None
    await asyncio.wait([task])
    if cancel is not None:
        cancel.cancel()
    recording.ended_s = loop.time()
    if task.cancelled():
        recording.error = asyncio.CancelledError()
    else:
        recording.error = task.exception()
    recording.seq_at_end = recording.state.seq
    await asyncio.sleep(0)
    recording.left = _left(recording)
    await asyncio.sleep(LINGER_S)


def _left(recording: Recording) -> list[str]:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SimulatedLoop)
    here = asyncio.current_task()
    tasks = [task.get_name() for task in asyncio.all_tasks() if task is not here]
    # What a worker that was let go of has set for itself is nobody else's to cancel.
    stuck = any(isinstance(event, WorkerStuck) for event in recording.journal.events("run"))
    timers = [
        name for name in loop.timers_left() if not (stuck and name.startswith(("task:", "consult")))
    ]
    return [*tasks, *(f"a timer of {name or 'the loop'}" for name in timers)]


async def _whole(recording: Recording, workers: Workers) -> None:
    """From the request to the answer, as the supervisor has it done."""
    made = recording.scenario
    recorder = Recorder("run", recording.journal, clock=VirtualClock())
    recording.state = recorder.state
    recorder.state.nonce = "nonce"  # else the crew makes one by chance
    active = ActiveRun()
    account = Account(Ledger(made.budget)) if made.budget is not None else None
    workers.account = account
    synthesizer = ScriptedSynthesizer(made.synthesis) if made.synthesis != "code" else None
    stop = _stop_in_time(recording, active.stop)
    try:
        async with Crew(
            made.team, recorder, request="do it all", synthesizer=synthesizer, account=account
        ) as crew:
            crew.remedies = _remedies(recording)
            run = Run(
                made.team,
                recorder,
                crew,
                active=active,
                deadline_s=made.deadline_s,
                concurrency=made.concurrency,
            )
            recording.answer = await run.to_answer(Request("do it all"), made.plan)
    finally:
        if stop is not None:
            stop.cancel()
        if account is not None and account.ledger.held != NOTHING and not recorder.state.stuck:
            recording.noticed.append(f"still reserved after the run: {account.ledger.held}")


async def _engine(recording: Recording, workers: Workers) -> None:
    """The accepted plan through the scheduler alone."""
    made = recording.scenario
    recorder = Recorder("run", recording.journal, clock=VirtualClock())
    recording.state = recorder.state
    recorder.record(
        RunStarted(
            **recorder.stamp(),
            team=made.team.name,
            request="do it all",
            engine="deterministic",
            deadline_s=made.deadline_s,
        )
    )
    recorder.record(PlanProposed(**recorder.stamp(), plan=made.plan, by="chance"))
    recorder.record(PlanAccepted(**recorder.stamp()))
    names = [worker.name for worker in made.team.workers]
    runner = FunctionWorker(workers.work)
    ends = made.deadline_s is not None or made.ends is not None
    scheduler = Scheduler(
        recorder,
        made.team,
        dict.fromkeys(names, runner),
        concurrency=made.concurrency,
        remedies=_remedies(recording),
        # Nobody else sets a person a time.
        person=ScriptedPerson(made.seed, may_never=ends) if made.person else None,
    )
    stop = _stop_in_time(recording, scheduler.stop)
    try:
        await scheduler.run(deadline_s=made.deadline_s)
    finally:
        if stop is not None:
            stop.cancel()


def _remedies(recording: Recording) -> ScriptedRemedies | None:
    made = recording.scenario
    if not made.remedies:
        return None
    remedies = ScriptedRemedies(made.seed, [worker.name for worker in made.team.workers])
    recording.revised = remedies.revised
    return remedies


def _stop_in_time(recording: Recording, stop: Callable[[str], None]) -> asyncio.TimerHandle | None:
    ends = recording.scenario.ends
    if ends is None or ends[0] != "stop":
        return None

    def now() -> None:
        recording.stopped = True
        stop("somebody said so")

    return asyncio.get_running_loop().call_later(ends[1], now)
