"""What every journal says of its runs, and how it forgets them: a part of the conformance suite."""

import datetime as dt
from dataclasses import replace

from pydantic import JsonValue

from leadhand.contracts.events import (
    ApprovalGiven,
    ApprovalRequested,
    Event,
    PlanAmended,
    RunResumed,
    RunWaiting,
    TaskSplit,
    nested,
)
from leadhand.contracts.people import RunMessage
from leadhand.contracts.summary import MAX_REQUEST_CHARS, RunSummary
from leadhand.journal.store import Store
from leadhand.testing.journal_stories import NOON, Story, keep, only_run, task


class ListingConformance:
    """Summaries and pruning, as `leadhand.journal.Store` has them."""

    # Summaries

    def test_the_summary_follows_the_events(self, journal: Store) -> None:
        story = Story("r")
        keep(journal, [story.started("count " * 100), *story.planned("a", "b", "c")])
        begun = only_run(journal)
        assert (begun.team, begun.status) == ("counters", "interrupted")
        assert begun.request == ("count " * 100)[:MAX_REQUEST_CHARS]
        assert begun.started_at == NOON + dt.timedelta(seconds=1)
        assert begun.updated_at == NOON + dt.timedelta(seconds=3)
        assert (begun.tasks, begun.completed) == (3, 0)
        with journal.hold("r"):
            assert only_run(journal).status == "running"
        keep(journal, [story.dispatched("a"), story.completed("a"), story.finished()])
        ended = only_run(journal)
        assert (ended.status, ended.makespan_s, ended.cost_usd) == ("complete", 6.0, 0.25)
        assert (ended.tasks, ended.completed) == (3, 1)
        with journal.hold("r"):
            assert only_run(journal).status == "complete"

    def test_a_resumed_run_is_unfinished_again(self, journal: Store) -> None:
        """Tasks done again count as completed only when they are."""
        story = Story("r")
        keep(journal, story.whole("a", "b", "c"))
        resumed = RunResumed(**story.stamp(), deadline_s=None, again=("b", "c"))
        keep(journal, [resumed])
        summary = only_run(journal)
        assert (summary.status, summary.tasks, summary.completed) == ("interrupted", 3, 1)
        assert (summary.makespan_s, summary.cost_usd) == (None, None)
        keep(journal, [story.dispatched("b", 2), story.completed("b", 2)])
        assert only_run(journal).completed == 2

    def test_the_summary_counts_parts_amendments_and_no_nested_tasks(self, journal: Store) -> None:
        story, inner = Story("r"), Story("r")
        keep(journal, [story.started(), *story.planned("a", "b")])
        split = TaskSplit(
            **story.stamp(),
            task_id="a",
            attempt=1,
            parts=(task("a1"), task("a2"), task("a3")),
            rewired=(),
            reason="too much",
        )
        amended = PlanAmended(
            **story.stamp(),
            task_id="a1",
            reason="new facts",
            revision=2,
            by="planner",
            added=(task("c"),),
            dropped=("a3", "b"),
        )
        keep(journal, [split, amended])
        assert only_run(journal).tasks == 3
        for event in inner.whole("x", "y"):
            keep(journal, [replace(nested(event, "c"), seq=story.stamp()["seq"])])
        summary = only_run(journal)
        assert (summary.tasks, summary.completed, summary.status) == (3, 0, "interrupted")
        assert summary.request == "count the words"

    def test_a_run_with_an_open_question_waits(self, journal: Store) -> None:
        """Unless a process works on it. A nested run's question is one too."""
        story = Story("r")

        def asked(task_id: str | None) -> Event:
            return ApprovalRequested(**story.stamp(), task_id=task_id, question="Well?")

        def answered(task_id: str | None) -> Event:
            return ApprovalGiven(**story.stamp(), task_id=task_id, verdict="approved", by="ann")

        keep(journal, [story.started(), asked(None), nested(asked(None), "legal")])
        assert only_run(journal).status == "waiting"
        with journal.hold("r"):
            assert only_run(journal).status == "running"
        keep(journal, [answered(None)])
        assert only_run(journal).status == "waiting"
        keep(journal, [nested(answered(None), "legal")])
        assert only_run(journal).status == "interrupted"
        keep(journal, [asked("a"), story.finished()])
        assert only_run(journal).status == "complete"

    def test_a_run_waits_once_it_has_stopped_for_that(self, journal: Store) -> None:
        """One that died with a question open has more to do. Older releases did not record it."""
        story = Story("r")
        started = replace(story.started(), fingerprint="f")
        asked = ApprovalRequested(**story.stamp(), question="Well?")
        keep(journal, [started, asked])
        assert only_run(journal).status == "interrupted"
        answer = story.finished().answer.model_copy(update={"status": "waiting"})
        stamp = story.stamp()
        waiting = replace(RunWaiting(**stamp, answer=answer), seq=3)
        keep(journal, [waiting])
        with journal.hold("r"):
            assert only_run(journal).status == "waiting"
        keep(journal, [replace(RunResumed(**stamp, deadline_s=None), seq=4)])
        assert only_run(journal).status == "interrupted"

    def test_runs_are_listed_the_last_begun_first(self, journal: Store) -> None:
        """F31: by the order in which they were begun, whatever the clock said."""
        for number, hour in enumerate([5, 1, 3, 2, 4]):
            begun = NOON + dt.timedelta(hours=hour)
            keep(journal, [Story(f"r{number}", begun=begun).started()])
        keep(journal, [replace(Story("r1").finished(), seq=2)])
        assert [run.run_id for run in journal.runs()] == ["r4", "r3", "r2", "r1", "r0"]
        assert [run.run_id for run in journal.runs(limit=2)] == ["r4", "r3"]
        assert list(journal.runs(limit=0)) == []

    def test_runs_are_listed_from_a_cursor_on_and_by_any_condition(self, journal: Store) -> None:
        for number in range(5):
            origin: dict[str, JsonValue] = {"odd": number % 2 == 1}
            keep(journal, [replace(Story(f"r{number}").started(), origin=origin)])

        def is_odd(run: RunSummary) -> bool:
            return run.origin == {"odd": True}

        def ids(**asked: object) -> list[str]:
            return [run.run_id for run in journal.runs(**asked)]  # pyright: ignore[reportArgumentType]

        assert ids(cursor="r3") == ["r2", "r1", "r0"]
        assert ids(cursor="r3", limit=1) == ["r2"]
        assert ids(where=is_odd) == ["r3", "r1"]
        assert ids(where=is_odd, limit=1) == ["r3"]
        assert ids(where=is_odd, limit=1, cursor="r3") == ["r1"]
        assert ids(cursor="r0") == ids(cursor="gone") == ids(where=is_odd, limit=0) == []

    # Deleting

    def test_runs_that_no_process_holds_are_deleted_with_all_about_them(
        self, journal: Store
    ) -> None:
        old, day = NOON - dt.timedelta(days=9), dt.timedelta(days=1)
        for id in ["old", "held", "revived"]:
            keep(journal, Story(id, begun=old).whole("a"))
        keep(journal, [replace(Story("revived", begun=NOON).started(), seq=7)])
        keep(journal, Story("new").whole("a"))
        journal.post(RunMessage(run_id="old", reason="stop"))
        journal.post(RunMessage(run_id="new", reason="stop"))
        with journal.hold("held"):
            ids = ["old", "held", "revived", "unknown"]
            assert list(journal.delete(ids, before=NOON - day)) == ["old"]
            assert list(journal.delete(["held"])) == []
            assert journal.holder("held") is not None
        assert {run.run_id for run in journal.runs()} == {"held", "revived", "new"}
        assert not journal.last_seq("old")
        assert list(journal.events("old")) == []
        assert list(journal.messages("old")) == []
        assert len(journal.messages("new")) == 1
        assert len(journal.events("held")) == 6
        keep(journal, Story("old").whole("b"))
        assert len(journal.events("old")) == 6
        assert sorted(journal.delete(["new", "revived"])) == ["new", "revived"]
