"""The exceptions that leadhand raises. What a worker or a plan gets wrong is a value instead.

LeadhandError
├── InputError          an argument, file or request can't be used: fix it (exit status 2)
│   ├── TeamError       a team has problems; carries all of them
│   ├── PlanError       a plan has problems; carries all of them
│   ├── RunExists       there is a run with that id already
│   └── RunTaken        another process works on the run
├── RunRefused          a run was not started, and nothing of it is stored; later it may be
│   ├── BudgetSpent     a budget that it shares has too little left
│   └── QueueFull       too many runs wait already; says when to try again
├── RunInterrupted      the supervisor was shut down before the run ended; it can be resumed
├── JournalError        events can't be stored or read
│   ├── DamagedRun      a stored run was changed or corrupted
│   └── JournalLocked   another process has locked the journal
├── ModelError          no model gave a usable answer
│   ├── NoValidAnswer   models answered, and no answer could be used
│   └── BudgetUsedUp    no model was called, because the rest of the run's budget is too small
└── ToolError           a program or file that leadhand needs is missing or broken

`Permanent` is not a `LeadhandError`: workers raise it.
"""

from collections.abc import Sequence
from typing import Protocol


class ProblemLike(Protocol):
    """A problem: the stable name of its kind, and a message that says how to fix it."""

    @property
    def code(self) -> str: ...

    @property
    def message(self) -> str: ...


class LeadhandError(Exception):
    """The root of every exception that leadhand raises on purpose."""


class Permanent(Exception):
    """Raised by a worker's own code for a failure that must not be retried."""


class InputError(LeadhandError):
    """An argument, file or request can't be used; one line says what, where and what to do."""


class TeamError(InputError):
    """A team has problems; `problems` holds all of them."""

    def __init__(self, name: str, problems: Sequence[str]) -> None:
        self.name = name
        self.problems = tuple(problems)
        super().__init__(f"team {name!r} can't be used: " + "; ".join(self.problems))


MAX_SHOWN_PROBLEMS = 50


class PlanError(InputError):
    """A plan has problems; `problems` holds all of them, each with the way to fix it."""

    def __init__(self, problems: Sequence[ProblemLike]) -> None:
        self.problems = tuple(problems)
        shown = "; ".join(problem.message for problem in self.problems[:MAX_SHOWN_PROBLEMS])
        more = len(self.problems) - MAX_SHOWN_PROBLEMS
        super().__init__(f"plan rejected: {shown}" + (f"; and {more:,} more" if more > 0 else ""))


class ToolError(LeadhandError):
    """A program, file or service that leadhand needs is missing or broken."""


class ModelError(LeadhandError):
    """No model gave a usable answer; `transient` if one may do so a moment later."""

    def __init__(self, message: str, *, transient: bool) -> None:
        self.transient = transient
        super().__init__(message)


class NoValidAnswer(ModelError):
    """Models answered, and no answer could be used, also after repairs."""

    def __init__(self, message: str) -> None:
        super().__init__(message, transient=False)


class BudgetUsedUp(ModelError):
    """A model was not called, because the rest of the run's budget may not pay for the answer."""

    def __init__(self, message: str) -> None:
        super().__init__(message, transient=False)


class RunTaken(InputError):
    """Another process, or another task of this one, works on the run: `holder`."""

    def __init__(self, run_id: str, holder: str) -> None:
        self.run_id = run_id
        self.holder = holder
        super().__init__(f"run {run_id!r} is under way: {holder} has it")


class RunExists(InputError):
    """There is a run with the id `run_id` already, and what was asked for is not its answer."""

    def __init__(self, run_id: str, why: str = "give another run_id") -> None:
        self.run_id = run_id
        super().__init__(f"run {run_id!r} exists already: {why}")


class RunRefused(LeadhandError):
    """A run can't start now, and nothing of it is stored."""


class BudgetSpent(RunRefused):
    """A budget that the run shares with others has less left than the run may spend."""


class QueueFull(RunRefused):
    """Too many runs wait already; the next may have a place in about `retry_after_s`."""

    def __init__(self, waiting: int, *, retry_after_s: float) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(f"{waiting:,} runs wait already: try again in {retry_after_s:.0f} s")


class RunInterrupted(LeadhandError):
    """The run `run_id` has stopped without an answer, or the supervisor was shut down before.

    What was done is kept: any process can resume the run.
    """

    def __init__(self, run_id: str, why: str = "the supervisor was shut down") -> None:
        self.run_id = run_id
        super().__init__(f"run {run_id!r} was interrupted: {why}")


class JournalError(LeadhandError):
    """The journal can't store or read events; one line says which, where and why.

    Events committed before are kept. Nothing is stored after the first failure.
    """


class JournalLocked(JournalError):
    """Another process has locked the file for too long."""


class DamagedRun(JournalError):
    """A stored run was changed or corrupted, from event `seq` on; `why` says how."""

    def __init__(self, run_id: str, seq: int, why: str) -> None:
        self.run_id = run_id
        self.seq = seq
        self.why = why
        super().__init__(
            f"run {run_id!r} is damaged at {self.where}; `leadhand show {run_id}` shows the "
            "undamaged part, `leadhand runs check` checks all runs"
        )

    @property
    def where(self) -> str:
        return f"event {self.seq}: {self.why}"
