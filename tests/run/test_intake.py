"""What a supervisor is handed is checked before anything is done with it, and told in one line."""

import asyncio
from typing import cast

import pytest

from leadhand import Handoff, InputError, Reply, Supervisor, Team, Worker
from tests.handles import resumed


def count_words(handoff: Handoff) -> int:
    return len(handoff.intent.split())


TEAM = Team("words", workers=(Worker("count", "Counts words", run=count_words),))


def test_what_cannot_be_worked_with_is_refused_in_one_line() -> None:
    with pytest.raises(InputError, match="give a request or a plan"):
        Supervisor(TEAM).run_sync()
    with pytest.raises(InputError, match="concurrency is 0"):
        Supervisor(TEAM, concurrency=0)
    with pytest.raises(InputError, match="deadline_s is -1"):
        Supervisor(TEAM, deadline_s=-1)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"home": 5}, "home is 5; it must be "),
        ({"home": b"x"}, "home is a bytes; it must be "),
        ({"journal": "x"}, "journal is str; it must be a leadhand.journal.Store"),
        ({"approve": 5}, "approve is 5; it is a list of plan and escalation"),
        ({"approve": [["plan"]]}, "it is a list of plan and escalation"),
        ({"person": 5}, "person is 5; it must be callable"),
    ],
)
def test_an_option_of_the_wrong_type_is_refused_in_one_line(
    options: dict[str, object], told: str
) -> None:
    with pytest.raises(InputError, match=told):
        Supervisor(TEAM, **options)  # pyright: ignore[reportArgumentType]


@pytest.mark.wall_clock
@pytest.mark.parametrize("run_id", [5, "", "last", "-v", ".x", "a b", "x" * 201, "\ud800"])
async def test_what_can_be_no_runs_id_is_refused_for_a_new_run_and_is_the_id_of_no_other(
    run_id: str,
) -> None:
    supervisor = Supervisor(TEAM)
    with pytest.raises(InputError, match=r"run_id is .*it may have up to 200") as refused:
        await supervisor.run("two words", run_id=run_id)
    with pytest.raises(InputError, match="there is no run ") as unknown:
        await resumed(supervisor, run_id)
    with pytest.raises(InputError, match="there is no run "):
        await supervisor.handle(run_id).reply(Reply(verdict="approved"), resume=False)
    assert len(str(unknown.value)) <= len("there is no run ") + 200
    assert len(str(refused.value).splitlines()) == 1


def test_none_is_the_id_of_no_run_that_could_be_resumed() -> None:
    with pytest.raises(InputError, match="there is no run None"):
        asyncio.run(resumed(Supervisor(TEAM), cast("str", None)))


def test_a_run_may_be_called_after_the_last_one() -> None:
    assert asyncio.run(Supervisor(TEAM).run("two words", run_id="last-one")).status == "complete"


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ("hello", "reply is str; it must be a leadhand.Reply"),
        (Reply.model_construct(verdict="approved", plan={"goal": 5}), "reply is not valid: plan"),
    ],
)
def test_a_reply_that_is_none_is_refused_in_one_line(reply: Reply, told: str) -> None:
    supervisor = Supervisor(TEAM)
    asyncio.run(supervisor.run("two words", run_id="r"))
    with pytest.raises(InputError, match=told):
        asyncio.run(supervisor.handle("r").reply(reply, resume=False))


def test_an_async_listener_is_refused_because_nothing_would_wait_for_it() -> None:
    async def later(event: object) -> None: ...

    class Later:
        async def __call__(self, event: object) -> None: ...

    for listener in (later, Later()):
        with pytest.raises(InputError, match="it must not be async"):
            asyncio.run(Supervisor(TEAM).run("two words", listener=listener))  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="listener is 5; it must be callable"):
        asyncio.run(Supervisor(TEAM).run("two words", listener=5))  # pyright: ignore[reportArgumentType]
