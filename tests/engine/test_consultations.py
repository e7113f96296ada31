"""Questions asked beside the work: how long an answer may take, and what becomes of the others."""

import asyncio
import contextlib
from collections.abc import Coroutine

import pytest

from leadhand.engine.attempts import GRACE_S
from leadhand.engine.consultations import PATIENCE_S, Consultations
from leadhand.testing import run_virtual


async def answer_after(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "yes"


async def deaf(seconds: float) -> str:
    """Ignores cancellation for so long."""
    ends_s = asyncio.get_running_loop().time() + seconds
    while (left_s := ends_s - asyncio.get_running_loop().time()) > 0:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(left_s)
    return "late"


@pytest.mark.parametrize(
    ("seconds", "patiently", "expected"),
    [
        (PATIENCE_S - GRACE_S / 2, False, ("yes", PATIENCE_S - GRACE_S / 2)),
        (PATIENCE_S + 1, False, (None, PATIENCE_S)),
        (10 * PATIENCE_S, True, ("yes", 10 * PATIENCE_S)),
    ],
)
def test_a_model_has_a_minute_and_a_person_all_the_time(
    seconds: float, patiently: bool, expected: tuple[str | None, float]
) -> None:
    assert run_virtual(asked(answer_after(seconds), patiently=patiently)) == expected


def test_a_question_that_ignores_its_time_limit_is_abandoned_after_the_grace_period() -> None:
    assert run_virtual(asked(deaf(1_000.0))) == (None, PATIENCE_S + GRACE_S)


async def test_a_run_that_is_cancelled_while_it_closes_its_questions_leaves_none_of_them() -> None:
    consultations = Consultations(asyncio.Event().set)
    consultations.ask("test", deaf(1_000.0), lambda answer: None)
    await asyncio.sleep(1.0)
    closing = asyncio.create_task(consultations.close(GRACE_S))
    await asyncio.sleep(GRACE_S / 2)
    closing.cancel()
    await asyncio.wait([closing])
    await asyncio.sleep(0)
    assert "consultation:test" not in [task.get_name() for task in asyncio.all_tasks()]


async def asked(question: Coroutine[object, object, str], *, patiently: bool = False) -> object:
    """The answer that is delivered, and when; no question is open afterwards."""
    loop, woken = asyncio.get_running_loop(), asyncio.Event()
    start_s = loop.time()
    answers: list[str | None] = []
    consultations = Consultations(woken.set)
    consultations.ask("test", question, answers.append, patiently=patiently)
    assert consultations.open == 1
    await woken.wait()
    ended_s = loop.time() - start_s
    while consultations.answered:
        consultations.answered.popleft()()
    assert consultations.open == 0
    (answer,) = answers
    return answer, pytest.approx(ended_s)
