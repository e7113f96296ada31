"""What every durable journal says of runs that are not what was written (F31, F44).

A journal's tests inherit this; `spoil` changes what it keeps behind its back, in SQL: a template of
the names `spoiling` has.
"""

from collections.abc import Callable
from string import Template

import pytest

from leadhand.errors import DamagedRun, JournalError
from leadhand.journal.codec import BLOB_CHARS
from leadhand.journal.integrity import checksum
from leadhand.journal.store import Store
from leadhand.testing.journal_stories import Story, keep

Spoil = Callable[[str], None]

HARM = {
    "a changed text": (
        "UPDATE $events SET body = replace(body, 'a', 'e') WHERE $of_bad seq = 3",
        3,
    ),
    "a lost event": ("DELETE FROM $events WHERE $of_bad seq = 3", 3),
    "the first event lost": ("DELETE FROM $events WHERE $of_bad seq = 1", 1),
    "the last event lost": ("DELETE FROM $events WHERE $of_bad seq = 7", 7),
    "a lost checksum": ("UPDATE $events SET checksum = NULL WHERE $of_bad seq = 3", 3),
    "a lost blob": ("DELETE FROM $blobs WHERE $of_bad seq = 6", 6),
    "a changed blob": ("UPDATE $blobs SET data = $zeros WHERE $of_bad seq = 6", 6),
}
EVENTS = 7


def spoiling(statement: str, *, schema: str, key: str, id: str, zeros: str) -> str:
    """The statement for a database: `key` is by what events name their run, `id` its own name."""
    names = {table: f"{schema}{table}" for table in ("runs", "events", "blobs")}
    of_bad = f"run = (SELECT {key} FROM {schema}runs WHERE {id} = 'bad') AND"
    return Template(statement).substitute(names, of_bad=of_bad, id=id, zeros=zeros)


class DamageConformance:
    """What each durable journal notices."""

    @pytest.mark.parametrize("harm", HARM)
    def test_damage_is_named_and_what_comes_before_it_is_saved(
        self, journal: Store, spoil: Spoil, harm: str
    ) -> None:
        """F31, F44: one run's damage hides no other."""
        for id in ("bad", "good"):
            story = Story(id)
            long = "x" * BLOB_CHARS
            events = [story.started(), *story.planned("a", "b"), story.dispatched("a")]
            events += [story.dispatched("b"), story.completed("a", output=long)]
            keep(journal, [*events, story.completed("b")])
        statement, seq = HARM[harm]
        spoil(statement)
        with pytest.raises(DamagedRun, match=rf"'bad' is damaged at event {seq}: ") as error:
            journal.events("bad")
        assert "\n" not in str(error.value)
        assert error.value.seq == seq
        found = journal.inspect("bad")
        assert found.verdict == "damaged"
        assert [event.seq for event in found.events] == [*range(1, seq)]
        assert journal.inspect("good").verdict == "sound"
        assert len(journal.events("good")) == EVENTS
        assert {run.run_id for run in journal.runs()} == {"bad", "good"}

    def test_a_digest_that_cannot_be_read_hides_no_run_and_is_made_anew(
        self, journal: Store, spoil: Spoil
    ) -> None:
        """F44: one bad digest made `runs` fail for all."""
        story, other = Story("bad"), Story("good")
        events = story.whole("a")
        keep(journal, [*events[:4], *other.whole("a")])
        spoil("UPDATE $runs SET digest = '{' WHERE $id = 'bad'")
        assert {run.run_id: run.status for run in journal.runs()} == {
            "bad": "damaged",
            "good": "complete",
        }
        assert "summary in the list can't be read" in journal.inspect("bad").damage
        keep(journal, events[4:])
        assert [run.status for run in journal.runs()] == ["complete", "complete"]
        assert journal.inspect("bad").verdict == "sound"

    def test_a_digest_that_does_not_fit_its_events_is_found(
        self, journal: Store, spoil: Spoil
    ) -> None:
        keep(journal, Story("bad").whole("a"))
        spoil("UPDATE $runs SET digest = replace(digest, 'complete', 'failed') WHERE $id = 'bad'")
        assert "is not that of its events" in journal.inspect("bad").damage

    def test_events_without_checksums_are_read_and_not_verifiable(
        self, journal: Store, spoil: Spoil
    ) -> None:
        """F31: leadhand 0.1 wrote none, and no position in the digest."""
        events = Story("bad").whole("a")
        keep(journal, events)
        spoil("UPDATE $events SET checksum = NULL")
        spoil("UPDATE $runs SET digest = replace(digest, ',\"seq\":6', '')")
        assert list(journal.events("bad")) == events
        found = journal.inspect("bad")
        assert (found.verdict, found.unverified) == ("not verifiable", len(events))

    def test_an_event_of_a_newer_leadhand_is_one_line(self, journal: Store, spoil: Spoil) -> None:
        """F31: its type is not known here; it is not damage."""
        events = Story("bad").whole("a")
        keep(journal, events)
        body = '{"type":"task_teleported","at":"2026-01-01T00:00:00Z","elapsed_s":1.0}'
        known = checksum("bad", 6, body)
        spoil(f"UPDATE $events SET body = '{body}', checksum = {known} WHERE $of_bad seq = 6")
        with pytest.raises(JournalError) as error:
            journal.events("bad")
        assert str(error.value) == (
            "event 6 of run 'bad' can't be read: a newer leadhand wrote it, as 'task_teleported': "
            "update leadhand"
        )
        found = journal.inspect("bad")
        assert (found.verdict, len(found.events)) == ("sound", 5)
        assert found.unread == str(error.value)
