"""Questions to people over HTTP: the inbox, who may reply, and what a reply may be about."""

import datetime as dt
import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from leadhand import Supervisor
from leadhand.serve import ServiceSettings, app
from leadhand.serve.questions import InboxQuestion
from tests.patience import wait_until
from tests.serve.desk import Desk, Gate, authenticate, served, supervisors_of
from tests.serve.test_runs import RUNS, answered

INBOX = "/api/v1/questions"
WANTED = {"team": "desk", "request": "say one"}


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
    again = desk.client("cleo").post(url, json=given)
    assert (again.status_code, again.json()["status"]) == (202, "complete")
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
    assert send(*replies[:2], {**replies[2], "seen": 99_999}) == 422
    assert send(*replies[:2], {**replies[2], "question": "1"}) == 422
    assert send(*replies[:2], {**replies[2], "run_id": "run-none"}) == 404
    assert send(*replies, {**replies[2], "text": "red"}) == 422, "two replies that differ"
    assert send(*replies[:2], {**replies[2], "text": " "}) == 422
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
    assert (problem["task_id"], problem["code"]) == ("t1", "unknown_worker")
    # Workers read what a plan names: no other file than those of the run.
    for path in (__file__, "~/.netrc", "../secret", os.path.relpath(__file__)):
        (problem,) = send(artifacts=[path])["problems"]
        assert (problem["task_id"], problem["code"]) == ("t1", "unknown_artifact")
    # Nor in its payload, at any depth.
    for payload in (__file__, {"read": ["~/.netrc"]}, [{"../secret": 1}], "file:///etc/passwd"):
        (problem,) = send(payload=payload)["problems"]
        assert (problem["task_id"], problem["code"]) == ("t1", "unknown_artifact")
    assert send(payload={"colour": "blue"})["run_id"] == run_id
    desk.client().get(f"{RUNS}/{run_id}/events")
    assert desk.client().get(f"{RUNS}/{run_id}").json()["answer"]["output"] == "say two"


def test_a_plan_is_checked_as_it_is_typed_by_task(desk: Desk) -> None:
    def problems(*tasks: object, name: str = "cleo") -> list[tuple[object, object]]:
        given = {"team": "desk", "plan": {"goal": "g", "tasks": tasks}}
        found = desk.client(name).post("/api/v1/plans/check", json=given)
        assert found.status_code == 200, found.text
        return [(one["task_id"], one["code"]) for one in found.json()["problems"]]

    good = {"id": "a", "worker": "clerk", "intent": "say one"}
    assert problems(good) == []
    assert problems(good, {"id": "b", "worker": "clerk"}) == [(None, "invalid")]
    assert problems({**good, "depends_on": ["z"]}) == [("a", "unknown_dependency")]
    assert problems(good, {**good, "worker": "nobody"}) == [
        ("a", "duplicate_id"),
        ("a", "unknown_worker"),
    ]
    assert problems(good, 7) == [(None, "invalid")]
    given: dict[str, object] = {"team": "desk", "plan": {}}
    assert desk.client("ann").post("/api/v1/plans/check", json=given).status_code == 403
    assert desk.client("ann").post("/api/v1/plans", json=WANTED).status_code == 403


def test_a_plan_is_shown_before_anything_is_done(desk: Desk) -> None:
    given = WANTED
    shown = desk.client("olga").post("/api/v1/plans", json=given).json()
    assert [one["intent"] for one in shown["tasks"]] == ["say one"]
    assert desk.client("olga").get(RUNS).json()["runs"] == []


def test_a_question_that_a_cancelled_run_had_is_counted_no_more_when_it_is_asked_again(
    desk: Desk,
) -> None:
    run_id, olga = answered(desk, "say one", approve=["plan"]), desk.client("olga")

    def counts() -> tuple[int, int, int]:
        (listed,) = olga.get(RUNS).json()["runs"]
        shown = olga.get(f"{RUNS}/{run_id}").json()["questions"]
        return listed["questions"], len(shown), len(inbox(desk, "cleo"))

    assert counts() == (1, 1, 1)
    cancelled = olga.post(f"{RUNS}/{run_id}/cancel")
    assert (cancelled.status_code, cancelled.json()["status"]) == (202, "cancelled")
    assert counts() == (0, 0, 0)
    assert olga.post(f"{RUNS}/{run_id}/resume").status_code == 202
    wait_until(lambda: olga.get(f"{RUNS}/{run_id}").json()["status"] == "waiting")
    assert counts() == (1, 1, 1)


@contextmanager
def whose_questions_expire(home: Path, expires_s: float) -> Generator[Desk]:
    known = supervisors_of(home, gate := Gate())[0]
    team = replace(known.team, expires_s=expires_s)
    made = [Supervisor(team, journal=known.journal, approve=["escalation"])]
    service = app(made, auth=authenticate, settings=ServiceSettings(grace_s=0, take_over_s=0.2))
    with served(service) as url:
        desk = Desk(url, gate, service)
        try:
            yield desk
        finally:
            desk.close()


def test_a_question_that_expires_is_declined_and_the_run_goes_on(tmp_path: Path) -> None:
    with whose_questions_expire(tmp_path, 0.4) as desk:
        run_id = answered(desk, "ask which?")
        events = desk.client("olga").get(f"{RUNS}/{run_id}/events").text
        assert '"expires_s":0.4' in events
        shown = desk.client("olga").get(f"{RUNS}/{run_id}").json()
        assert (shown["answer"]["status"], shown["questions"]) == ("failed", [])
        assert "the question expired at " in shown["answer"]["gaps"][0]["why"]
        (asked,) = shown["people"]
        assert (asked["verdict"], asked["by"]) == ("declined", "expiry")
        (id,) = re.findall(r"id: (\d+)\nevent: approval_requested", events)
        late = {"replies": [{"question": id, "text": "blue"}], "seen": shown["seq"]}
        sent = desk.client("cleo").post(f"{RUNS}/{run_id}/replies", json=late)
        assert (sent.status_code, "the question expired at " in sent.json()["detail"]) == (
            409,
            True,
        )


def test_the_inbox_says_when_a_question_expires(tmp_path: Path) -> None:
    with whose_questions_expire(tmp_path, 3_600) as desk:
        answered(desk, "ask which?")
        (one,) = inbox(desk, "cleo")
        asked, expires = (
            dt.datetime.fromisoformat(str(one[at])) for at in ("asked_at", "expires_at")
        )
        assert expires - asked == dt.timedelta(hours=1)
