"""Plans by the request: the experts that it is for, each with its part of the question."""

from collections.abc import Sequence

from leadhand import Plan, Task, Team
from leadhand.contracts.task import PlanRequest
from leadhand_teams.experts.fields import Expert, choose, weights
from leadhand_teams.experts.words import pattern


def plan(request: PlanRequest, team: Team) -> Plan:
    """A task for one expert or two, or one that asks back. Raises `InputError`."""
    paths = [path for batch in request.batches.get("inputs", ()) for path in batch.artifacts]
    choice = choose(request.text, team.trained_router)
    chosen: list[Expert] = [one for one in (choice.expert, choice.secondary) if one is not None]
    confidence = round(choice.confidence)
    tasks = [
        Task(
            id=expert,
            worker=expert,
            intent=f"Answer from the documents: {part}",
            payload={"confidence": confidence, "question": part},
            artifacts=tuple(paths),
        )
        for expert, part in _parts(request.text, chosen).items()
    ]
    if len(tasks) != 1:
        what = "Judge where the experts contradict each other" if tasks else "Ask what is meant"
        judge = Task(
            id="moderator",
            worker="moderator",
            intent=f"{what}: {request.text}",
            payload={"confidence": confidence},
            depends_on=tuple(task.id for task in tasks),
            tolerates_missing=True,
        )
        tasks.append(judge)
    return Plan(goal=request.text, tasks=tasks)


def _parts(question: str, chosen: Sequence[Expert]) -> dict[Expert, str]:
    """The part of the question that is for each expert; the whole if it can't be split."""
    parts: dict[Expert, list[str]] = {expert: [] for expert in chosen}
    for part in filter(None, map(str.strip, pattern("parts").split(question))):
        heavy = weights(part)
        most = max((heavy[expert] for expert in chosen), default=0.0)
        for expert in chosen:
            if heavy[expert] == most:
                parts[expert].append(part)
    whole = len(chosen) < 2 or not all(parts.values())
    return {one: question if whole else " ".join(found) for one, found in parts.items()}
