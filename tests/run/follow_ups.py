"""A desk of clerks, the run about April, and runs that follow it."""

from leadhand import Handoff, Plan, Result, Supervisor, Task, Team, Worker
from leadhand.contracts.answer import Answer
from leadhand.testing import run_virtual
from tests.run.kinds.kinds import fails

APRIL = Plan(
    goal="What was sold in April?",
    tasks=[
        Task(id="north", worker="clerk", intent="Count the sales of the north in April"),
        Task(id="south", worker="clerk", intent="Count the sales of the south in April"),
    ],
)
seen: list[Handoff] = []


async def sells(handoff: Handoff) -> Result:
    seen.append(handoff)
    return Result(output={"sold": len(handoff.task_id)}, summary=f"{handoff.task_id} is counted")


def desk(**more: object) -> Team:
    workers = [Worker("clerk", "Counts sales", run=sells), Worker("bad", "Fails", run=fails)]
    return Team("desk", workers=workers, **more)  # pyright: ignore[reportArgumentType]


def after_april(supervisor: Supervisor, *tasks: Task, **more: object) -> Answer:
    """The answer of a run of these tasks that follows the one about April."""

    async def main() -> Answer:
        await supervisor.run(plan=APRIL, run_id="april")
        plan = Plan(goal="And in May?", tasks=tasks)
        return await supervisor.run(plan=plan, after="april", **more)  # pyright: ignore[reportArgumentType]

    return run_virtual(main())


def add(*artifacts: str, id: str = "add") -> Task:
    return Task(id=id, worker="clerk", intent="Add the sales up", artifacts=artifacts)
