"""Uploaded files: with their run in the journal, and as files where it is worked on."""

import signal
import stat
import tempfile
from pathlib import Path

import pytest

from leadhand import Handoff, InputError, JournalError, RunExists, Supervisor, Team, Worker
from leadhand.contracts.events import RunStarted
from leadhand.errors import ToolError
from leadhand.journal import MemoryStore
from tests.patience import wait_until
from tests.programs import forkserver
from tests.run.resuming.processes import Processes
from tests.run.uploading import FILES, RUN, team

SEEN = {name: content.decode() for name, content in FILES.items()}


def readers(seen: list[Path]) -> Team:
    def read(handoff: Handoff) -> list[str]:
        paths = [Path(one) for one in handoff.artifacts]
        seen.extend(paths)
        assert stat.S_IMODE(paths[-1].parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(paths[-1].stat().st_mode) == 0o600
        return [path.read_text("utf-8") for path in paths]

    return Team("readers", workers=(Worker("reader", "Reads", offline=read, instructions="Read."),))


def test_uploaded_files_are_inputs_and_gone_with_the_run_and_the_record_names_them(
    tmp_path: Path,
) -> None:
    seen: list[Path] = []
    (tmp_path / "own.txt").write_text("own")
    supervisor = Supervisor(readers(seen))
    answer = supervisor.run_sync(
        "Read.", run_id=RUN, inputs=[tmp_path / "own.txt"], uploads=dict(FILES)
    )
    assert answer.output == ["own", *SEEN.values()]
    assert [path.name for path in seen] == ["own.txt", *FILES]
    assert not any(path.exists() for path in seen[1:])
    assert not seen[1].parent.exists()


@pytest.mark.wall_clock
async def test_another_process_has_the_files_of_a_run_whose_process_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F29."""
    server = forkserver()
    with Processes(server).start("tests.run.uploading:work", "home", folder=tmp_path) as process:
        wait_until((tmp_path / "begun").exists)
        process.kill(signal.SIGKILL)
        process.ended()
    server.clear()
    (tmp_path / "open").touch()
    monkeypatch.chdir(tmp_path)
    supervisor = Supervisor(team(), home=tmp_path / "home")
    assert await supervisor.resume_interrupted() == [RUN]
    run = supervisor.handle(RUN)
    assert (await run.answer()).output == SEEN
    started = [event async for event in run.events() if isinstance(event, RunStarted)]
    assert (started[0].inputs, started[0].uploads) == ((), tuple(FILES))
    assert await supervisor.journal.notes("run/")
    await supervisor.delete(RUN)
    assert not await supervisor.journal.notes("run/")
    await supervisor.close()


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "../up", "/etc/passwd", "a\\b", "a\r\nX: y", "a\0", ".env", "\x9b2J"),
        *("\u202etxt.exe", "\ud800", "x" * 201),
    ],
)
async def test_a_name_that_is_no_plain_name_is_refused_in_a_line(name: str) -> None:
    """F17."""
    supervisor = Supervisor(readers([]))
    with pytest.raises(InputError, match="uploads is a dict; it must ") as refused:
        await supervisor.start("Read.", uploads={name: b""})
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 200
    assert await supervisor.runs() == []


async def test_an_id_belongs_to_one_run_with_these_files(tmp_path: Path) -> None:
    supervisor = Supervisor(readers([]), home=tmp_path)
    first = await supervisor.run("Read.", run_id=RUN, uploads=FILES)
    again = await supervisor.run("Read.", run_id=RUN, uploads=FILES, if_exists="join")
    assert again == first
    for other in ({}, {**FILES, "letter.txt": b"Hi"}):
        with pytest.raises(RunExists, match="another request"):
            await supervisor.run("Read.", run_id=RUN, uploads=other, if_exists="join")
    await supervisor.close()


async def test_a_folder_that_another_user_can_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen: list[Path] = []
    supervisor = Supervisor(readers(seen))
    await supervisor.run("Read.", uploads=FILES)
    base = seen[0].parent.parent
    assert base.parent == tmp_path
    base.chmod(0o777)
    with pytest.raises(ToolError, match="not a folder of this user alone"):
        await supervisor.start("Read.", uploads=FILES)
    base.rmdir()
    base.symlink_to(tmp_path)
    with pytest.raises(ToolError, match="not a folder of this user alone"):
        await supervisor.start("Read.", uploads=FILES)


class Older:
    """A store as of a release without notes."""

    blocks = False

    def __init__(self) -> None:
        self._store = MemoryStore()

    def __getattr__(self, name: str) -> object:
        if name in ("notes", "swap_note"):
            raise AttributeError(name)
        return getattr(self._store, name)


async def test_a_journal_without_notes_keeps_runs_and_refuses_files() -> None:
    supervisor = Supervisor(readers([]), journal=Older())  # pyright: ignore[reportArgumentType]
    with pytest.raises(JournalError, match="Older keeps no notes"):
        await supervisor.start("Read.", uploads=FILES)
    assert await supervisor.runs() == []
