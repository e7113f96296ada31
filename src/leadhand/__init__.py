"""leadhand: a supervisor for teams of workers. Public names resolve on first use (PEP 562).

What few programs name is imported from its module: `leadhand.contracts`, `leadhand.errors`.
"""

from leadhand.lazy import lazy_attributes

# Not from `typing`: `python -m leadhand` would take a typing.py from the current folder.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from leadhand import events
    from leadhand.contracts.answer import Answer
    from leadhand.contracts.budget import Budget
    from leadhand.contracts.context import ToolContext
    from leadhand.contracts.events import Event
    from leadhand.contracts.ladder import Ladder, Retry
    from leadhand.contracts.outcome import Completed, Escalated, Failed, Handoff, Outcome, Result
    from leadhand.contracts.people import Reply
    from leadhand.contracts.role import Role, Route
    from leadhand.contracts.summary import RunSummary, RunView
    from leadhand.contracts.task import Limits, Plan, Task
    from leadhand.contracts.team import TaskTemplate, Team, Worker
    from leadhand.contracts.worker_factory import WorkerFactory
    from leadhand.errors import (
        InputError,
        JournalError,
        LeadhandError,
        Permanent,
        PlanError,
        RunExists,
        RunInterrupted,
        RunTaken,
        TeamError,
    )
    from leadhand.ports import Journal
    from leadhand.run.handle import Run
    from leadhand.supervisor import Supervisor

__all__ = [
    "Answer",
    "Budget",
    "Completed",
    "Escalated",
    "Event",
    "Failed",
    "Handoff",
    "InputError",
    "Journal",
    "JournalError",
    "Ladder",
    "LeadhandError",
    "Limits",
    "Outcome",
    "Permanent",
    "Plan",
    "PlanError",
    "Reply",
    "Result",
    "Retry",
    "Role",
    "Route",
    "Run",
    "RunExists",
    "RunInterrupted",
    "RunSummary",
    "RunTaken",
    "RunView",
    "Supervisor",
    "Task",
    "TaskTemplate",
    "Team",
    "TeamError",
    "ToolContext",
    "Worker",
    "WorkerFactory",
    "events",
]

__version__ = "0.1.0"

_MODULES = {
    "contracts.answer": "Answer",
    "contracts.budget": "Budget",
    "contracts.context": "ToolContext",
    "contracts.events": "Event",
    "contracts.ladder": "Ladder Retry",
    "contracts.outcome": "Completed Escalated Failed Handoff Outcome Result",
    "contracts.people": "Reply",
    "contracts.role": "Role Route",
    "contracts.summary": "RunSummary RunView",
    "contracts.task": "Limits Plan Task",
    "contracts.team": "TaskTemplate Team Worker",
    "contracts.worker_factory": "WorkerFactory",
    "errors": (
        "InputError JournalError LeadhandError Permanent PlanError RunExists RunInterrupted "
        "RunTaken TeamError"
    ),
    "events": "events",
    "ports": "Journal",
    "run.handle": "Run",
    "supervisor": "Supervisor",
}

if not TYPE_CHECKING:  # else checkers would take any name for one of leadhand's
    __getattr__ = lazy_attributes(__name__, _MODULES, renamed={"PlanRejected": "PlanError"})


def __dir__() -> list[str]:
    """The public names, for completion in a terminal or a notebook."""
    return __all__
