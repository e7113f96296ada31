"""What holds for the whole suite: no test ever reaches a real model, or keeps a run at home.

The switch and the missing keys are in the environment before any test module is imported, so that
the processes that tests start have them too.
"""

import asyncio
import atexit
import functools
import gc
import inspect
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from leadhand.testing import ScriptedServer, run_virtual
from tests.in_process import InProcess
from tests.programs import share_forkservers
from tests.scripted_server import start_over

gc.disable()  # until all is imported: that creates many objects and no garbage
os.environ["LEADHAND_LOOPBACK_ONLY"] = "1"
os.environ["LEADHAND_LOCAL_MODELS"] = "0"  # or a developer's own model server would answer
# In memory if there is room: tests write little, and sync it often.
_memory = Path("/dev/shm")
if "TMPDIR" not in os.environ and _memory.is_dir():
    _room = os.statvfs(_memory)
    if not _room.f_flag & os.ST_NOEXEC and _room.f_bavail * _room.f_frsize > 2 << 30:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(_memory)
        tempfile.tempdir = tempfile.mkdtemp(prefix="leadhand-tests-", dir=_memory)
        os.chmod(tempfile.tempdir, 0o1777)  # as /tmp: not all that tests start runs as their user
        atexit.register(shutil.rmtree, tempfile.tempdir, ignore_errors=True)
        os.environ["TMPDIR"] = tempfile.tempdir
_home = tempfile.mkdtemp(prefix="leadhand-tests-")
atexit.register(shutil.rmtree, _home, ignore_errors=True)
os.environ["LEADHAND_HOME"] = _home
# Or every process that tests start would compile all that it imports.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
for _name in [*os.environ]:
    if _name.endswith(("_API_KEY", "_API_TOKEN", "_BASE_URL")):
        del os.environ[_name]
share_forkservers()
_ROOT = Path(__file__).parent.parent
_EXTERNAL = re.compile(
    r"subprocess|processes|isolate=|fork|Popen|programs|repositor|make_change|git|home=|--home|[Ss]qlite|"
    r"tools\.files|leadhand\.extension import load|"
    r"[Pp]ostgres|ScriptedServer|model_server|raw_endpoint|\bserver\b|LocalServer"
)
"""What a test module names that starts processes or servers, or opens databases."""
_STARTS = {"subprocess.Popen", "os.fork", "os.posix_spawn", "socket.bind", "sqlite3.connect"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--quick`, for `make quick`."""
    help = "only modules that need no process, server or database; none may start one"
    parser.addoption("--quick", action="store_true", help=help)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip what needs more, without importing it."""
    is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    if not config.getoption("--quick") or not is_test:
        return None
    return _is_external(collection_path) or None


@functools.cache
def _is_external(path: Path) -> bool:
    """Whether a module, or one of the tests' own that it imports, names any of that."""
    text = path.read_text(encoding="utf-8")
    imported = re.findall(r"^from (tests[\w.]*) import", text, re.MULTILINE)
    modules = ((_ROOT / name.replace(".", "/")).with_suffix(".py") for name in imported)
    return bool(_EXTERNAL.search(text)) or any(
        _is_external(module) for module in modules if module.exists() and module != path
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse processes in quick tests, and let programs be interrupted wherever tests run."""
    if config.getoption("--quick") and not config.getoption("numprocesses", None):
        sys.addaudithook(_refuse)
    # A shell that starts the tests in the background, or nohup, has these ignored, and programs
    # inherit that.
    usual = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGQUIT: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
    }
    for one, handler in usual.items():
        if signal.getsignal(one) is signal.SIG_IGN:
            signal.signal(one, handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest tests, or one core would wait for them at the end."""
    items.sort(key=lambda item: not item.path.match("typed/*"))


def pytest_collection_finish() -> None:
    """Collect garbage seldom, and none of what is imported now: else it takes a tenth of all."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run an `async def` test in virtual time, or by the wall clock if it is marked so."""
    test = pyfuncitem.obj
    if not inspect.iscoroutinefunction(test):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(test).parameters}
    run = asyncio.run if pyfuncitem.get_closest_marker("wall_clock") else run_virtual
    run(test(**arguments))
    return True


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event in _STARTS and arguments[:1] != (":memory:",):
        raise AssertionError(f"{event} in a quick test: its module has to name what it starts")


# How fast the machine is decides nothing: not how long an example takes, nor how long finding it.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    """The program, run without a process of its own."""
    return InProcess(monkeypatch, capsys)


@pytest.fixture(scope="session")
def model_process() -> Iterator[ScriptedServer]:
    """A scripted model server that lasts as long as the tests."""
    with ScriptedServer() as server:
        yield server


@pytest.fixture(autouse=True)
def without_habits() -> None:
    """What a test found out about models is not known to the next."""
    if (habits := sys.modules.get("leadhand.models.habits")) is not None:
        habits.forget()


@pytest.fixture
def scripted(model_process: ScriptedServer) -> ScriptedServer:
    """That server as it starts."""
    return start_over(model_process)


@pytest.fixture
def model_server(scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> ScriptedServer:
    """And where both providers' SDKs find their models."""
    for name, value in scripted.env().items():
        monkeypatch.setenv(name, value)
    return scripted
