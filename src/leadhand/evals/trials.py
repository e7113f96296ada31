"""A trial: one run of a case, and the scores that it gets."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pydantic import Field, JsonValue, ValidationError

from leadhand.contracts import events
from leadhand.contracts.answer import Answer
from leadhand.contracts.data import Record, in_one_line
from leadhand.contracts.outcome import Result
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.evals.cases import Case, ExpectedWork

ORIGIN: dict[str, JsonValue] = {"command": "eval"}
"""The origin of all runs of evaluations, which `leadhand runs` leaves out by default."""
TIMES = ("seconds", "speedup")
PASSED = "passed"
"""The share of trials without a failed score."""
COSTS = ("seconds", "requests", "tokens", "cost_usd", "speedup")
"""Figures of which less is better, but for the last."""


class CaseScore(Record):
    name: str
    """`level.figure`, such as `plan.edges`."""
    value: float = Field(ge=0, le=1)
    """1 is best."""
    why: str = ""
    """What was wrong; empty if nothing was."""
    bar: float = Field(default=1.0, ge=0, le=1)
    """The value from which the trial passes."""

    @property
    def failed(self) -> bool:
        return self.value < self.bar


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of a case, as scorers see it."""

    case: Case
    team: Team
    answer: Answer
    log: Sequence[events.Event]
    work: ExpectedWork | None = None
    """What is expected of the worker that got the request alone; None: the team got it."""

    @property
    def plan(self) -> Plan | None:
        """The first plan, accepted or waiting for approval; None if there was none."""
        plan: Plan | None = None
        for event in self.own:
            if isinstance(event, events.PlanProposed) and event.task_id is None:
                plan = event.plan
            elif isinstance(event, events.PlanRejected) and event.task_id is None:
                plan = None
            elif isinstance(event, events.PlanAccepted):
                break
        return plan

    @property
    def own(self) -> list[events.Event]:
        """The events of the run itself, without those of nested runs."""
        return [event for event in self.log if not event.within]

    @property
    def results(self) -> dict[str, Result]:
        """The result of each task that has one, even a partial one."""
        found: dict[str, Result] = {}
        for event in self.own:
            if isinstance(event, events.TaskCompleted):
                found[event.task_id] = event.result
            elif isinstance(event, events.TaskEscalated | events.TaskFailed) and event.partial:
                found.setdefault(event.task_id, event.partial)
        return found


Scorer = Callable[[Trial], CaseScore | bool | float | None]
"""A scorer of the user's own: `True`, or a number from 0 to 1, is a score with the function's name;
`None` means that it has nothing to say about the case."""


def scored_by(scorer: Scorer, trial: Trial) -> list[CaseScore]:
    """The scores that a user's scorer gives. One that raises gives a failed score."""
    name = getattr(scorer, "__name__", type(scorer).__name__)
    try:
        given = scorer(trial)
        if isinstance(given, bool | int | float):
            given = CaseScore(name=name, value=given)
        if not isinstance(given, CaseScore | None):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"it returned {given!r:.80}, which is no CaseScore")
    except (Exception, SystemExit) as error:  # a scorer may raise anything
        said = in_one_line(error) if isinstance(error, ValidationError) else str(error)
        why = f"the scorer raised {type(error).__name__}: {said}"
        return [CaseScore(name=name, value=0.0, why=why)]
    return [given] if given is not None else []


def share(name: str, missing: Sequence[str], total: int, why: str = "") -> Iterator[CaseScore]:
    """The score of a list of which `missing` are not there; none of an empty list."""
    if not total:
        return
    shown = ", ".join(f"{one!r:.80}" for one in missing[:5])
    why = f"{why}{shown}" if missing else ""
    yield CaseScore(name=name, value=max(0.0, 1 - len(missing) / total), why=why)
