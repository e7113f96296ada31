"""Questions to people over HTTP: the inbox, who may reply, and what a reply may be about."""

from typing import Any

from leadhand.serve.questions import InboxQuestion
from tests.serve.desk import Desk
from tests.serve.test_runs import RUNS, answered

INBOX = "/api/v1/questions"


def inbox(desk: Desk, name: str) -> list[dict[str, object]]:
    found = desk.client(name).get(INBOX).json()["questions"]
    for one in found:
        InboxQuestion.model_validate(one, extra="forbid")
    return found


def test_the_inbox_has_what_the_caller_may_answer_and_what_waits_longest_comes_first(
    desk: Desk,
) -> None:
    first, second = answered(desk, "ask which?"), answered(desk, "ask whom?", "bob")
    answered(desk, "hello")
    for name in ("cleo", "olga", "root"):
        assert [one["run_id"] for one in inbox(desk, name)] == [first, second]
    assert inbox(desk, "ann") == inbox(desk, "zoe") == []
    asked = inbox(desk, "cleo")[0]
    assert "which?" in str(asked["text"])
    assert asked["allowed"] == ["answered", "declined"]
    # An approver sees the question, and nothing else of another's run.
    assert desk.client("cleo").get(f"{RUNS}/{first}").status_code == 404
    # The requester sees that it waits, and not for what.
    (own,) = desk.client("ann").get(f"{RUNS}/{first}").json()["questions"]
    assert (own["mine"], own["text"]) == (False, "")


def test_a_reply_continues_the_run_and_is_of_the_one_who_sent_it(desk: Desk) -> None:
    run_id = answered(desk, "ask which?")
    (asked,) = inbox(desk, "cleo")
    reply = {"question": asked["id"], "text": "The blue one"}
    given = {"replies": [reply], "seen": asked["seq"]}
    url = f"{RUNS}/{run_id}/replies"
    assert desk.client("ann").post(url, json=given).status_code == 403
    assert desk.client("zoe").post(url, json=given).status_code == 404
    assert desk.client("cleo").post(url, json=given).status_code == 202
    events = desk.client("olga").get(f"{RUNS}/{run_id}/events").text
    assert '"by":"cleo"' in events
    shown = desk.client("ann").get(f"{RUNS}/{run_id}").json()
    assert (shown["answer"]["output"], shown["questions"]) == ("The blue one", [])
    assert inbox(desk, "cleo") == []
    # The same reply again is no mistake; another one is too late.
    assert desk.client("cleo").post(url, json=given).status_code == 202
    late = {"replies": [{**reply, "text": "The red one"}], "seen": asked["seq"]}
    assert desk.client("cleo").post(url, json=late).status_code == 409


def test_a_batch_of_replies_is_taken_whole_or_not_at_all(desk: Desk) -> None:
    ids = [answered(desk, f"ask which {n}?") for n in range(3)]
    asked = inbox(desk, "cleo")
    replies = [
        {"run_id": one["run_id"], "question": one["id"], "text": "blue", "seen": one["seq"]}
        for one in asked
    ]

    def send(*given: object) -> int:
        sent = desk.client("cleo").post(f"{INBOX}/replies", json={"replies": given})
        return sent.status_code

    assert send(*replies[:2], {**replies[2], "verdict": "approved"}) == 422
    assert send(*replies[:2], {**replies[2], "seen": 2}) == 409
    assert send(*replies[:2], {**replies[2], "question": "1"}) == 422
    assert send(*replies[:2], {**replies[2], "run_id": "run-none"}) == 404
    assert len(inbox(desk, "cleo")) == 3
    assert send(*replies) == 202
    for run_id in ids:
        desk.client().get(f"{RUNS}/{run_id}/events")
        assert desk.client().get(f"{RUNS}/{run_id}").json()["answer"]["output"] == "blue"


def test_a_plan_is_approved_as_it_was_changed_and_a_wrong_one_is_refused_at_once(
    desk: Desk,
) -> None:
    run_id = answered(desk, "say one", approve=["plan"])
    (asked,) = inbox(desk, "cleo")
    assert asked["allowed"] == ["approved", "refused"]
    task = {"id": "t1", "worker": "clerk", "intent": "say two"}

    def send(**changed: object) -> dict[str, Any]:
        plan = {"goal": "g", "tasks": [{**task, **changed}]}
        reply = {"question": asked["id"], "verdict": "approved", "plan": plan}
        given = {"replies": [reply], "seen": asked["seq"]}
        return desk.client("cleo").post(f"{RUNS}/{run_id}/replies", json=given).json()

    (problem,) = send(worker="nobody")["problems"]
    assert (problem["task_id"], problem["field"]) == ("t1", "worker")
    assert send()["run_id"] == run_id
    desk.client().get(f"{RUNS}/{run_id}/events")
    assert desk.client().get(f"{RUNS}/{run_id}").json()["answer"]["output"] == "say two"


def test_a_plan_is_checked_as_it_is_typed_by_task_and_field(desk: Desk) -> None:
    def problems(*tasks: object, name: str = "cleo") -> list[tuple[object, object]]:
        given = {"team": "desk", "plan": {"goal": "g", "tasks": tasks}}
        found = desk.client(name).post("/api/v1/plans/check", json=given)
        assert found.status_code == 200, found.text
        return [(one["task_id"], one["field"]) for one in found.json()["problems"]]

    good = {"id": "a", "worker": "clerk", "intent": "say one"}
    assert problems(good) == []
    assert problems(good, {"id": "b", "worker": "clerk"}) == [("b", "intent")]
    assert problems({**good, "depends_on": ["z"]}) == [("a", "depends_on")]
    assert problems(good, {**good, "worker": "nobody"}) == [("a", "id"), ("a", "worker")]
    assert problems(good, 7) == [("task 2", None)]
    given: dict[str, object] = {"team": "desk", "plan": {}}
    assert desk.client("ann").post("/api/v1/plans/check", json=given).status_code == 403
    assert desk.client("ann").post("/api/v1/plans", json={}).status_code == 403


def test_a_plan_is_shown_before_anything_is_done(desk: Desk) -> None:
    given = {"team": "desk", "request": "say one"}
    shown = desk.client("olga").post("/api/v1/plans", json=given).json()
    assert [one["intent"] for one in shown["plan"]["tasks"]] == ["say one"]
    assert shown["graph"] == {"order": ["t1"], "edges": []}
    assert shown["forecast"]["tasks"] == 1
    assert desk.client("olga").get(RUNS).json()["runs"] == []
