"""Where runs are kept: what may be named, what is shown of it, and what can't be used."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from leadhand.cli.home import home_of, run_folder, shown_home, stored_runs
from leadhand.cli.run.storage import RunStorage
from leadhand.errors import InputError
from tests.cli.program import leadhand


def test_the_home_is_the_options_else_the_variables_and_may_be_a_database(tmp_path: Path) -> None:
    url = "postgresql://eva:s3cret@db.example/runs"
    assert home_of(str(tmp_path), {"LEADHAND_HOME": "/other"}) == tmp_path
    assert home_of(None, {"LEADHAND_HOME": "/other"}) == Path("/other")
    assert home_of(url, {}) == home_of(None, {"LEADHAND_HOME": url}) == url
    assert shown_home(url) == "postgresql://eva:***@db.example/runs"
    assert shown_home("postgresql://eva@db.example/runs") == "postgresql://eva@db.example/runs"
    beside = run_folder(url, "r", {"LEADHAND_HOME": url})
    assert "s3cret" not in str(beside), "the URL is no folder"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://db.example/runs?user=eva&password=s3cret&sslmode=require",
        "postgresql://db.example/runs?SSLPASSWORD=s3cret",
        "postgresql://eva:p@s/s3cret@db.example/runs",
        "postgresql://eva:s3cret@db.example/runs?password=s3cret",
        "postgresql://db.example/runs?options=ghp_" + "s3cret" * 6,
    ],
)
def test_f36_no_password_of_a_home_is_shown(url: str) -> None:
    assert "s3cret" not in shown_home(url)
    assert "db.example/runs" in shown_home(url)


def test_looking_into_an_empty_home_makes_nothing(tmp_path: Path) -> None:
    assert not stored_runs(tmp_path / "none").runs()
    assert not (tmp_path / "none").exists()


def test_f17_the_folder_of_a_run_is_its_own_however_it_is_called(tmp_path: Path) -> None:
    for run_id in ("run-1", ".", "..", "..."):
        folder = run_folder(tmp_path, run_id, {})
        assert folder.resolve().parent == (tmp_path / "runs").resolve()


def a_loop(path: Path) -> None:
    path.symlink_to(path)


def a_dangling_link(path: Path) -> None:
    path.symlink_to(path.with_name("nothing"))


def a_device(path: Path) -> None:
    path.symlink_to("/dev/null")


@pytest.mark.parametrize("make", [Path.touch, os.mkfifo, a_loop, a_dangling_link, a_device])
def test_a_home_that_is_no_folder_is_refused_to_read_and_to_write(
    make: Callable[[Path], None], tmp_path: Path
) -> None:
    make(tmp_path / "home")
    for home in (tmp_path / "home", tmp_path / "home" / "x"):
        with pytest.raises(InputError, match=r"home(/x)?: it ") as to_read:
            stored_runs(home)
        with pytest.raises(InputError, match=r"home(/x)?: it ") as to_write:
            RunStorage(str(home))
        assert "\n" not in f"{to_read.value}{to_write.value}"


@pytest.mark.parametrize("command", [("runs",), ("show", "last"), ("resume", "last")])
def test_a_home_that_is_a_file_is_one_clear_line(command: Sequence[str], tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    ended = leadhand(*command, "--home", "home", folder=tmp_path)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("leadhand: ")
    assert ended.err.count("\n") == 1
    assert "home: it is a file" in ended.err


def test_a_home_that_cannot_be_made_is_named_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"stored in .*x: it can't be made .*with --home"):
        RunStorage(str(tmp_path / "file" / "x"))
    with pytest.raises(InputError, match="give a folder or a postgresql:// URL"):
        RunStorage("mysql://there/it")
