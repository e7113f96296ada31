"""What a model's endpoint said is in the answer of the run."""

import asyncio
import json

import pytest

from leadhand import Answer, Budget, Event, Supervisor, TaskTemplate, Team, Worker
from leadhand.contracts.events import ModelCalled
from tests.models.raw_endpoint import RawEndpoint, head, serving

SAID: dict[str, object] = {"role": "assistant", "content": "done well", "refusal": None}
NOTHING = {**SAID, "content": None}
REFUSED = {**NOTHING, "refusal": "no help with that"}


def completion(message: object = SAID, finish: str = "stop", **fields: object) -> str:
    choice = {"index": 0, "finish_reason": finish, "message": message}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    whole = {"id": "x", "object": "chat.completion", "created": 1, "model": "gpt-5"}
    return json.dumps({**whole, "choices": [choice], "usage": usage, **fields})


def team() -> Team:
    one = TaskTemplate(id="a", worker="w", intent="Do it")
    workers = [Worker("w", "Works", instructions="Work.")]
    models = "openai-chat:gpt-5"
    return Team("one", workers=workers, model=models, planner="template", template=[one])


def answer_of(
    monkeypatch: pytest.MonkeyPatch,
    body: str,
    status: str = "200 OK",
    tokens: int | None = None,
    kind: str = "application/json",
) -> Answer:
    """The answer of a run that is cancelled as soon as a second call has failed."""
    monkeypatch.setenv("OPENAI_API_KEY", "dummy")
    endpoint = RawEndpoint(head(status, content_type=kind) + body.encode())
    failed: list[ModelCalled] = []

    def follow(event: Event) -> None:
        if isinstance(event, ModelCalled) and event.error:
            failed.append(event)
            if len(failed) == 2:
                supervisor.cancel(reason="enough")

    with serving(endpoint):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{endpoint.url}/v1")
        supervisor = Supervisor(team())
        budget = Budget(tokens=tokens) if tokens else None
        return asyncio.run(supervisor.run("Do it", listener=follow, budget=budget))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (json.dumps({"error": {"message": "code 17", "type": "server_error"}}), "code 17"),
        (json.dumps({"error": "no GPU left"}), "no GPU left"),
        (completion(choices=[], error={"message": "code 18"}), "code 18"),
        (completion(choices=[]), "without a choice"),
        (completion(choices=None), "without a choice"),
        (completion(REFUSED), "no help with that"),
        (completion(NOTHING, "content_filter"), "content filter"),
    ],
)
def test_what_an_endpoint_says_instead_of_an_answer_is_shown(
    monkeypatch: pytest.MonkeyPatch, body: str, said: str
) -> None:
    answer = answer_of(monkeypatch, body)
    assert answer.status in ("failed", "cancelled")
    assert said in answer.gaps[0].why
    assert "validation error" not in answer.gaps[0].why


@pytest.mark.parametrize("kind", ["text/html", "text/event-stream", "application/json"])
def test_an_answer_that_is_no_json_is_shown(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    answer = answer_of(monkeypatch, "<html>\nPlease  log in</html>", kind=kind)
    assert "an answer that is no JSON: <html> Please log in</html>" in answer.gaps[0].why


@pytest.mark.parametrize("refused", [(REFUSED, "stop"), (NOTHING, "content_filter")], ids=str)
def test_the_tokens_of_a_refusal_are_counted(
    monkeypatch: pytest.MonkeyPatch, refused: tuple[object, str]
) -> None:
    usage = {"prompt_tokens": 90_000, "completion_tokens": 9_990, "total_tokens": 99_990}
    used = answer_of(monkeypatch, completion(*refused, usage=usage), tokens=10**7).metrics
    assert (used.input_tokens, used.output_tokens) == (
        90_000 * used.requests,
        9_990 * used.requests,
    )
    assert used.cost_usd is not None
    assert used.cost_usd > 0
    few = answer_of(monkeypatch, completion(*refused, usage=usage), tokens=100_000)
    assert few.metrics.requests == 1
    assert few.ended_by == "budget"


@pytest.mark.parametrize("status", ["503 Service Unavailable", "999 Odd"])
def test_a_task_that_is_stopped_says_what_the_last_call_got(
    monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    answer = answer_of(monkeypatch, json.dumps({"error": {"message": "pool 7 is down"}}), status)
    assert answer.status == "cancelled"
    assert f"the last call: the model could not be reached: HTTP {status[:3]}" in answer.gaps[0].why
    assert "pool 7 is down" in answer.gaps[0].why


@pytest.mark.parametrize(
    "created", ["yesterday", None, 1.5, -5, 10**20, True, [], {}, "2026-01-01T00:00:00Z"]
)
def test_an_answer_with_an_invalid_created_is_used(
    monkeypatch: pytest.MonkeyPatch, created: object
) -> None:
    answer = answer_of(monkeypatch, completion(created=created))
    assert (answer.status, answer.gaps) == ("complete", ())
    assert answer.output == "done well"
