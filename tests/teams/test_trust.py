"""F45: what another user could have written is not imported unless the user trusts it."""

import os
import sys
from pathlib import Path

import pytest

from leadhand.errors import InputError
from leadhand.teams.loader import inspect, load
from leadhand.teams.trust import check_owners, trusted_owners
from tests.team_folders import worker, write_team

STRANGER = 54_321
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A team whose module leaves a file when it is imported."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "strange_work", raising=False)
    folder = write_team(tmp_path / "team", solo=worker("offline: strange_work:f"))
    (folder / "strange_work.py").write_text(
        f"open({str(tmp_path / 'imported')!r}, 'w').close()\ndef f(handoff): ...\n"
    )
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").touch()
    (folder / "package" / "deep.py").touch()
    return folder


def imported(folder: Path) -> bool:
    return (folder.parent / "imported").exists()


def test_ones_own_folder_and_roots_are_trusted(folder: Path) -> None:
    """F45"""
    check_owners(folder)
    check_owners(folder, whole=False)
    assert {os.geteuid(), 0} <= trusted_owners({})


def test_whoever_called_sudo_is_trusted_by_root_alone() -> None:
    """F45"""
    assert (STRANGER in trusted_owners({"SUDO_UID": str(STRANGER)})) == (os.geteuid() == 0)
    assert trusted_owners({"SUDO_UID": "nobody"}) == trusted_owners({})


@pytest.mark.skipif(os.geteuid() == 0, reason="root's files are trusted by everyone")
def test_a_folder_of_another_user_is_refused(folder: Path) -> None:
    """F45"""
    with pytest.raises(InputError, match="belongs to"):
        check_owners(folder, owners=frozenset({STRANGER}))


@AS_ROOT
@pytest.mark.parametrize(
    "given",
    [".", "..", "team.yaml", "workers", "workers/solo.md", "strange_work.py", "package/deep.py"],
)
def test_anything_of_another_user_in_above_or_behind_a_team_keeps_it_from_being_imported(
    folder: Path, given: str
) -> None:
    """F45"""
    os.chown(folder / given, STRANGER, -1)
    with pytest.raises(InputError, match=f"belongs to another user .id {STRANGER}.*--trust"):
        load(folder)
    assert not imported(folder)
    assert inspect(folder, code=False).problems == ()
    assert not imported(folder)
    assert load(folder, trust=True).name == "mine"
    assert imported(folder)


@AS_ROOT
def test_a_link_is_as_strange_as_what_it_leads_to_and_as_who_made_it(
    folder: Path, tmp_path: Path
) -> None:
    """F45"""
    (tmp_path / "theirs.py").touch()
    (folder / "linked.py").symlink_to(tmp_path / "theirs.py")
    check_owners(folder)
    os.chown(tmp_path / "theirs.py", STRANGER, -1)
    with pytest.raises(InputError, match=r"linked\.py belongs to"):
        check_owners(folder)
    os.chown(tmp_path / "theirs.py", 0, -1)
    os.chown(folder / "linked.py", STRANGER, -1, follow_symlinks=False)
    with pytest.raises(InputError, match=r"linked\.py belongs to"):
        check_owners(folder)


@AS_ROOT
def test_a_link_to_a_strangers_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    """F45"""
    os.chown(folder, STRANGER, -1)
    (tmp_path / "mine").symlink_to(folder)
    with pytest.raises(InputError, match=f"^{folder} belongs to"):
        load(tmp_path / "mine")


@AS_ROOT
def test_a_team_of_another_user_is_refused_as_a_worker_too(folder: Path, tmp_path: Path) -> None:
    """F45"""
    outer = write_team(tmp_path / "outer", solo="---\ndescription: Asks\nteam: ../team\n---\n")
    os.chown(folder / "strange_work.py", STRANGER, -1)
    with pytest.raises(InputError, match=r"strange_work\.py belongs to"):
        load(outer)
    assert not imported(folder)
    assert load(outer, trust=True).name == "mine"


@AS_ROOT
def test_what_python_never_imports_may_be_anyones(folder: Path) -> None:
    """F45: a photo, a hidden folder and data of packages may belong to anyone."""
    for name in ("photo.jpg", ".cache", "not-a-module"):
        (folder / name).mkdir()
        os.chown(folder / name, STRANGER, -1)
    check_owners(folder)


def test_a_folder_into_which_all_users_may_write_is_refused(tmp_path: Path) -> None:
    """F45: in a place like /tmp a stranger may put a module at any moment."""
    tmp_path.chmod(0o1777)
    with pytest.raises(InputError, match="all users may write into"):
        check_owners(tmp_path)


def test_folders_that_lead_around_in_a_circle_are_looked_at_once(folder: Path) -> None:
    """F45"""
    (folder / "package" / "again").symlink_to(folder)
    check_owners(folder)


def test_a_folder_with_too_many_files_to_check_is_refused(folder: Path) -> None:
    """F45"""
    with pytest.raises(InputError, match="has more than 3 entries"):
        check_owners(folder, max_entries=3)
