"""A run in the standard library's log."""

import asyncio
import datetime as dt
import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest

from leadhand import Handoff, Supervisor, Task, Team, Worker
from leadhand.contracts.events import (
    BreakerOpened,
    Event,
    ModelCalled,
    TaskDispatched,
    ToolCalled,
    WorkerStuck,
)
from leadhand.contracts.outcome import Completed, Escalated, Failed, Outcome, Result
from leadhand.contracts.team import RetryRules
from leadhand.engine.recorder import TaskEventStamp
from leadhand.trace.logs import Logs
from tests.nested_teams import LEGAL, clause, law, plan, workers

AT = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
BREAKER = BreakerOpened(
    seq=6, at=AT, elapsed_s=1, run_id="r1", worker="reader", failures=5, pause_s=30, reason=""
)
OF_A_TASK = TaskEventStamp(seq=3, at=AT, elapsed_s=0.5, run_id="r1", task_id="t1", attempt=1)
DISPATCHED = TaskDispatched(**OF_A_TASK, worker="reader")
STUCK = WorkerStuck(**OF_A_TASK, worker="reader", message="")
USED = ToolCalled(
    **OF_A_TASK, worker="reader", tool="look", arguments="{}", output="", output_chars=0,
    sha256="", error="it broke", duration_s=0.1,
)  # fmt: skip
CALLED = ModelCalled(
    seq=4, at=AT, elapsed_s=1.5, run_id="r1", role="worker", model="openai:small", task_id="t1",
    attempt=1, input_tokens=1_200, output_tokens=30, duration_s=0.25,
)  # fmt: skip


class Kept(logging.Handler):
    """A program's handler, which writes a record a line as its default formatter does."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)
        self.lines.append(f"{record.levelname} {self.format(record)}")

    @property
    def everything(self) -> str:
        """All that any formatter could show."""
        return "\n".join([*self.lines, *(str(vars(record)) for record in self.records)])


@pytest.fixture(name="kept")
def _kept() -> Iterator[Kept]:
    handler = Kept()
    logger = logging.getLogger("leadhand.run")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(before)


def keep(handoff: Handoff) -> Outcome:
    if handoff.attempt == 1:
        return Failed(kind="tool_error", message="the moat is SECRET", transient=True)
    return Completed(result=Result(output="the keep is TALL"))


def moat(handoff: Handoff) -> Outcome:
    return Escalated(reason="out_of_scope", message="ask the MASON")


def castle() -> Team:
    legal = Worker("legal", "Law", team=law(reader=clause))
    rules = RetryRules(max_attempts=2, backoff_s=(0.01,))
    return Team("castle", workers=(legal, *workers(keep=keep, moat=moat)), retry=rules)


TASKS = plan(
    LEGAL,
    Task(id="k", worker="keep", intent="Measure the PORTCULLIS."),
    Task(id="m", worker="moat", intent="Measure the DITCH."),
    Task(id="n", worker="keep", intent="Never done.", depends_on=("m",)),
)


def run(listener: Logs | None = None) -> list[Event]:
    """The events of a run; every run is logged, and once more by a listener of one's own."""
    events: list[Event] = []

    def tell(event: Event) -> None:
        events.append(event)
        if listener is not None:
            listener(event)

    asyncio.run(Supervisor(castle()).run(plan=TASKS, run_id="r1", listener=tell))
    return events


def test_a_run_is_one_record_an_event_in_words(kept: Kept) -> None:
    events = run()
    assert [vars(record)["seq"] for record in kept.records] == [event.seq for event in events]
    assert all("\n" not in line for line in kept.lines)
    for line in (
        "INFO r1: team castle started, deterministic",
        "INFO r1: in task t1, team law started, deterministic",
        "INFO r1: plan of 4 tasks proposed by person",
        "DEBUG r1: task k given to keep, attempt 1",
        "WARNING r1: task k failed at attempt 1 (tool_error)",
        "INFO r1: task k completed at attempt 2",
        "DEBUG r1: task t1/reader given to reader, attempt 1",
        "WARNING r1: task m escalated at attempt 1 (out_of_scope): given up",
        "INFO r1: task n skipped, because of task m",
        "INFO r1: synthesis by merge started",
    ):
        assert line in kept.lines
    assert kept.lines[-1].startswith("INFO r1: finished partial with 2 gaps in ")


def test_a_record_carries_the_events_fields_beside_its_line(kept: Kept) -> None:
    Logs()(CALLED)
    (record,) = kept.records
    assert record.getMessage() == (
        "r1: task t1 (worker) asked openai:small: 1,200 tokens in, 30 out, 0.250 s"
    )
    fields = vars(record)
    assert (fields["run_id"], fields["seq"], fields["type"]) == ("r1", 4, "model_called")
    assert (fields["task_id"], fields["attempt"]) == ("t1", 1)
    assert (fields["model"], fields["duration_s"]) == ("openai:small", 0.25)
    assert (record.name, record.module) == ("leadhand.run", "logs")


def test_no_word_of_workers_or_people_is_logged_unless_it_is_asked_for(kept: Kept) -> None:
    words = ("SECRET", "TALL", "MASON", "PORTCULLIS", "DITCH", "May we cancel?")
    run()
    assert not [word for word in words if word in kept.everything]
    run(Logs(content=True))
    assert "WARNING r1: task k failed at attempt 1 (tool_error): the moat is SECRET" in kept.lines


def test_secrets_are_redacted_before_anything_is_logged(kept: Kept) -> None:
    """F36: in the line as in the fields."""
    logs = Logs(content=True, redact=lambda text: text.replace("hunter2", "[redacted]"))
    logs(replace(CALLED, error="the key was refused: HTTP 401: bad key hunter2", role="hunter2"))
    logs(replace(DISPATCHED, worker="hunter2"))
    assert "hunter2" not in kept.everything
    assert "[redacted]" in kept.lines[0]


def test_what_a_provider_says_is_left_out_and_what_it_comes_to_is_not(kept: Kept) -> None:
    error = "the model is overloaded: HTTP 429: you asked SECRET"
    Logs()(replace(CALLED, error=error, retry_in_s=1.25))
    assert kept.lines == [
        "WARNING r1: task t1 (worker) asked openai:small, no answer after 0.250 s: "
        "the model is overloaded; asked again in 1.2 s"
    ]


def test_a_name_with_line_ends_or_escapes_in_it_stays_one_record_of_one_line(kept: Kept) -> None:
    """F34, F35: nobody forges a record, or writes to the terminal that shows it."""
    evil = "t1\r\nERROR forged\u2028\x1b[31m\x85\u202e"
    Logs()(replace(DISPATCHED, task_id=evil, worker=evil))
    (line,) = kept.lines
    assert len(line.splitlines()) == 1
    assert line.isprintable()
    assert r"t1\r\nERROR forged\u2028\x1b[31m\x85\u202e" in line
    assert str(vars(kept.records[0])["task_id"]).isprintable()


@pytest.mark.parametrize(
    ("event", "level"),
    [
        (DISPATCHED, "DEBUG"),
        (CALLED, "DEBUG"),
        (replace(CALLED, error="no"), "WARNING"),
        (USED, "WARNING"),
        (BREAKER, "WARNING"),
        (STUCK, "WARNING"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.type,
)
def test_levels_go_by_what_needs_a_look(kept: Kept, event: Event, level: str) -> None:
    Logs()(event)
    assert kept.records[0].levelname == level


def test_of_what_the_logger_does_not_take_no_line_is_made(kept: Kept) -> None:
    logging.getLogger("leadhand.run").setLevel(logging.ERROR)
    Logs(redact=forbidden)(DISPATCHED)
    assert kept.records == []
    logging.getLogger("leadhand.run").setLevel(logging.DEBUG)
    with pytest.raises(AssertionError, match="a line was made"):
        Logs(redact=forbidden)(DISPATCHED)


def forbidden(text: str) -> str:
    raise AssertionError("a line was made that nobody sees")


def test_a_request_that_is_put_in_another_way_has_no_time(kept: Kept) -> None:
    Logs()(replace(CALLED, error="it answered in words as `tool`", retry_in_s=0.0))
    assert kept.lines[0].endswith("it answered in words as `tool`; asked again in another way")
