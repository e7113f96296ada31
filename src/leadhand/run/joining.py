"""Joining a run that may be under way already, in this process or in another one.

Any number of callers may join a run at once. One of them works on it, and the others wait for its
answer. The run is resumed if it was interrupted, or if a reply came that it has not read.
"""

from collections.abc import Awaitable, Callable, Sequence

from leadhand.contracts.answer import Answer
from leadhand.contracts.events import ApprovalGiven, ApprovalRequested, Event
from leadhand.contracts.people import Reply, RunMessage
from leadhand.errors import InputError, RunExists, RunInterrupted, RunTaken
from leadhand.ports import Journal
from leadhand.run.holding import HeldRuns
from leadhand.run.questions import open_questions, reply_message
from leadhand.run.stored import StoredRun


async def joined_answer(
    journal: Journal,
    held: HeldRuns,
    run_id: str,
    resume: Callable[[], Awaitable[Answer]],
    *,
    on_wait: Callable[[], object],
) -> Answer:
    """The answer of a run once it is finished, or waits with no reply left to read.

    `resume` is called if no process works on the run and there is something to do, `on_wait` if a
    process does.
    """
    tried: set[int] = set()
    while True:
        await held.until_released(run_id, on_wait=on_wait)
        stored = StoredRun.of(run_id, await journal.events(run_id))
        state = stored.state
        if state.answer is not None:
            return state.answer
        unread = {message.id for message in unread_replies(stored, await journal.messages(run_id))}
        if state.waiting is not None and unread <= tried:
            return state.waiting
        tried |= unread
        try:
            answer = await resume()
        except RunTaken:
            continue  # another caller was faster
        if answer.status != "waiting":
            return answer


async def rested_answer(journal: Journal, held: HeldRuns, run_id: str) -> Answer:
    """The answer of a run once no process works on it. Raises `RunInterrupted` without one."""
    await held.until_released(run_id)
    state = StoredRun.of(run_id, await journal.events(run_id)).state
    if (answer := state.answer or state.waiting) is None:
        raise RunInterrupted(run_id, "no process works on it; resume it")
    return answer


def answer_so_far(stored: StoredRun) -> Answer:
    """The answer that a run has. Raises `RunExists` if it has none yet."""
    if (answer := stored.state.answer or stored.state.waiting) is None:
        raise RunExists(stored.run_id, "it has no answer yet")
    return answer


def unread_replies(stored: StoredRun, messages: Sequence[RunMessage]) -> list[RunMessage]:
    """The messages that reply to an open question of the run."""
    asked = {
        event.task_id: event.seq for event in stored.events if isinstance(event, ApprovalRequested)
    }
    open_ones = {one.task_id for one in open_questions(stored.state)}
    return [
        message
        for message in messages
        if message.reply is not None
        and message.reply.task_id in open_ones
        and not message.is_before(asked.get(message.reply.task_id, 0))
    ]


def messages_of(stored: StoredRun, replies: Sequence[Reply]) -> list[RunMessage]:
    """The messages that bring `replies` to the run, without those that it has read already.

    Raises `InputError` for a reply to a question that is not open, unless the same reply closed it:
    a request that is sent twice is not an error.
    """
    found: list[RunMessage] = []
    for reply in replies:
        try:
            found.append(reply_message(reply, stored.state))
        except InputError:
            if not _was_given(reply, stored.events):
                raise
    return found


def _was_given(reply: Reply, events: Sequence[Event]) -> bool:
    """Whether the last reply to the question was the same."""
    for event in reversed(events):
        if isinstance(event, ApprovalGiven) and event.task_id == reply.task_id:
            if event.calls:
                same = {*reply.calls} <= {*event.calls}
                return same and reply.on_calls(event.calls) == event.calls
            same = event.verdict == reply.verdict and event.text == reply.text
            return same and event.plan == reply.plan
    return False
