"""Runs with `store: false`: erased once their answers were given, or some time after their end."""

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from leadhand import Supervisor
from leadhand.run.service import DELETED
from leadhand.serve import ServiceSettings
from leadhand.serve.lifespan import prune
from leadhand.serve.principals import origin_of
from leadhand.serve.service import UNKEPT, Service
from tests.patience import wait_until
from tests.serve.desk import PEOPLE, Desk, Gate, serving_desk, supervisors_of
from tests.serve.openai_desk import OpenAIDesk, serving_openai

RUNS = "/api/v1/runs"
GIVEN = {"team": "desk", "request": "secret", "store": False}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with serving_desk(tmp_path) as desk:
        yield desk


def is_gone(desk: Desk, run_id: str) -> bool:
    return desk.client("root").get(f"{RUNS}/{run_id}").status_code == 404


def deleted(desk: Desk) -> dict[str, str]:
    """What stays of runs, as `leadhand runs deleted` lists it: on whose behalf each was deleted."""
    lines = desk.app.state.service.journal.store.notes(DELETED).values()
    assert not any(b"secret" in line for line in lines)
    return {line["run_id"]: line["by"] for line in map(json.loads, lines)}


def test_a_client_that_waits_gets_the_answer_and_nothing_stays_but_a_line(desk: Desk) -> None:
    answer = desk.client().post(RUNS, json=GIVEN, headers={"Prefer": "wait=30"})
    assert answer.json()["answer"]["output"] == "secret"
    run_id = answer.json()["run_id"]
    assert is_gone(desk, run_id)
    assert deleted(desk) == {run_id: "store: false"}
    kept = desk.client().post(RUNS, json={**GIVEN, "store": True}, headers={"Prefer": "wait=30"})
    assert desk.client().get(f"{RUNS}/{kept.json()['run_id']}").status_code == 200


def test_a_run_that_waits_for_a_person_stays(desk: Desk) -> None:
    given = {**GIVEN, "request": "ask which colour?"}
    answer = desk.client().post(RUNS, json=given, headers={"Prefer": "wait=30"}).json()
    assert answer["status"] == "waiting"
    assert desk.client().get(f"{RUNS}/{answer['run_id']}").json()["status"] == "waiting"
    assert not deleted(desk)


async def test_an_answer_that_nothing_reads_is_erased_some_time_after_its_end_by_any_process(
    tmp_path: Path,
) -> None:
    supervisor: Supervisor[Any, object] = supervisors_of(tmp_path, Gate())[0]
    ann = origin_of(PEOPLE["ann"])
    await supervisor.run("a", run_id="unkept", origin={**ann, UNKEPT: True})
    await supervisor.run("ask why?", run_id="asks", origin={**ann, UNKEPT: True})
    await supervisor.run("c", run_id="kept", origin=ann)
    service = Service(
        supervisors={"desk": supervisor},
        journal=supervisor.journal,
        settings=ServiceSettings(unread_s=60),
    )
    now = dt.datetime.now(dt.UTC)
    assert await prune(service, now) == []
    assert await prune(service, now + dt.timedelta(minutes=2)) == ["unkept"]
    assert {run.run_id for run in await supervisor.runs()} == {"asks", "kept"}
    await supervisor.close()


# OpenAI's clients


@pytest.fixture(scope="module", name="service")
def _service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenAIDesk]:
    with serving_openai(tmp_path_factory.mktemp("home")) as desk:
        yield desk


def test_a_response_that_is_not_stored_can_t_be_followed(service: OpenAIDesk) -> None:
    create: Any = service.openai().responses.create
    made = create(model="desk", input="secret", store=False)
    assert made.output_text == "secret"
    with pytest.raises(openai.NotFoundError):
        create(model="desk", input="And?", previous_response_id=made.id)
    with pytest.raises(openai.NotFoundError):
        service.openai().responses.retrieve(made.id)


def test_a_streamed_response_that_is_not_stored_is_erased_at_its_end(service: OpenAIDesk) -> None:
    create: Any = service.openai().responses.create
    events = [*create(model="desk", input="secret", store=False, stream=True)]
    last = events[-1]
    assert (last.type, last.response.output_text) == ("response.completed", "secret")
    wait_until(lambda: is_gone(service, last.response.id.removeprefix("resp_")))


@pytest.mark.parametrize("stream", [False, True])
def test_a_chat_is_erased_unless_it_is_stored(stream: bool, service: OpenAIDesk) -> None:
    create: Any = service.openai().chat.completions.create
    given = {"model": "desk", "messages": [{"role": "user", "content": "secret"}]}
    for store in (False, True, None):
        made = create(**given, store=store, stream=stream)
        last = [one for one in made if one.choices][-1] if stream else made
        run_id = last.model_extra["leadhand"]["run_id"]
        if store is False:
            wait_until(lambda run_id=run_id: is_gone(service, run_id))
        else:
            assert not is_gone(service, run_id)


def test_a_follow_up_may_be_unkept_too(desk: Desk) -> None:
    wait = {"Prefer": "wait=30"}
    first = desk.client().post(RUNS, json={**GIVEN, "store": True}, headers=wait).json()["run_id"]
    body = {"request": "and now?", "store": False}
    after = desk.client().post(f"{RUNS}/{first}/followups", json=body, headers=wait).json()
    assert after["after"] == first
    assert is_gone(desk, after["run_id"])
    assert not is_gone(desk, first)
