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
    from leadhand.run.calls import Calls, ended_with
    from leadhand.run.cancellation import ActiveRun
    from leadhand.run.connections import SharedConnections
    from leadhand.run.context import Capacity, RunSettings
    from leadhand.run.following import runs_before
    from leadhand.run.holding import HeldRuns
    from leadhand.run.hosting import RunHost
    from leadhand.run.joining import joined_answer, messages_of
    from leadhand.run.messages import record_interruption, resumed_context, watch_messages
    from leadhand.run.options import HostSettings, Limits, NewRun, RunOptions
    from leadhand.run.people import People
    from leadhand.run.preparation import prepare
    from leadhand.run.questions import reply_message, valid_reply
    from leadhand.run.reading import POLL_S, Readers, run_summaries, run_view
    from leadhand.run.resumption import check_decider, check_resumable, is_over, tasks_from
    from leadhand.run.roles import open_roles
    from leadhand.run.run import Run
    from leadhand.run.run_context import ContextRules
    from leadhand.run.service import cancel, check_journal, resume_interrupted, shut_down
    from leadhand.run.spending import account_of
    from leadhand.run.stored import StoredRun, answer_within

__all__ = [
    "POLL_S",
    "ActiveRun",
    "Calls",
    "Capacity",
    "ContextRules",
    "HeldRuns",
    "HostSettings",
    "Limits",
    "MemoryJournal",
    "NewRun",
    "People",
    "Readers",
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
    "cancel",
    "check_decider",
    "check_journal",
    "check_resumable",
    "ended_with",
    "is_over",
    "joined_answer",
    "messages_of",
    "open_roles",
    "prepare",
    "record_interruption",
    "reply_message",
    "resume_interrupted",
    "resumed_context",
    "run_summaries",
    "run_view",
    "runs_before",
    "shut_down",
    "tasks_from",
    "valid_reply",
    "watch_messages",
]

__getattr__ = lazy_attributes(
    "leadhand",
    {
        "engine.recorder": "Recorder",
        "engine.shared_workers": "SharedWorkers",
        "journal.memory": "MemoryJournal",
        "run.calls": "Calls ended_with",
        "run.cancellation": "ActiveRun",
        "run.connections": "SharedConnections",
        "run.context": "Capacity RunSettings",
        "run.following": "runs_before",
        "run.holding": "HeldRuns",
        "run.hosting": "RunHost",
        "run.joining": "joined_answer messages_of",
        "run.messages": "record_interruption resumed_context watch_messages",
        "run.options": "HostSettings Limits NewRun RunOptions",
        "run.people": "People",
        "run.questions": "reply_message valid_reply",
        "run.reading": "POLL_S Readers run_summaries run_view",
        "run.preparation": "prepare",
        "run.resumption": "check_decider check_resumable is_over tasks_from",
        "run.roles": "open_roles",
        "run.spending": "account_of",
        "run.run": "Run",
        "run.run_context": "ContextRules",
        "run.service": ("cancel check_journal resume_interrupted shut_down"),
        "run.stored": "StoredRun answer_within",
    },
)
