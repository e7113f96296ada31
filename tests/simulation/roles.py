"""The roles of a simulated run besides planners and workers; they say anything at all.

What they give goes through the same checks as a model's words.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from random import Random
from typing import cast

from leadhand.contracts.answer import Synthesis
from leadhand.contracts.outcome import Escalated, Failed, PlanImpact, Result, TaskResult
from leadhand.contracts.people import Question, Reply
from leadhand.contracts.task import Limits, Plan, Task
from leadhand.errors import ModelError
from leadhand.state.fold import RunState
from leadhand.synthesis.merge import merge


class ScriptedRemedies:
    """Remedies that are sound, silent, slow, broken or nonsense, as chance has it."""

    name = "scripted"

    def __init__(self, seed: str, workers: Sequence[str]) -> None:
        self._seed = seed
        self._workers = workers
        self._asked = 0

    async def refine(self, task: Task, outcome: Escalated | Failed) -> str | None:
        """Other words, the same, none, too many, or no words at all."""
        chance = await self._considered()
        words = (f"{task.intent}, and mind the units", task.intent, "", None, "long " * 9_000, 7)
        return cast("str | None", chance.choices(words, (6, 1, 1, 1, 1, 1))[0])

    async def reassign(
        self, task: Task, outcome: Escalated | Failed, *, workers: Sequence[str]
    ) -> str | None:
        """One of those to choose from, nobody, or somebody who is not there."""
        chance = await self._considered()
        return chance.choice((*workers, None, "nobody"))

    async def split(self, task: Task, outcome: Escalated | Failed) -> Sequence[Task]:
        """Parts; too many or too few of them, in a circle, for nobody, or not tasks."""
        chance = await self._considered()
        if chance.random() < 0.05:
            return cast("Sequence[Task]", "t1")
        count = chance.choice((0, 1, 2, 2, 3, 8, 9))
        return [self._part(chance, number, count) for number in range(count)]

    def _part(self, chance: Random, number: int, count: int) -> Task:
        others = range(count) if chance.random() < 0.05 else range(number)
        needs = [f"p{other}" for other in others if chance.random() < 0.3]
        return Task(
            id=f"p{number}",
            worker="nobody" if chance.random() < 0.05 else chance.choice(self._workers),
            intent="" if chance.random() < 0.03 else f"look into the half number {number} of it",
            depends_on=tuple(needs),
        )

    async def judge(self, task: Task, first: Result, second: Result) -> tuple[bool, str]:
        chance = await self._considered()
        return chance.random() < 0.5, "it names its sources"

    async def revise(self, state: RunState, impact: PlanImpact, *, task_id: str) -> Sequence[Task]:
        """The tasks that wait: some left out, some changed, some new, and now and then nonsense."""
        chance = await self._considered()
        waiting = [one.task for one in state.tasks.values() if one.status == "pending"]
        kept = [self._changed(chance, task, state) for task in waiting if chance.random() < 0.9]
        known = [*state.tasks, *(["no_such_task"] if chance.random() < 0.05 else [])]
        for number in range(chance.choice((0, 1, 2))):
            # Ids that a run before used, or a task still has, are among those it thinks of.
            id = chance.choices((f"r{state.seq}-{number}", f"r{number}", "t1"), (8, 1, 1))[0]
            kept.append(
                Task(
                    id=id,
                    worker=chance.choice(self._workers),
                    intent=f"look at the configuration, place {number}",
                    depends_on=tuple(chance.sample(known, min(len(known), chance.randint(0, 2)))),
                    tolerates_missing=chance.random() < 0.5,
                )
            )
        return kept

    def _changed(self, chance: Random, task: Task, state: RunState) -> Task:
        if chance.random() < 0.7:
            return task
        needs = {id for id in task.depends_on if chance.random() < 0.5}
        needs |= {chance.choice(list(state.tasks))} - {task.id}
        return task.model_copy(
            update={
                "depends_on": tuple(sorted(needs)),
                "worker": chance.choice(self._workers),
                "tolerates_missing": chance.random() < 0.5,
                "limits": Limits(timeout_s=chance.choice((1.0, 30.0))),
            }
        )

    async def _considered(self) -> Random:
        """A source of chance for one question, after some thought; sometimes none ever comes."""
        self._asked += 1
        chance = Random(f"remedy {self._seed} {self._asked}")
        await thought(chance)
        return chance


class PersonHere:
    """A person who is here while a run goes on: what puts a question to them."""

    def __init__(self, chance: Random, *, may_never: bool) -> None:
        """`may_never`: whether the run comes to its end although they never answer."""
        self._chance = chance
        self._may_never = may_never

    async def __call__(self, question: Question) -> Reply | str | None:
        """A word, a reply, nothing, or an error."""
        chance = self._chance
        if question.plan is not None:
            # What they take to think of a plan is not of the run's time.
            await asyncio.sleep(0)
            replies = (reply_to(question, chance), "", None, "not like that")
            return chance.choices(replies, (5, 5, 2, 1))[0]
        await thought(chance, may_never=self._may_never)
        return chance.choice((reply_to(question, chance), "it is in there", "  ", None))


def reply_to(question: Question, chance: Random) -> Reply:
    """What a person says, now or in a message, about a task or a plan."""
    task_id = question.task_id
    if question.plan is not None:
        return Reply(task_id=task_id, verdict="approved" if chance.random() < 0.9 else "refused")
    verdict = "answered" if chance.random() < 0.7 else "declined"
    return Reply(task_id=task_id, verdict=verdict, text="it is in the second cupboard")


class ScriptedSynthesizer:
    """A synthesizer that says it calls a model, and then does what it was told to."""

    name = "scripted"
    calls_model = True

    def __init__(self, manner: str) -> None:
        self._manner = manner

    async def synthesize(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        """The results side by side, now or later, or an error, or nothing ever."""
        await asyncio.sleep(7.0 if self._manner == "slow" else 0)
        if self._manner == "broken":
            raise ModelError("the provider is down", transient=True)
        if self._manner == "hangs":
            await _deaf()
        return merge(plan, results)

    def by_code(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        return merge(plan, results)


async def thought(chance: Random, *, may_never: bool = True) -> None:
    """A pause, none, an error, or no end; `may_never`: the run ends even without one."""
    ways: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: asyncio.sleep(0),
        lambda: asyncio.sleep(chance.expovariate(1.0)),
        lambda: asyncio.sleep(90.0),
        asyncio.get_running_loop().create_future,
        _deaf,
        _broken,
    )
    never = 1 if may_never else 0
    await chance.choices(ways, (10, 10, 1, never, never, 2))[0]()


async def _deaf() -> None:
    """Never ends, and cannot be told to."""
    while True:
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            continue


async def _broken() -> None:
    raise RuntimeError("no idea")
