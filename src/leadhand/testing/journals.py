"""What every journal does, whatever it keeps runs in. Each journal's tests inherit these.

`journal` is an empty one. A durable journal's tests inherit `DurableConformance`, whose `reopened`
opens what `journal` writes to once more, as another process would.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from leadhand.contracts.outcome import Result
from leadhand.contracts.people import Reply, RunMessage
from leadhand.contracts.summary import Inspection
from leadhand.contracts.task import Plan
from leadhand.errors import JournalError, RunTaken
from leadhand.journal.notes import notes_of
from leadhand.journal.store import Store
from leadhand.testing.journal_lists import ListingConformance
from leadhand.testing.journal_stories import Story, keep, only_run, task

ODD_IDS = [".", "..", "a:b", "x" * 200, "Run", "run", "-", "run.lock"]
"""Run ids that are fit, and that a careless journal stumbles over."""


class JournalConformance(ListingConformance):
    """The contract of `leadhand.journal.Store`."""

    # Events

    def test_an_empty_journal_has_nothing_and_says_so(self, journal: Store) -> None:
        """Asking what there is makes nothing."""
        assert not journal.last_seq("r")
        assert journal.last_seq("r") == 0
        assert list(journal.events("r")) == []
        assert list(journal.runs()) == []
        assert list(journal.messages("r")) == []
        assert journal.holder("r") is None
        assert list(journal.delete(["r"])) == []

    def test_committed_events_come_back_in_order_and_run_by_run(self, journal: Store) -> None:
        one, other = Story("one").whole("a", "b"), Story("other").whole("c")
        mixed = [event for pair in zip(one, other, strict=False) for event in pair]
        keep(journal, [*mixed, *one[len(other) :]])
        assert list(journal.events("one")) == one
        assert list(journal.events("other")) == other
        assert journal.last_seq("one")
        assert not journal.last_seq("on")

    def test_what_is_appended_is_read_before_it_is_committed(self, journal: Store) -> None:
        story = Story("r")
        events = [story.started(), *story.planned("a")]
        keep(journal, events[:1])
        for event in events[1:]:
            journal.append(event)
        assert list(journal.events("r")) == events
        assert journal.last_seq("r") == events[-1].seq
        keep(journal, [])
        assert list(journal.events("r")) == events
        assert journal.last_seq("r") == events[-1].seq

    def test_a_commit_with_nothing_to_do_returns(self, journal: Store) -> None:
        keep(journal, [])
        keep(journal, Story("r").whole("a"))
        keep(journal, [])

    def test_many_commit_at_once(self, journal: Store) -> None:
        """A thousand tasks, each of which waits until its own events are safe."""
        story = Story("r")

        async def do(id: str) -> None:
            journal.append(story.dispatched(id))
            await journal.commit()
            journal.append(story.completed(id))
            await journal.commit()

        async def all_of_them() -> None:
            journal.append(story.started())
            await asyncio.gather(*(do(f"t{number}") for number in range(1_000)))

        asyncio.run(all_of_them())
        assert [event.seq for event in journal.events("r")] == list(range(1, 2_002))

    def test_several_event_loops_use_it_at_once(self, journal: Store) -> None:
        stories = [Story(f"r{number}") for number in range(4)]

        def run(story: Story) -> None:
            for event in story.whole("a", "b"):
                keep(journal, [event])

        threads = [threading.Thread(target=run, args=(story,)) for story in stories]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for story in stories:
            assert [event.seq for event in journal.events(story.run_id)] == list(range(1, 9))

    def test_a_cancelled_commit_harms_no_other(self, journal: Store) -> None:
        story = Story("r")

        async def cancel_one() -> None:
            journal.append(story.started())
            first = asyncio.ensure_future(journal.commit())
            second = asyncio.ensure_future(journal.commit())
            await asyncio.sleep(0)
            first.cancel()
            await second

        asyncio.run(cancel_one())
        assert [event.seq for event in journal.events("r")] == [1]

    def test_large_and_odd_texts_come_back(self, journal: Store) -> None:
        """F07: quotes, NULs, bidi marks, line separators; and outputs of more than 64 KB."""
        story = Story("r")
        odd = "\0 ' \" \\ \u202e \u2028 \ufeff é 😀 {}"
        events = [story.started(odd), story.completed("a", output=odd * 20_000)]
        keep(journal, events)
        assert list(journal.events("r")) == events

    def test_lone_surrogates_cost_no_run(self, journal: Store) -> None:
        """F07: text that no encoding has bytes for is kept with U+FFFD in its place."""
        story = Story("r")
        keep(journal, [story.started(), story.completed("a", output="x\ud800y")])
        assert len(journal.events("r")) == 2

    # Failing

    def test_a_position_that_is_written_already_is_refused_for_good(self, journal: Store) -> None:
        """F30: another wrote the run meanwhile. What was there stands, and nothing follows."""
        story = Story("r")
        events = [story.started(), *story.planned("a")]
        keep(journal, events)
        with pytest.raises(JournalError, match="'r'") as first:
            keep(journal, [replace(events[2], elapsed_s=99.0)])
        with pytest.raises(JournalError) as later:
            keep(journal, [story.dispatched("a")])
        with pytest.raises(JournalError):
            keep(journal, [])
        assert str(later.value) == str(first.value)
        assert "\n" not in str(first.value)
        assert list(journal.events("r")) == events

    def test_a_batch_is_kept_whole_or_not_at_all(self, journal: Store) -> None:
        story = Story("r")
        events = [story.started(), story.dispatched("a"), story.completed("a")]
        keep(journal, events[:1])
        with pytest.raises(JournalError):
            keep(journal, [*events[1:], events[2]])
        assert list(journal.events("r")) == events[:1]

    def test_of_many_runs_in_one_commit_each_that_fails_is_told(self, journal: Store) -> None:
        first = {id: Story(id).started() for id in ("one", "two", "good")}
        keep(journal, [first["one"], first["two"]])

        async def commit() -> list[str]:
            for event in first.values():
                journal.append(event)
            each = [journal.commit(), *(journal.commit(id) for id in first)]
            ended = await asyncio.gather(*each, return_exceptions=True)
            return ["" if error is None else str(error) for error in ended]

        _, one, two, good = asyncio.run(commit())
        assert ("'one'" in one, "'two'" in two, good) == (True, True, "")
        assert list(journal.events("good")) == [first["good"]]

    def test_the_next_holder_of_a_run_begins_anew(self, journal: Store) -> None:
        """A failure lasts as long as the hold; what was not committed under it is gone."""
        story = Story("r")
        events = story.whole("a")
        with journal.hold("r"):
            keep(journal, events[:2])
            with pytest.raises(JournalError):
                keep(journal, [events[1]])
        with journal.hold("r"):
            assert list(journal.events("r")) == events[:2]
            journal.append(events[2])
        with journal.hold("r"):
            assert list(journal.events("r")) == events[:2]
            keep(journal, events[2:])
        assert list(journal.events("r")) == events

    # Holding

    def test_one_at_a_time_holds_a_run(self, journal: Store) -> None:
        """F30: the second is told who has it; other runs are free."""
        with journal.hold("r"):
            holder = journal.holder("r")
            assert holder is not None
            assert f"process {os.getpid()}" in holder
            assert "since" in holder
            with pytest.raises(RunTaken, match=f"'r'.*process {os.getpid()}"), journal.hold("r"):
                pass
            with journal.hold("other"):
                assert journal.holder("other") is not None
            assert journal.holder("r") == holder
        assert journal.holder("r") is None
        with journal.hold("r"):
            assert journal.holder("r") is not None

    def test_the_hold_ends_where_its_block_fails(self, journal: Store) -> None:
        with pytest.raises(ZeroDivisionError), journal.hold("r"):
            raise ZeroDivisionError
        assert journal.holder("r") is None

    def test_any_fit_run_id_will_do(self, journal: Store) -> None:
        for id in ODD_IDS:
            with journal.hold(id):
                assert [other for other in ODD_IDS if journal.holder(other)] == [id]
                keep(journal, [Story(id).started()])
        assert [summary.run_id for summary in journal.runs()] == ODD_IDS[::-1]
        for id in ODD_IDS:
            assert [event.run_id for event in journal.events(id)] == [id]

    # Messages

    def test_messages_stay_until_they_are_dropped(self, journal: Store) -> None:
        plan = Plan(goal="g", tasks=(task("a"),))
        reply = Reply(verdict="approved", plan=plan, text="é\0😀", by="ann")
        journal.post(RunMessage(run_id="r", reply=reply))
        journal.post(RunMessage(run_id="other", reason="enough"))
        journal.post(RunMessage(run_id="r", reason="stop"))
        first, second = journal.messages("r")
        assert first == RunMessage(id=first.id, run_id="r", reply=reply)
        assert second == RunMessage(id=second.id, run_id="r", reason="stop")
        assert first.id != second.id
        journal.drop(first)
        journal.drop(first)
        assert list(journal.messages("r")) == [second]
        journal.drop(second)
        journal.post(RunMessage(run_id="r"))
        assert journal.messages("r")[0].id not in {first.id, second.id}
        assert len(journal.messages("other")) == 1

    # Notes, which a store of an older release lacks

    def test_a_note_is_kept_only_instead_of_what_is_known(self, journal: Store) -> None:
        noting(journal)
        assert dict(journal.notes("")) == {}
        assert journal.swap_note("a/1", None, None)
        assert journal.swap_note("a/1", None, b"one")
        assert not journal.swap_note("a/1", None, b"other")
        assert not journal.swap_note("a/1", b"on", b"other")
        assert journal.swap_note("a/1", b"one", b"two\0\xff")
        assert not journal.swap_note("a/1", b"one", None)
        assert dict(journal.notes("a/1")) == {"a/1": b"two\0\xff"}
        assert journal.swap_note("a/1", b"two\0\xff", None)
        assert not journal.swap_note("a/1", b"two\0\xff", None)
        assert dict(journal.notes("a/")) == {}

    def test_notes_are_found_by_the_beginning_of_their_keys(self, journal: Store) -> None:
        noting(journal)
        keys = ["a", "a/", "a/%", "a/_", "a/\u00e9 \U0001f600", "ab", "b/x"]
        for key in keys:
            assert journal.swap_note(key, None, key.encode())
        assert list(journal.notes("a/")) == ["a/", "a/%", "a/_", "a/\u00e9 \U0001f600"]
        assert list(journal.notes("")) == keys
        assert list(journal.notes("c")) == []

    def test_of_many_who_count_in_one_note_each_is_counted(self, journal: Store) -> None:
        noting(journal)

        def count() -> None:
            for _ in range(10):
                counted = False
                while not counted:
                    known = journal.notes("n").get("n")
                    counted = journal.swap_note("n", known, b"%d" % (int(known or 0) + 1))

        threads = [threading.Thread(target=count) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert journal.notes("n") == {"n": b"40"}

    def test_the_notes_of_a_run_are_deleted_with_it(self, journal: Store) -> None:
        noting(journal)
        for id in ("r", "r:1"):
            keep(journal, Story(id).whole("a"))
            journal.swap_note(f"{notes_of(id)}file/x", None, b"x" * 100_000)
        journal.swap_note("other", None, b"")
        with journal.hold("r"):
            assert list(journal.delete(["r"])) == []
            assert list(journal.notes(notes_of("r"))) == ["run/r/file/x"]
        assert list(journal.delete(["r"])) == ["r"]
        assert list(journal.notes("")) == ["other", "run/r:1/file/x"]

    def test_an_inspection_has_all_events_of_a_run_and_none_of_an_unknown_one(
        self, journal: Store
    ) -> None:
        keep(journal, events := Story("r").whole("a"))
        sound = journal.inspect("r")
        assert (sound.run_id, list(sound.events), sound.verdict) == ("r", list(events), "sound")
        assert journal.inspect("none") == Inspection("none")


def noting(journal: Store) -> None:
    """Skip a test of notes if the journal keeps none."""
    if not hasattr(journal, "swap_note"):
        pytest.skip(f"{type(journal).__name__} keeps no notes")


class DurableConformance(JournalConformance):
    """What holds for a journal that outlives its process, besides."""

    def test_what_was_committed_is_there_when_it_is_opened_again(
        self, journal: Store, reopened: Callable[[], Store]
    ) -> None:
        """And what was only appended is gone."""
        story = Story("r")
        events = story.whole("a")
        keep(journal, events[:3])
        journal.post(RunMessage(run_id="r", reason="stop"))
        journal.append(events[3])
        journal.close()
        again = reopened()
        assert list(again.events("r")) == events[:3]
        assert [message.reason for message in again.messages("r")] == ["stop"]
        assert only_run(again).tasks == 1
        keep(again, events[3:])
        assert list(again.events("r")) == events

    def test_another_sees_what_was_committed_and_no_more(
        self, journal: Store, reopened: Callable[[], Store]
    ) -> None:
        other = reopened()
        events = Story("r").whole("a")
        keep(journal, events[:2])
        journal.append(events[2])
        assert list(other.events("r")) == events[:2]
        keep(journal, [])
        assert list(other.events("r")) == events[:3]

    def test_two_write_different_runs_at_once(
        self, journal: Store, reopened: Callable[[], Store]
    ) -> None:
        other = reopened()
        one_story, other_story = Story("one"), Story("other")
        for one, two in zip(one_story.whole("a"), other_story.whole("b"), strict=True):
            keep(journal, [one])
            keep(other, [two])
        assert len(journal.events("other")) == len(other.events("one")) == 6

    def test_another_is_told_who_holds_a_run(
        self, journal: Store, reopened: Callable[[], Store]
    ) -> None:
        """F30."""
        other = reopened()
        with journal.hold("r"):
            assert other.holder("r") == journal.holder("r")
            with pytest.raises(RunTaken, match=f"process {os.getpid()}"), other.hold("r"):
                pass
        with other.hold("r"):
            assert journal.holder("r") is not None

    def test_messages_reach_whoever_has_it_open(
        self, journal: Store, reopened: Callable[[], Store]
    ) -> None:
        other = reopened()
        other.post(RunMessage(run_id="r", reason="stop"))
        (message,) = journal.messages("r")
        journal.drop(message)
        assert list(other.messages("r")) == []

    def test_a_note_is_there_for_another_at_once(
        self, journal: Store, reopened: Callable[[], Store]
    ) -> None:
        noting(journal)
        other = reopened()
        assert journal.swap_note("n", None, b"one")
        assert not other.swap_note("n", None, b"two")
        assert other.swap_note("n", b"one", b"two")
        assert journal.notes("n") == {"n": b"two"}

    def test_a_failed_commit_leaves_nothing_behind(
        self, journal: Store, reopened: Callable[[], Store]
    ) -> None:
        """What can't be written down is refused, and the events with it; other runs go on."""
        bad, good = Story("bad"), Story("good")
        keep(journal, [bad.started()])
        nonsense = Result.model_construct(output=object())
        broken = replace(bad.completed("a"), result=nonsense)  # pyright: ignore[reportCallIssue]
        with pytest.raises(JournalError, match="'bad'"):
            keep(journal, [bad.dispatched("a"), broken])
        other = reopened()
        keep(other, good.whole("a"))
        assert len(other.events("bad")) == 1
        assert len(other.events("good")) == 6

    def test_a_closed_one_commits_no_more_and_blocks_no_caller(self, journal: Store) -> None:
        story = Story("r")
        keep(journal, [story.started()])
        journal.close()
        journal.close()
        with pytest.raises(JournalError, match="closed"):
            keep(journal, [story.dispatched("a")])
