"""Runs the team's functions as the supervisor does, and reads what they hand on."""

from collections.abc import Callable
from pathlib import Path

from leadhand.contracts.outcome import Handoff, Result
from leadhand.teams.research.findings import Findings


def handoff(request: str, *paths: Path) -> Handoff:
    """A task of the template, about the files at `paths`."""
    return Handoff(
        run_id="run",
        task_id="task",
        attempt=1,
        from_agent="supervisor",
        to_agent="worker",
        intent=f"Find out what there is on this: {request}",
        artifacts=tuple(map(str, paths)),
        return_to="supervisor",
    )


def found(work: Callable[[Handoff], Result], request: str, *paths: Path) -> Findings:
    """What `work` finds on `request` in the files at `paths`."""
    return Findings.model_validate(work(handoff(request, *paths)).output)


def written(findings: Findings) -> str:
    """All that is said in the sections, with their titles."""
    return "\n\n".join(f"### {one.title}\n\n{one.body}" for one in findings.sections)
