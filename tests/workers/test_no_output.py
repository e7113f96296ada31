"""Tasks that give nothing are not told as something."""

from collections.abc import AsyncIterator
from types import SimpleNamespace

from leadhand import Handoff, Supervisor, Team, Worker


class Agent:
    """An agent that has the interface of Agno's and ends without output."""

    name = "silent"

    async def arun(self, prompt: str, **options: object) -> AsyncIterator[object]:
        yield SimpleNamespace(
            status=SimpleNamespace(value="COMPLETED"), content=None, metrics=None, event="done"
        )


Agent.__module__ = "agno.agent"


def test_an_agent_of_another_framework_that_ends_without_output_fails() -> None:
    answer = Supervisor(Team("t", workers=[Worker("w", "Works", agent=Agent())])).run_sync("Do it")
    assert (answer.status, answer.output) == ("failed", None)
    assert answer.gaps[0].why == "the agent ended without output"


def test_the_output_is_none_if_no_task_gave_one() -> None:
    def fails(handoff: Handoff) -> object:
        raise ValueError("no")

    for names in ("a", "ab"):
        workers = [Worker(name, "Works", run=fails) for name in names]
        answer = Supervisor(Team("t", workers=workers)).run_sync("Do it")
        assert (answer.status, answer.output) == ("failed", None)
