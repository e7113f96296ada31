"""The exceptions that leadhand raises; everything a worker or a plan gets wrong is a value instead.

LeadhandError
├── InputError          what was asked for can't be done as given: mend the input (exit status 2)
│   ├── TeamError       a team has problems; carries them all
│   ├── PlanRejected    a plan has problems; carries them all
│   └── RunTaken        another process works on the run
├── JournalError        what happened can't be kept, or can't be read
│   └── DamagedRun      a stored run is not what was written
├── ModelError          no model gave an answer that could be used
│   └── BudgetUsedUp    no model was asked, because the run's budget does not reach
└── ToolError           a program or file that leadhand needs is missing or broken

`Permanent` is no `LeadhandError`: workers raise it.
"""

from collections.abc import Sequence
from typing import Protocol


class ProblemLike(Protocol):
    """Anything that names what is wrong and how to mend it."""

    @property
    def message(self) -> str: ...


class LeadhandError(Exception):
    """The root of every exception that leadhand raises on purpose."""


class Permanent(Exception):
    """Raised by a worker's own code for a failure that no retry can cure: it is not retried."""


class InputError(LeadhandError):
    """What the caller handed in can't be worked with: one line says what, where, what to do."""


class TeamError(InputError):
    """A team can't be used as it is described; `problems` holds every reason."""

    def __init__(self, name: str, problems: Sequence[str]) -> None:
        self.name = name
        self.problems = tuple(problems)
        super().__init__(f"team {name!r} can't be used: " + "; ".join(self.problems))


MAX_SHOWN_PROBLEMS = 50
"""How many problems of a plan one message names."""


class PlanError(InputError):
    """A plan failed its check; `problems` holds every reason, each with the way to fix it."""

    def __init__(self, problems: Sequence[ProblemLike]) -> None:
        self.problems = tuple(problems)
        shown = "; ".join(problem.message for problem in self.problems[:MAX_SHOWN_PROBLEMS])
        more = len(self.problems) - MAX_SHOWN_PROBLEMS
        super().__init__(f"plan rejected: {shown}" + (f"; and {more:,} more" if more > 0 else ""))


class ToolError(LeadhandError):
    """A program, file or service that leadhand relies on is missing or misbehaves."""


class ModelError(LeadhandError):
    """No model gave an answer that could be used; `transient` where one may, a moment later."""

    def __init__(self, message: str, *, transient: bool) -> None:
        self.transient = transient
        super().__init__(message)


class BudgetUsedUp(ModelError):
    """A model was not asked: what is left of the run's budget may not pay for the answer."""

    def __init__(self, message: str) -> None:
        super().__init__(message, transient=False)


class RunTaken(InputError):
    """Another process, or another task of this one, works on the run; `holder` says who."""

    def __init__(self, run_id: str, holder: str) -> None:
        self.run_id = run_id
        self.holder = holder
        super().__init__(f"run {run_id!r} is under way: {holder} has it")


class JournalError(LeadhandError):
    """The journal can't keep events, or give them back: one line says which, where and why.

    What was committed before stands. Nothing after the first failure is kept.
    """


class DamagedRun(JournalError):
    """A stored run is not what was written: `seq` is the first event that is wrong, `why` how."""

    def __init__(self, run_id: str, seq: int, why: str) -> None:
        self.run_id = run_id
        self.seq = seq
        self.why = why
        super().__init__(
            f"run {run_id!r} is damaged at {self.where}; `leadhand show {run_id}` shows what is "
            "sound of it, `leadhand runs check` looks at all runs"
        )

    @property
    def where(self) -> str:
        """The event and what is wrong with it."""
        return f"event {self.seq}: {self.why}"
