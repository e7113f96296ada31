"""A journal of another package: the contract, and how leadhand finds it by its URL."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from leadhand import Handoff, InputError, Supervisor, Team, Worker
from leadhand.journal import Store
from leadhand.testing import DurableConformance
from leadhand.testing.journal_stories import reopening
from tests.cli.program import leadhand
from tests.cli.test_added_commands import install
from tests.journal.lines import LinesStore, open_lines

ROOT = Path(__file__).parents[2]


def done(_: Handoff) -> str:
    return "done"


TEAM = Team("t", workers=[Worker("w", "Works", run=done)])


@pytest.fixture
def reopened(tmp_path: Path) -> Iterator[Callable[[], Store]]:
    with reopening(lambda: open_lines(f"lines://{tmp_path}/home")) as reopen:
        yield reopen


class TestLinesStore(DurableConformance):
    @pytest.fixture
    def journal(self, reopened: Callable[[], Store]) -> Store:
        return reopened()


def test_a_supervisor_takes_a_store_and_another_resumes_from_it(tmp_path: Path) -> None:
    first = Supervisor(TEAM, journal=LinesStore(tmp_path))
    answer = asyncio.run(first.run("go", run_id="r"))
    assert answer.output == "done"
    again = Supervisor(TEAM, journal=LinesStore(tmp_path))
    kept = asyncio.run(again.run("go", run_id="r", if_exists="return"))
    assert kept.answer == answer.answer


def test_a_package_adds_a_journal_by_its_url_scheme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = "[leadhand.journals]\nlines = tests.journal.lines:open_lines\n"
    install(tmp_path / "site", "acme_lines", point)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    home = f"LINES://{tmp_path}/home"
    with_home = Supervisor(TEAM, home=home)
    answer = asyncio.run(with_home.run("go", run_id="r"))
    asyncio.run(with_home.close())
    assert answer.status == "complete"
    assert [path.name for path in (tmp_path / "home").glob("*.jsonl")] == ["1.r.jsonl"]
    env = {"PYTHONPATH": f"{tmp_path / 'site'}:{ROOT}"}
    shown = leadhand("runs", "--home", home, folder=tmp_path, env=env)
    assert (shown.status, "complete" in shown.out) == (0, True)
    assert "✓ w completed" in leadhand("show", "r", "--home", home, folder=tmp_path, env=env).out


@pytest.mark.parametrize(
    ("points", "why"),
    [
        ("lines = no_such_module:there\n", "No module named 'no_such_module'"),
        ("lines = tests.journal.lines:LinesStore.close\n", "can't be used"),
    ],
)
def test_a_journal_that_can_t_be_used_is_named_in_one_line(
    points: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "acme_lines", f"[leadhand.journals]\n{points}")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(InputError, match=why) as refused:
        Supervisor(TEAM, home="lines:///x")
    assert "\n" not in str(refused.value)


def test_two_packages_with_one_scheme_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("acme_lines", "other_lines"):
        install(tmp_path / name, name, f"[leadhand.journals]\nlines = {name}:open_it\n")
        monkeypatch.setattr(sys, "path", [str(tmp_path / name), *sys.path])
    with pytest.raises(InputError, match="several packages store runs at lines://"):
        Supervisor(TEAM, home="lines:///x")
