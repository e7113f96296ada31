"""An exception as a failure: its type, its message, where it happened, and its traceback."""

import asyncio
import errno
import functools
import json
import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import pytest

from leadhand import Answer, Failed, Handoff, Supervisor, Team, Worker
from leadhand.contracts.events import Event, TaskFailed, dump, parse
from leadhand.engine.attempts import run_safely
from leadhand.engine.failures import MAX_MESSAGE, MAX_TRACEBACK, class_name, failure_of
from leadhand.errors import InputError, ModelError, Permanent
from leadhand.journal import open_store
from leadhand.state.fold import fold
from leadhand.workers.function import FunctionWorker
from leadhand.workers.processes import ProcessPool, ProcessWorker
from tests.plans.samples import plan, task
from tests.stored import store_of
from tests.workers.worker_samples import make_handoff

HERE = Path(__file__)


class Unprintable(Exception):
    """Cannot even say what is wrong."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


def line_of(text: str) -> int:
    """The line of this file that has `text` first."""
    lines = HERE.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def check(text: str) -> object:
    return json.loads(text)  # raised in the library, called here


def parse_reply(handoff: Handoff) -> object:
    return check("{" + handoff.intent)


async def parse_reply_later(handoff: Handoff) -> object:
    await asyncio.sleep(0)
    return check("{" + handoff.intent)


async def in_a_group(handoff: Handoff) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(parse_reply_later(handoff))


HANDOFF = make_handoff()
PLACE = f"{HERE}:{line_of('raised in the library, called here')}"


def events_of(function: Callable[[Handoff], object]) -> Sequence[Event]:
    """The events of a run whose one task `function` works on."""
    supervisor = Supervisor(Team("one", workers=(Worker("w", "Works", run=function),)))
    answer = supervisor.run_sync(plan=plan(task("a", worker="w")))
    return store_of(supervisor).events(answer.run_id)


def answer_of(function: Callable[[Handoff], object]) -> Answer:
    answer = fold(events_of(function)).answer
    assert answer is not None
    return answer


def shown(place: str) -> str:
    """A place as it is shown from the current folder."""
    return place.removeprefix(f"{Path.cwd()}/")


def raised_by(function: Callable[[], object]) -> BaseException:
    with pytest.raises(BaseException) as caught:  # noqa: PT011
        function()
    return caught.value


def test_an_exception_becomes_a_failure_with_its_type_and_message() -> None:
    failed = failure_of(ValueError("bad"))
    assert (failed.kind, failed.message, failed.transient) == ("error", "ValueError: bad", False)
    assert failed.raised is not None
    assert (failed.raised.type, failed.where) == ("ValueError", None)
    assert failed.raised.traceback == "ValueError: bad\n"
    assert failure_of(KeyError("k")).message == "KeyError: 'k'"
    assert failure_of(SystemExit(3)).message == "SystemExit: 3"
    assert failure_of(KeyboardInterrupt()).message == "KeyboardInterrupt"
    assert failure_of(Unprintable()).message == "Unprintable"


def test_the_message_of_a_failure_is_bounded_and_legible() -> None:
    """F07."""
    message = failure_of(ValueError("\ud800" + "x" * 10_000)).message
    assert len(message) == MAX_MESSAGE
    assert message.startswith("ValueError: \ufffdxx")
    assert message.endswith("...")


@pytest.mark.parametrize(
    ("error", "transient"),
    [
        (ConnectionResetError(), True),
        (TimeoutError(), True),
        (OSError(errno.EHOSTUNREACH, "no route"), True),
        (OSError("odd"), True),
        (RuntimeError("HTTP 503"), True),
        (type("SdkError", (Exception,), {})("busy"), True),
        (MemoryError(), True),
        (TypeError(), False),
        (ValueError("bad"), False),
        (json.JSONDecodeError("bad", "{", 1), False),
        (ZeroDivisionError(), False),
        (KeyError("k"), False),
        (IndexError(), False),
        (AttributeError(), False),
        (NameError(), False),
        (AssertionError(), False),
        (NotImplementedError(), False),
        (ModuleNotFoundError(), False),
        (PermissionError(errno.EACCES, "no"), False),
        (FileNotFoundError(errno.ENOENT, "gone"), False),
        (Permanent("wrong account"), False),
        (InputError("no such file"), False),
        (ModelError("key refused", transient=False), False),
        (ModelError("HTTP 503", transient=True), True),
        (SystemExit(), False),
        (KeyboardInterrupt(), False),
        (ExceptionGroup("two", [RuntimeError(), OSError()]), True),
        (ExceptionGroup("two", [RuntimeError(), ValueError()]), False),
    ],
)
def test_an_exception_is_transient_unless_it_is_permanent(
    error: BaseException, transient: bool
) -> None:
    assert failure_of(error).transient is transient


def test_a_list_of_transient_exceptions_takes_the_place_of_the_usual_rule() -> None:
    on = {class_name(ValueError), class_name(ConnectionError)}
    assert failure_of(json.JSONDecodeError("bad", "{", 1), on=on).transient
    assert failure_of(ConnectionResetError(), on=on).transient
    assert not failure_of(RuntimeError("HTTP 503"), on=on).transient
    assert not failure_of(Permanent("no"), on={class_name(Exception)}).transient


def test_an_exception_may_call_itself_transient() -> None:
    class Busy(ValueError):
        transient = True

    class Lasting(Exception):
        transient = False

    class Sly(ValueError):
        transient = "maybe"

    assert failure_of(Busy()).transient
    assert not failure_of(Lasting()).transient
    assert not failure_of(Sly()).transient


# Where it happened


@pytest.mark.parametrize("function", [parse_reply, parse_reply_later, in_a_group])
def test_the_place_is_the_last_frame_in_user_code(
    function: Callable[[Handoff], object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Not the library below it, nor leadhand above it; for threads, the loop and task groups."""
    monkeypatch.chdir(tmp_path)
    answer = answer_of(function)
    (gap,) = answer.gaps
    assert gap.why.endswith(f"(at {PLACE})")
    assert "JSONDecodeError: Expecting property name" in gap.why
    assert answer.tasks[0].error == gap.why
    assert gap.why in answer.answer.replace("\\", "").replace("`", "")


def test_a_place_below_the_current_folder_is_shown_from_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(HERE.parent)
    (gap,) = answer_of(parse_reply).gaps
    assert gap.why.endswith(f"(at test_failures.py:{PLACE.rpartition(':')[2]})")


@pytest.mark.wall_clock
async def test_a_worker_process_says_the_same_place() -> None:
    """F38."""
    async with ProcessPool(1) as pool:
        failed = await ProcessWorker(parse_reply, pool).run(HANDOFF)
    assert isinstance(failed, Failed)
    assert failed.raised is not None
    assert (failed.raised.type, failed.where) == ("JSONDecodeError", shown(PLACE))
    assert "in parse_reply" in failed.raised.traceback


def test_what_a_runner_raises_itself_has_its_place_too() -> None:
    """F38: an exception that leaves a runner, such as one of another framework."""

    class Careless:
        async def run(self, handoff: Handoff) -> Failed:
            check("{")
            raise AssertionError

    failed = asyncio.run(run_safely(Careless(), HANDOFF))
    assert isinstance(failed, Failed)
    assert failed.where == shown(PLACE)


def test_of_an_installed_worker_it_is_the_last_frame_of_its_own_package(tmp_path: Path) -> None:
    """Where all of the program is installed, nothing on the way looks like user code."""
    library = tmp_path / "lib" / "site-packages"
    shop = library / "shop.py"
    text = (
        "import parts\ndef work(handoff):\n    return helper()\ndef helper():\n    parts.fail()\n"
    )
    modules = {
        "shop": (shop, text),
        "parts": (library / "parts.py", "def fail():\n    raise KeyError('x')\n"),
    }
    work: Callable[[Handoff], object] = parse_reply
    for name in ("parts", "shop"):
        path, source = modules[name]
        module = types.ModuleType(name)
        sys.modules[name] = module
        exec(compile(source, path, "exec"), module.__dict__)
        work = getattr(module, "work", work)
    try:
        failed = asyncio.run(FunctionWorker(work).run(HANDOFF))
    finally:
        del sys.modules["shop"], sys.modules["parts"]
    assert isinstance(failed, Failed)
    assert failed.where == f"{shop}:5"


def test_without_a_frame_there_is_no_place() -> None:
    """What is called may be written in C, or be no function at all."""
    parse_number = cast("Callable[[Handoff], object]", functools.partial(int, base=3))
    (gap,) = answer_of(parse_number).gaps
    assert gap.why.startswith("TypeError: ")
    assert "failures.py" not in gap.why


# The traceback


def test_the_traceback_is_kept_in_the_journal_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F22."""
    secret = "sk-" + "q8Zr" * 10
    monkeypatch.setenv("SHOP_API_KEY", secret)

    def work(handoff: Handoff) -> None:
        raise ValueError(f"refused with {secret}")

    supervisor = Supervisor(Team("one", workers=(Worker("w", "Works", run=work),)), home=tmp_path)
    answer = supervisor.run_sync(plan=plan(task("a", worker="w")))
    journal = open_store(tmp_path)
    try:
        events = journal.events(answer.run_id)
    finally:
        journal.close()
    failed = [event for event in events if isinstance(event, TaskFailed)]
    raised = [event.raised for event in failed]
    assert raised[0] is not None
    assert "in work\n" in raised[0].traceback
    assert "ValueError: refused with [redacted]" in raised[0].traceback
    assert secret not in "".join(map(dump, events))


def test_a_traceback_is_bounded_and_keeps_both_its_ends() -> None:
    """F07."""

    def deep(level: int) -> None:
        if level == 0:
            raise ValueError("x" * 100_000 + "the end")
        deep(level - 1)

    failed = failure_of(raised_by(lambda: deep(300)))
    assert failed.raised is not None
    assert MAX_TRACEBACK < len(failed.raised.traceback) < MAX_TRACEBACK + 100
    assert failed.raised.traceback.startswith("Traceback (most recent call last):\n")
    assert failed.raised.traceback.endswith("the end\n")


def raise_(error: BaseException) -> None:
    raise error


def test_an_exception_that_breaks_its_own_traceback_is_a_failure_all_the_same() -> None:
    """F38."""

    class Broken(Exception):
        @property
        def __notes__(  # pyright: ignore[reportIncompatibleVariableOverride]
            self,
        ) -> Sequence[str]:
            raise Unprintable

    failed = failure_of(raised_by(lambda: raise_(Broken("odd"))))
    assert failed.message == "Broken: odd"
    assert failed.where is not None


def test_events_of_before_have_no_exception() -> None:
    (event,) = [event for event in events_of(parse_reply) if isinstance(event, TaskFailed)][:1]
    old = json.loads(dump(event))
    del old["raised"]
    read = parse(json.dumps(old))
    assert isinstance(read, TaskFailed)
    assert (read.raised, read.where) == (None, None)
