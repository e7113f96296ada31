"""leadhand: a supervisor for teams of workers. Public names resolve on first use (PEP 562).

What few programs name is imported from its module: `leadhand.contracts`, `leadhand.errors`.
"""

from leadhand.lazy import lazy_imports

__version__ = "0.1.0"

# Not from `typing`: `python -m leadhand` would take a typing.py from the current folder.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from leadhand import events as events
    from leadhand.contracts.answer import Answer as Answer
    from leadhand.contracts.budget import Budget as Budget
    from leadhand.contracts.events import Event as Event
    from leadhand.contracts.ladder import Ladder as Ladder
    from leadhand.contracts.ladder import Retry as Retry
    from leadhand.contracts.outcome import Completed as Completed
    from leadhand.contracts.outcome import Escalated as Escalated
    from leadhand.contracts.outcome import Failed as Failed
    from leadhand.contracts.outcome import Handoff as Handoff
    from leadhand.contracts.outcome import Outcome as Outcome
    from leadhand.contracts.outcome import Result as Result
    from leadhand.contracts.people import Reply as Reply
    from leadhand.contracts.role import Role as Role
    from leadhand.contracts.role import Route as Route
    from leadhand.contracts.summary import RunSummary as RunSummary
    from leadhand.contracts.summary import RunView as RunView
    from leadhand.contracts.task import Limits as Limits
    from leadhand.contracts.task import Plan as Plan
    from leadhand.contracts.task import Task as Task
    from leadhand.contracts.team import TaskTemplate as TaskTemplate
    from leadhand.contracts.team import Team as Team
    from leadhand.contracts.team import Worker as Worker
    from leadhand.contracts.tools import ToolContext as ToolContext
    from leadhand.contracts.worker import WorkerFactory as WorkerFactory
    from leadhand.errors import InputError as InputError
    from leadhand.errors import JournalError as JournalError
    from leadhand.errors import LeadhandError as LeadhandError
    from leadhand.errors import Permanent as Permanent
    from leadhand.errors import PlanError as PlanError
    from leadhand.errors import RunExists as RunExists
    from leadhand.errors import RunInterrupted as RunInterrupted
    from leadhand.errors import RunRefused as RunRefused
    from leadhand.errors import RunTaken as RunTaken
    from leadhand.errors import TeamError as TeamError
    from leadhand.ports import Journal as Journal
    from leadhand.run.handle import Run as Run
    from leadhand.run.queue import RunQueue as RunQueue
    from leadhand.supervisor import Supervisor as Supervisor
else:  # checkers would take any name for one of leadhand's
    __getattr__ = lazy_imports(__name__, renamed={"PlanRejected": "PlanError"})

    def __dir__() -> list[str]:
        """The public names, for completion in a terminal or a notebook."""
        return sorted(__getattr__("__all__"))
