"""A team whose planner and synthesizer are code, for tests; a folder of it has this module."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from leadhand import Handoff, InputError, Plan, Role, Task, Team, Worker
from leadhand.extension.roles import Decision, PlanRequest, Round, Synthesis, TaskResult

FILES = {
    "team.yaml": 'planner: {run: "code_team:plan"}\nsynthesizer: {run: "code_team:answer"}\n',
    "workers/counter.md": "---\ndescription: Counts letters\nrun: code_team:count\n---\n",
}


def write_folder(folder: Path) -> Path:
    """A folder of the team."""
    (folder / "workers").mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "code_team.py").write_text(Path(__file__).read_text("utf-8"), encoding="utf-8")
    return folder


def plan(request: PlanRequest, team: Team) -> Plan:
    """A task for each word of the request, and further behaviour for some requests."""
    if request.text == "nothing":
        raise InputError("no word was handed in: write one")
    if request.text == "fails":
        raise ValueError("no\nidea")
    if request.text == "wrong type":
        return {}  # pyright: ignore[reportReturnType]
    worker = "nobody" if request.text == "unsound" else team.workers[0].name
    words = [path for one in request.batches.get("inputs", ()) for path in one.artifacts]
    tasks = [
        Task(id=f"t{n}", worker=worker, intent=f"Count the letters of {word}", payload=word)
        for n, word in enumerate(words or request.text.split())
    ]
    return Plan(goal=request.text, tasks=tasks)


async def plan_later(request: PlanRequest, team: Team) -> Plan:
    """The same, async."""
    return plan(request, team)


def count(handoff: Handoff) -> int:
    """The letters of the payload."""
    return len(str(handoff.payload))


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The sum of the counts."""
    if plan.goal == "answer fails":
        raise KeyError("total")
    counts = [int(str(one.result.output)) for one in results if one.result is not None]
    return Synthesis(answer=f"{sum(counts)} letters in all", output=[*counts])


class Steps:
    """Counts one word, and in a second round another one."""

    name = "steps"

    async def decide(
        self, now: Round, *, problems: Callable[[Decision], Sequence[str]]
    ) -> Decision:
        if now.request == "fails later" and now.number > 1:
            raise ValueError("no idea")
        if now.number > 2:
            return Decision(done=True)
        tasks = (
            Task(
                id=f"r{now.number}",
                worker="counter",
                intent=f"Count word {now.number}",
                payload="x" * 7,
            ),
        )
        return Decision(tasks, "one more")


STEPS = Steps()


def words(planner: object = plan, synthesizer: object = answer, **more: object) -> Team:
    """The team, in Python."""
    arguments: Mapping[str, object] = {
        "workers": [Worker("counter", "Counts letters", run=count)],
        "planner": Role(run=planner),
        "synthesizer": Role(run=synthesizer),
        **more,
    }
    return Team("words", **arguments)  # pyright: ignore[reportArgumentType]
