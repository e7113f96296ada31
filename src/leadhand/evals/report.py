"""What an evaluation found: trials, figures of each team, and the document that JSON holds."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from leadhand.contracts.answer import Engine
from leadhand.contracts.data import Record, in_one_line
from leadhand.errors import InputError
from leadhand.evals.figures import Figure, FigureChange, Samples, change, figure
from leadhand.evals.planning import PlanShape
from leadhand.evals.trials import COSTS, PASSED, TIMES, CaseScore

StepKind = Literal["plan", "task", "tool", "model", "synthesis"]


class FirstError(Record):
    task_id: str | None
    """None: in the plan, or in the synthesis."""
    worker: str | None = None
    step: StepKind
    seq: int
    """The event in the run's log."""
    run_id: str = ""
    why: str


class TrialReport(Record):
    case: str
    repeat: int
    """From 1."""
    run_ids: tuple[str, ...] = ()
    """The runs in the journal: of the team, then of each worker alone."""
    status: str = ""
    engine: Engine = "deterministic"
    scores: tuple[CaseScore, ...] = ()
    seconds: float = 0.0
    requests: int = 0
    tokens: int = 0
    cost_usd: float | None = None
    """None: unknown, or nothing was spent."""
    speedup: float | None = None
    refused: tuple[str, ...] = ()
    """Tools that were not called, because they may change something."""
    routed: tuple[str | None, str | None] | None = None
    """The worker that the request is for and the one that got it; None if that is not scored."""
    first_error: FirstError | None = None
    shape: PlanShape | None = Field(default=None, exclude=True)
    error: str | None = None

    @property
    def passed(self) -> bool:
        return self.error is None and not any(score.failed for score in self.scores)

    @property
    def title(self) -> str:
        return self.case if self.repeat == 1 else f"{self.case} #{self.repeat}"


class TeamReport(Record):
    team: str
    engine: Engine
    scores: dict[str, Figure]
    """By the names of scores, and `passed`."""
    costs: dict[str, Figure]
    confused: tuple[tuple[str | None, str | None, int], ...] = ()
    """The worker that requests were for, the one that they went to, and how often."""
    trials: tuple[TrialReport, ...] = ()

    @property
    def figures(self) -> dict[str, Figure]:
        return {**self.scores, **self.costs}


class EvalReport(Record):
    id: str
    teams: tuple[TeamReport, ...]

    @classmethod
    def read(cls, file: Path) -> "EvalReport":
        """The report in a file that `--format json` printed. Raises `InputError`."""
        try:
            return cls.model_validate_json(file.read_bytes())
        except OSError as error:
            raise InputError(f"can't read the baseline {file}: {error.strerror}") from error
        except ValidationError as error:
            raise InputError(f"{file} is no report of `eval`: {in_one_line(error)}") from error


def team_report(team: str, trials: Sequence[TrialReport]) -> TeamReport:
    routes = Counter(one.routed for one in trials if one.routed is not None)
    scored = sorted({score.name for one in trials for score in one.scores})
    samples = {name: _samples(trials, name) for name in (PASSED, *scored, *COSTS)}
    figures = {name: figure(values) for name, values in samples.items() if values}
    return TeamReport(
        team=team,
        engine="model" if any(one.engine == "model" for one in trials) else "deterministic",
        scores={name: one for name, one in figures.items() if name not in COSTS},
        costs={name: one for name, one in figures.items() if name in COSTS},
        confused=tuple(
            (*pair, count) for pair, count in routes.most_common() if pair[0] != pair[1]
        ),
        trials=tuple(trials),
    )


def changes(now: TeamReport, before: TeamReport) -> list[FigureChange]:
    """How each figure changed that both have, in `now`'s order."""
    noisy = "model" in (now.engine, before.engine)
    found = (
        change(
            name,
            _samples(now.trials, name),
            _samples(before.trials, name),
            noisy=noisy or name in TIMES,
            lower_is_better=name in COSTS[:-1] or name == "judge.abstained",
        )
        for name in now.figures
    )
    return [one for one in found if one is not None]


def is_worse(found: Iterable[FigureChange]) -> bool:
    """Whether anything is worse but the time, which depends on the machine."""
    return any(one.verdict == "worse" and one.name not in TIMES for one in found)


def _samples(trials: Sequence[TrialReport], name: str) -> Samples:
    found: defaultdict[str, list[float]] = defaultdict(list)
    for trial in trials:
        values: list[float | None] = [score.value for score in trial.scores if score.name == name]
        if name == PASSED:
            values = [trial.passed]
        elif name in COSTS:
            values = [getattr(trial, name)] if trial.error is None else []
        for value in values:
            if value is not None:
                found[trial.case].append(float(value))
    return found
