"""The template planner: a plan from the team's template, without a model."""

from collections.abc import Sequence

from leadhand.contracts.task import PREVIOUS, Batch, Plan, PlanRequest, Task, filled
from leadhand.contracts.team import TaskTemplate, Team
from leadhand.errors import InputError

_WHOLE = (Batch(artifacts=()),)


class TemplatePlanner:
    """Without a template every worker gets one task, all at once."""

    name = "template"

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        """One task for each entry, or for each batch of its `for_each`. Raises `InputError` if
        no entry has anything to work on."""
        synthesis = team.template_synthesis or team.synthesis
        if not team.template:
            earlier = (PREVIOUS,) if request.after else ()
            each = (
                Task(id=one.name, worker=one.name, intent=request.text, artifacts=earlier)
                for one in team.workers
            )
            return Plan(goal=request.text, tasks=tuple(each), synthesis=synthesis)
        template = team.template
        batches = {entry.id: _batches(entry, request) for entry in template}
        ids = {entry.id: _ids(entry, batches[entry.id]) for entry in template}
        # Batch by batch: workers use the same batch at about the same time, so that files that one
        # of them has read or parsed are still cached for the next.
        numbered = sorted(
            (number, place)
            for place, entry in enumerate(template)
            for number in range(len(batches[entry.id]))
        )
        if not numbered:
            # Every entry is for a batch of the inputs, and there are none.
            raise InputError("nothing to work on: hand in files, or name a model")
        return Plan(
            goal=request.text,
            tasks=tuple(
                _task(template[place], number, batches, ids, request) for number, place in numbered
            ),
            synthesis=synthesis,
        )


def _batches(entry: TaskTemplate, request: PlanRequest) -> Sequence[Batch]:
    return _WHOLE if entry.for_each is None else request.batches.get(entry.for_each, ())


def _ids(entry: TaskTemplate, batches: Sequence[Batch]) -> list[str]:
    if entry.for_each is None or len(batches) == 1:
        return [entry.id for _ in batches]
    return [f"{entry.id}-{number}" for number in range(1, len(batches) + 1)]


def _task(
    entry: TaskTemplate,
    number: int,
    batches: dict[str, Sequence[Batch]],
    ids: dict[str, list[str]],
    request: PlanRequest,
) -> Task:
    batch = batches[entry.id][number]
    # Tasks that build on others get what the run before found through them.
    earlier = (PREVIOUS,) if request.after and not entry.depends_on else ()
    shown = ", ".join(batch.artifacts[:3]) + (", ..." if len(batch.artifacts) > 3 else "")
    fields = {
        "request": request.text,
        "batch": batch.name,
        "count": str(len(batch.artifacts)),
        "batches": str(len(batches[entry.id])),
        "names": shown,
    }
    return Task(
        id=ids[entry.id][number],
        worker=entry.worker,
        intent=filled(entry.intent, fields),
        # A dependency with no batches has no tasks to wait for.
        depends_on=tuple(one for needed in entry.depends_on for one in ids.get(needed, [needed])),
        artifacts=(*batch.artifacts, *earlier),
        payload=entry.payload,
        done_when=entry.done_when,
        tolerates_missing=entry.tolerates_missing,
        limits=entry.limits,
    )
