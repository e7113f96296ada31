"""The context of a resumed run, which the program's `restore` makes; it may fail to."""

from leadhand.contracts.people import RunMessage
from leadhand.engine.recorder import Recorder
from leadhand.ports import Journal
from leadhand.run.answer_step import record_held
from leadhand.run.settings import ContextRules, NotRestored, RunOptions

MAX_UNRESTORED = 3
"""How often `restore` may make no context for a run before the run waits for a person."""


async def restored(
    contexts: ContextRules,
    options: RunOptions,
    recorder: Recorder,
    journal: Journal,
    *,
    limit_s: float | None,
) -> object:
    """Each failure of `restore` is journaled. Raises `InputError`."""
    given, state = options.context, recorder.state
    try:
        return await contexts.of_resumed_run(given, state, limit_s=limit_s)
    except NotRestored as error:
        messages = await journal.messages(recorder.run_id)
        times = 1 + sum(message.unrestored for message in messages)
        if times == MAX_UNRESTORED and state.answer is None:
            record_held(recorder, f"{error} ({times} times); `resume` tries again")
            await recorder.commit()
        if times <= MAX_UNRESTORED:
            note = RunMessage(run_id=recorder.run_id, interrupted=True, reason="no context")
            await journal.post(note)
        raise
