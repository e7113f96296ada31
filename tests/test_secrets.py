"""F36, F58: no secret that a worker meets reaches the answer's gaps, the journal or the page."""

from pathlib import Path

import pytest

from leadhand import Escalated, Handoff, Reply, Result, Supervisor, TaskTemplate, Team, Worker
from leadhand.contracts.events import dump
from leadhand.contracts.outcome import PausedAttempt
from leadhand.contracts.people import Question, ToolCall
from leadhand.journal import open_store
from leadhand.serve.task_documents import stored_page
from leadhand.state.run_events import MAX_SHOWN_CHARS

BODY = "aZ3kQ9xW2mB7nR5tY8uL1cV6eD4fG0hJsKpQ"
TOKEN = "ghp_" + BODY
PASSWORD = "Tr0ub4dor&3"
ONE = (TaskTemplate(id="a", worker="w", intent="Do it"),)


def kept_of(home: Path, run_id: str) -> str:
    """All that is kept of a run, and its page."""
    store = open_store(home)
    try:
        events = store.events(run_id)
        summary = repr(store.runs())
    finally:
        store.close()
    return "\n".join([*map(dump, events), *stored_page(events, held=False), summary])


def failing(message: str) -> Team:
    def work(handoff: object) -> Result:
        raise ValueError(message)

    return Team("one", workers=[Worker("w", "Works", run=work)], template=ONE)


def giving(output: object) -> Team:
    def work(handoff: object) -> object:
        return output

    return Team("one", workers=[Worker("w", "Works", run=work)], template=ONE)


@pytest.mark.parametrize("room", [1, 10, 24, 39])
def test_a_key_that_a_limit_would_cut_leaves_nothing_behind(tmp_path: Path, room: int) -> None:
    for limit in (2_000 - len("ValueError: ..."), 10_000, 160):
        team = failing("x" * (limit - room - 1) + " " + TOKEN + " y" * 6_000)
        answer = Supervisor(team, home=tmp_path).run_sync("Do it")
        told = answer.model_dump_json() + kept_of(tmp_path, answer.run_id)
        assert BODY[:6] not in told


def test_what_a_worker_reports_as_missing_is_cut_before_a_key(tmp_path: Path) -> None:
    missing = ["n" * 480 + " " + TOKEN, "it needs " + TOKEN]
    team = giving(Result(output=1, missing=tuple(missing)))
    answer = Supervisor(team, home=tmp_path).run_sync("m" * 190 + " " + TOKEN)
    assert [gap.why[-10:] for gap in answer.gaps] == ["nnnnnnnn …", "[redacted]"]
    assert BODY[:6] not in "".join(gap.why for gap in answer.gaps)
    assert BODY[:6] not in kept_of(tmp_path, answer.run_id)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (repr({b"Authorization": b"Bearer " + BODY.encode()}), BODY),
        (f"cloning https://{BODY}@git.example/a.git", BODY),
        (f"AccountName=a;AccountKey={BODY}/+==;EndpointSuffix=x", BODY),
        (f"host=db user=me password={PASSWORD[:8]} dbname=app", PASSWORD[:8]),
        (f"jdbc:sqlserver://db:1433;user=me;password={PASSWORD};x=y", PASSWORD),
        (f"Driver={{X}};Server=db;UID=me;PWD={PASSWORD[:9]};", PASSWORD[:9]),
        ("postgres://me:pa$$w[1]rd!@db.example/app", "pa$$w[1]rd!"),
        ("-----BEGIN " + f"PRIVATE KEY-----\\n{BODY * 2}\\n-----END PRIVATE KEY-----", BODY),
        ("ya29." + "a0" + BODY * 3, BODY),
        ("842917365" + ":AA" + BODY[:33], BODY[:33]),
        ("xapp-" + "1-A0Q3K7XW2MB-8429173650421-" + "9f2a7c4e8b1d3065" * 4, "9f2a7c4e8b1d3065"),
    ],
)
def test_a_secret_in_an_error_is_told_nowhere(tmp_path: Path, text: str, secret: str) -> None:
    answer = Supervisor(failing(text), home=tmp_path).run_sync("Do it")
    assert secret not in str(answer.gaps) + answer.answer
    assert secret not in kept_of(tmp_path, answer.run_id)


def test_gaps_without_a_journal_have_no_secret_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHOP_PASSWORD", PASSWORD)
    (gap,) = Supervisor(failing(f"refused: {PASSWORD}")).run_sync("Do it").gaps
    assert gap.why.startswith("ValueError: refused: [redacted] (at ")


def test_keys_of_an_output_stay_distinct_in_the_journal(tmp_path: Path) -> None:
    found = {TOKEN: 1, TOKEN[:-1] + "9": 2}
    supervisor = Supervisor(giving(found), home=tmp_path)
    run_id = supervisor.run_sync("Do it").run_id
    assert BODY[:6] not in kept_of(tmp_path, run_id)
    assert '"[redacted]":1,"[redacted 2]":2' in kept_of(tmp_path, run_id)


@pytest.mark.parametrize("room", [3, 12, 30])
def test_a_refused_call_is_shown_without_a_part_of_a_key(room: int) -> None:
    text = "x" * (MAX_SHOWN_CHARS - len('{"a": " ') - room)
    wanted = ToolCall(id="k", tool="send", worker="w", arguments={"a": f"{text} {TOKEN}"})

    async def asks(handoff: Handoff) -> str | Escalated:
        if handoff.paused is None:
            paused = PausedAttempt(calls=(wanted,), conversation=[])
            return Escalated(reason="ambiguous_input", message="may I?", paused=paused)
        return "done"

    async def refuses(question: Question) -> Reply:
        return Reply(task_id=question.task_id, verdict="refused", text="no")

    team = Team("one", workers=[Worker("w", "Works", run=asks)], template=ONE)
    (gap,) = Supervisor(team, person=refuses, approve=()).run_sync("Do it").gaps
    assert "a person refused the call send" in gap.why
    assert BODY[:2] not in gap.why


def test_a_contradiction_about_keys_is_told_once_and_without_them() -> None:
    def worker(name: str, key: str) -> Worker:
        def read(_: Handoff) -> dict[str, str]:
            return {"key": key}

        return Worker(name, f"Reads {name}", run=read)

    ask = "Find the key"
    inner = Team(
        "inner",
        workers=[worker("a", TOKEN), worker("b", TOKEN[:-1] + "9")],
        template=[TaskTemplate(id=id, worker=id, intent=ask) for id in "ab"],
    )
    outer = Team("outer", workers=[Worker("w", "Finds keys", team=inner)], template=ONE)
    answer = Supervisor(outer).run_sync("Which key?")
    assert [one.about for one in answer.conflicts] == ["key is [redacted] in a and [redacted] in b"]
    (gap,) = answer.gaps
    assert gap.why.endswith("contradict each other: key is [redacted] in a and [redacted] in b")
