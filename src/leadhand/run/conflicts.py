"""The conflicts of a run: found by code in all results, whatever its synthesizer looked for."""

from collections.abc import Iterator

from leadhand.contracts import events
from leadhand.contracts.answer import Conflict, Synthesis
from leadhand.contracts.team import Team
from leadhand.engine.recorder import Recorder
from leadhand.run.gaps import results_of
from leadhand.state.fold import RunState
from leadhand.synthesis.conflicts import between_opinions, compare, rules_of


def record_conflicts(recorder: Recorder, team: Team, synthesis: Synthesis) -> Synthesis:
    """Record the conflicts that are not known yet.

    Returns the synthesis, whose text says so if there are too many results to compare.
    """
    state = recorder.state
    compared = compare(results_of(state), rules_of(team, state.request))
    known = {(one.task_ids, one.about) for one in (*state.conflicts, *state.dismissed)}
    for conflict in (*synthesis.conflicts, *_of_opinions(state), *compared.conflicts):
        if (conflict.task_ids, conflict.about) not in known:
            known.add((conflict.task_ids, conflict.about))
            recorder.record(events.ConflictFound(**recorder.stamp(), conflict=conflict))
    if not compared.note:
        return synthesis
    text = f"{synthesis.answer}\n\n*{compared.note}*".strip()
    return synthesis.model_copy(update={"answer": text})


def _of_opinions(state: RunState) -> Iterator[Conflict]:
    """Contradictions between a result and the second opinion on it. Only a judge settles them."""
    for id, task in state.tasks.items():
        judged, first = task.opinions, task.first
        if judged is None or first is None or task.status != "completed":
            continue
        for one in between_opinions(id, judged.workers, first, judged.second):
            taken = judged.workers[judged.taken == "second"]
            resolution = f"the result of {taken}" if judged.by == "judge" else None
            why = judged.reason if resolution else f"{taken}'s was taken: {judged.reason}"
            yield one.model_copy(update={"resolution": resolution, "why": why})
