"""The rounds of a simulated run: a planner that decides at random, and what its log has to obey."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from leadhand.contracts.earlier import PREVIOUS
from leadhand.contracts.events import (
    ApprovalGiven,
    Event,
    PlanAccepted,
    PlanAmended,
    PlanRejected,
    RoundDecided,
    RunResumed,
    TaskCompleted,
    TaskSplit,
)
from leadhand.contracts.rounds import Decision, Round
from leadhand.contracts.task import Task
from leadhand.errors import ModelError
from tests.simulation.seen import Seen

MAX_ROUNDS = 5


class ScriptedDecider:
    """Decides soundly, or what can't be done, or late, or not at all, as chance has it."""

    name = "scripted"

    def __init__(
        self, seed: int, workers: Sequence[str], *, process: int = 1, may_never: bool
    ) -> None:
        """`may_never`: whether the run comes to its end although a decision never comes."""
        self._seed = f"decider {seed} in process {process}"
        self._workers = workers
        self._may_never = may_never
        self._asked = 0

    async def decide(
        self, now: Round, *, problems: Callable[[Decision], Sequence[str]]
    ) -> Decision:
        """Some tasks, the same as before, none, or an error; it listens to problems or does not."""
        self._asked += 1
        chance = Random(f"{self._seed} {self._asked}")
        await self._thinks(chance)
        decision = self._decision(chance, now)
        for _ in range(2):
            if not problems(decision) or chance.random() < 0.2:
                break
            decision = self._decision(chance, now)
        return decision

    def _decision(self, chance: Random, now: Round) -> Decision:
        count = chance.choice((0, 1, 1, 2, 3)) if now.tasks else chance.choice((1, 2, 3, 12))
        ids = [f"d{number}" for number in range(count)]
        known = [one.task.id for one in now.tasks]
        tasks: list[Task] = []
        for id in ids:
            others = [
                *known,
                *ids[: ids.index(id)],
                *(["nowhere"] if chance.random() < 0.03 else []),
            ]
            needs = chance.sample(others, min(len(others), chance.choice((0, 0, 1, 2))))
            part = chance.randrange(3) if chance.random() < 0.1 else chance.random()
            tasks.append(
                Task(
                    id=id if chance.random() < 0.7 else f"{id}-{now.number}",
                    worker="nobody" if chance.random() < 0.02 else chance.choice(self._workers),
                    intent=f"find out part {part} and say where it is from",
                    depends_on=tuple(needs),
                    tolerates_missing=chance.random() < 0.7,
                    artifacts=_earlier(chance, now) if now.after else (),
                )
            )
        return Decision(
            tuple(tasks),
            reason=chance.choice(("there is more to know", "", "\x1b[2J")),
            asks_after=chance.choice(("all", "first")),
            done=not tasks if chance.random() < 0.7 else chance.random() < 0.5,
        )

    async def _thinks(self, chance: Random) -> None:
        way = chance.random()
        if way < 0.04 and self._may_never:
            await asyncio.get_running_loop().create_future()
        elif way < 0.08:
            raise chance.choice((ModelError("no model", transient=True), RuntimeError("no idea")))
        elif way < 0.6:
            await asyncio.sleep(chance.expovariate(1.0))


def _earlier(chance: Random, now: Round) -> tuple[str, ...]:
    """What a task names of the runs before; rarely a result that is not there."""
    names = (PREVIOUS, f"{PREVIOUS}/{now.after[0].results[0].task_id}", f"{PREVIOUS}/nothing")
    return tuple(
        name for name, at in zip(names, (0.5, 0.3, 0.02), strict=True) if chance.random() < at
    )


@dataclass(slots=True)
class WatchedRounds:
    """What the log says of a run's rounds; it knows nothing of the engine's own state."""

    number: int = 0
    end: str | None = None
    unapproved: bool = False
    _awaited: list[str] = field(default_factory=list[str])
    _asks_after: str = "all"
    _objected: bool = False
    _approved: bool = False
    """Whether a person approved what was proposed last."""
    _asked_for: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    @property
    def lacks_more(self) -> bool:
        """Whether the planner would have more to decide if the run were resumed."""
        return self.number > 0 and (self.end in (None, "failed") or self.unapproved)

    @property
    def awaits_decision(self) -> bool:
        """Whether the planner has to be asked before the run ends by itself."""
        return self.number > 0 and self.end is None

    @property
    def has_gap(self) -> bool:
        """Whether the answer has to say that the planner was not done."""
        return self.number > 0 and (self.end != "done" or self.unapproved)

    def read(self, event: Event, tasks: Mapping[str, Seen]) -> Iterator[str]:
        """Every rule that the next event breaks; `tasks` are those of the plan after it."""
        match event:
            case RoundDecided():
                yield from self._decided(event, tasks)
            case ApprovalGiven() if event.task_id is None:
                self._approved = event.verdict == "approved"
            case PlanAccepted():
                if event.approved and not self._approved:
                    yield "nobody approved the plan"
                self._approved = False
                self._awaited = [*tasks]
                self._asked_for = {_key(seen.task) for seen in tasks.values()}
            case PlanAmended() if self.unapproved:
                if not self._approved:
                    yield "nobody approved the tasks of the round"
                self._approved = False
                self.unapproved, self._awaited = False, [task.id for task in event.added]
            case PlanRejected() if self.unapproved and event.task_id is not None:
                self.unapproved, self.end = False, "refused"
            case TaskSplit() if event.task_id in self._awaited:
                self._awaited.remove(event.task_id)
                self._awaited += [part.id for part in event.parts]
            case TaskCompleted() if event.result.plan_impact is not None:
                self._objected = True
            case RunResumed():
                self.end = None if self.end == "failed" else self.end
                self._awaited += [id for id in event.again if id not in self._awaited]
            case _:
                pass

    def _decided(self, event: RoundDecided, tasks: Mapping[str, Seen]) -> Iterator[str]:
        objected, self._objected = self._objected, False
        if self.number and tasks:
            yield from self._is_due(event, tasks, objected=objected)
        if event.end in ("limit", "failed"):
            self.end = event.end
            if event.end == "limit" and self.number != MAX_ROUNDS:
                yield f"the limit was reached after {self.number} rounds"
            return
        if event.round != self.number + 1 and (tasks or event.round != 1):
            yield f"round {event.round} followed round {self.number}"
        if event.round > MAX_ROUNDS:
            yield f"round {event.round} is one too many"
        self.number, self.end, self._asks_after = event.round, event.end, event.asks_after
        for task in event.tasks:
            if _key(task) in self._asked_for:
                yield f"{task.id} asks for the same as a task before"
            self._asked_for.add(_key(task))
        self.unapproved = event.needs_approval
        opened = [id for id, seen in tasks.items() if not seen.ended]
        self._awaited = [task.id for task in event.tasks] or opened

    def _is_due(
        self, event: RoundDecided, tasks: Mapping[str, Seen], *, objected: bool
    ) -> Iterator[str]:
        if self.unapproved:
            yield "a round was decided while the one before waited for its approval"
        if self.end not in (None, "done") or (self.end == "done" and not objected):
            yield f"a round was decided after the rounds had ended: {self.end}"
        added = {task.id for task in event.tasks}
        ends = [tasks[id].ended for id in self._awaited if id in tasks and id not in added]
        due = all(ends) or (self._asks_after == "first" and any(ends))
        if not (due or objected):
            yield "a round was decided before the tasks of the one before had ended"


def _key(task: Task) -> tuple[str, str]:
    return task.worker, task.intent
