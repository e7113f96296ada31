"""leadhand: a supervisor for teams of workers. Public names resolve on first use (PEP 562)."""

from leadhand.lazy import lazy_attributes

# Not from `typing`: `python -m leadhand` would take a typing.py from the current folder.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from leadhand import events
    from leadhand.contracts.answer import Answer, Gap, Source
    from leadhand.contracts.budget import Budget, Rate
    from leadhand.contracts.context import ToolContext
    from leadhand.contracts.events import Event
    from leadhand.contracts.ladder import Retry
    from leadhand.contracts.outcome import (
        Completed,
        Digest,
        Escalated,
        Failed,
        Handoff,
        Outcome,
        Result,
        TaskResult,
    )
    from leadhand.contracts.people import CallReply, Question, Reply, ToolCall
    from leadhand.contracts.planner_kinds import Decision, Round
    from leadhand.contracts.summary import Health, RunSummary, RunView
    from leadhand.contracts.task import (
        Batch,
        EarlierResult,
        EarlierRun,
        Limits,
        Plan,
        PlannedWorker,
        PlanRequest,
        Task,
    )
    from leadhand.contracts.team import (
        Ladder,
        RetryRules,
        Role,
        Route,
        TaskTemplate,
        Team,
        Worker,
        WorkerFactory,
    )
    from leadhand.errors import (
        InputError,
        JournalError,
        LeadhandError,
        ModelError,
        Permanent,
        PlanError,
        RunExists,
        RunInterrupted,
        RunTaken,
        TeamError,
        ToolError,
    )
    from leadhand.ports import Journal
    from leadhand.routing.trained import TrainedRouter
    from leadhand.run.handle import Run
    from leadhand.supervisor import Supervisor

__all__ = [
    "Answer",
    "Batch",
    "Budget",
    "CallReply",
    "Completed",
    "Decision",
    "Digest",
    "EarlierResult",
    "EarlierRun",
    "Escalated",
    "Event",
    "Failed",
    "Gap",
    "Handoff",
    "Health",
    "InputError",
    "Journal",
    "JournalError",
    "Ladder",
    "LeadhandError",
    "Limits",
    "ModelError",
    "Outcome",
    "Permanent",
    "Plan",
    "PlanError",
    "PlanRequest",
    "PlannedWorker",
    "Question",
    "Rate",
    "Reply",
    "Result",
    "Retry",
    "RetryRules",
    "Role",
    "Round",
    "Route",
    "Run",
    "RunExists",
    "RunInterrupted",
    "RunSummary",
    "RunTaken",
    "RunView",
    "Source",
    "Supervisor",
    "Task",
    "TaskResult",
    "TaskTemplate",
    "Team",
    "TeamError",
    "ToolCall",
    "ToolContext",
    "ToolError",
    "TrainedRouter",
    "Worker",
    "WorkerFactory",
    "events",
]

__version__ = "0.1.0"

_MODULES = {
    "contracts.answer": "Answer Gap Source",
    "contracts.budget": "Budget Rate",
    "contracts.context": "ToolContext",
    "contracts.events": "Event",
    "contracts.ladder": "Retry",
    "contracts.outcome": "Completed Digest Escalated Failed Handoff Outcome Result TaskResult",
    "contracts.people": "CallReply Question Reply ToolCall",
    "contracts.planner_kinds": "Decision Round",
    "contracts.summary": "Health RunSummary RunView",
    "contracts.task": "Batch EarlierResult EarlierRun Limits Plan PlannedWorker PlanRequest Task",
    "contracts.team": "Ladder RetryRules Role Route TaskTemplate Team Worker WorkerFactory",
    "errors": (
        "InputError JournalError LeadhandError ModelError Permanent PlanError RunExists "
        "RunInterrupted RunTaken TeamError ToolError"
    ),
    "events": "events",
    "ports": "Journal",
    "routing.trained": "TrainedRouter",
    "run.handle": "Run",
    "supervisor": "Supervisor",
}

if not TYPE_CHECKING:  # else checkers would take any name for one of leadhand's
    __getattr__ = lazy_attributes(__name__, _MODULES, renamed={"PlanRejected": "PlanError"})


def __dir__() -> list[str]:
    """The public names, for completion in a terminal or a notebook."""
    return __all__
