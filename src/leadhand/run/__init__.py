"""Everything that makes one run: `run.run.Run` starts it, plans, works and answers.

Each step records events and stops at the run's deadline. A run always gives an answer: if a planner
or a synthesizer fails, code does its work.

`Supervisor` imports the names below, some of them from `engine` and `journal`. They are loaded on
first use, so that a program that only builds a team or reads stored runs does not load the engine.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_attributes

if TYPE_CHECKING:
    from leadhand.engine.recorder import Recorder
    from leadhand.engine.shared_workers import SharedWorkers
    from leadhand.journal.memory import MemoryJournal
    from leadhand.run.cancellation import ActiveRun
    from leadhand.run.connections import SharedConnections
    from leadhand.run.context import Capacity, RunSettings
    from leadhand.run.hosting import HostSettings, NewRun, RunHost, RunOptions
    from leadhand.run.people import People, record_interruption, reply_message, watch_messages
    from leadhand.run.resumption import check_resumable, is_over, tasks_from
    from leadhand.run.roles import account_of, open_roles
    from leadhand.run.run import Run
    from leadhand.run.run_context import ContextRules
    from leadhand.run.stored import StoredRun, answer_within, hold_run

__all__ = [
    "ActiveRun",
    "Capacity",
    "ContextRules",
    "HostSettings",
    "MemoryJournal",
    "NewRun",
    "People",
    "Recorder",
    "Run",
    "RunHost",
    "RunOptions",
    "RunSettings",
    "SharedConnections",
    "SharedWorkers",
    "StoredRun",
    "account_of",
    "answer_within",
    "check_resumable",
    "hold_run",
    "is_over",
    "open_roles",
    "record_interruption",
    "reply_message",
    "tasks_from",
    "watch_messages",
]

__getattr__ = lazy_attributes(
    "leadhand",
    {
        "engine.recorder": "Recorder",
        "engine.shared_workers": "SharedWorkers",
        "journal.memory": "MemoryJournal",
        "run.cancellation": "ActiveRun",
        "run.connections": "SharedConnections",
        "run.context": "Capacity RunSettings",
        "run.hosting": "HostSettings NewRun RunHost RunOptions",
        "run.people": "People record_interruption reply_message watch_messages",
        "run.resumption": "check_resumable is_over tasks_from",
        "run.roles": "account_of open_roles",
        "run.run": "Run",
        "run.run_context": "ContextRules",
        "run.stored": "StoredRun answer_within hold_run",
    },
)
