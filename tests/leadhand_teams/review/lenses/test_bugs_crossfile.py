"""The bugs lens across files: symbols that a change removes or alters, and their uses."""

from pathlib import Path

import pytest

from leadhand.contracts.answer import Finding
from leadhand.tools.git.repository import open_repository
from tests.leadhand_teams.review.changes import make_change
from tests.leadhand_teams.review.lenses.bugs_reports import report
from tests.repositories import Repo


def look(
    folder: Path,
    before: dict[str, str],
    after: dict[str, str],
    others: dict[str, str] | None = None,
    *,
    renamed: dict[str, str] | None = None,
) -> tuple[Finding, ...]:
    """The findings for a change in a real repository that also has `others`."""
    repo = Repo(folder / "repo")
    base = repo.commit(files={**before, **(others or {})})
    for path in before:
        if path not in after:
            (repo.folder / path).unlink()
    head = repo.commit(files=after)
    (folder / "snapshot").mkdir()
    (folder / "scratch").mkdir()
    git_dir = open_repository(repo.folder, folder / "scratch").git_dir
    change = make_change(
        folder / "snapshot", after, before, renamed=renamed, git_dir=git_dir, base=base, head=head
    )
    seen = report(change)
    assert seen.not_assessed == ()
    return seen.findings


OLD = "def load(path):\n    return path\n\n\ndef save(path, text):\n    return path, text\n"
NEW = "def load(path):\n    return path\n"


@pytest.mark.parametrize(
    ("path", "user"),
    [
        ("src/pkg/io.py", "from pkg.io import load, save\n\nprint(load, save)\n"),
        ("src/pkg/io.py", "import pkg.io\n\npkg.io.save('a', 'b')\n"),
        ("src/pkg/io.py", "from pkg import io\n\nio.save('a', 'b')\n"),
        ("pkg/io.py", "from .io import save as store\n\nprint(store)\n"),
        ("pkg/io.py", "from . import io\n\nio.save('a', 'b')\n"),
    ],
)
def test_a_removed_function_that_another_file_uses_is_found(
    tmp_path: Path, path: str, user: str
) -> None:
    folder = path.rsplit("/", 1)[0]
    others = {f"{folder}/__init__.py": "", f"{folder}/user.py": user}
    (one,) = look(tmp_path, {path: OLD}, {path: NEW}, others)
    assert (one.rule, one.path, one.evidence) == (
        "bugs/removed-symbol-still-used",
        path,
        "def save(path, text):",
    )
    assert f"{folder}/user.py:" in one.message
    assert one.severity == "critical"


@pytest.mark.parametrize(
    "user",
    [
        "try:\n    from pkg.store import save\nexcept ImportError:\n    save = None\n",
        "from other.store import save\n\nprint(save)\n",
        "from pkg.store import load\n\n\ndef save():\n    return load\n",
        "def f(store):\n    return store.save('a', 'b')\n",
        "from pkg import store\n\n\ndef f(store):\n    return store.save('a', 'b')\n",
        "import pkg.store\n\nif hasattr(pkg.store, 'save'):\n    print(pkg.store.save)\n",
        "# pkg.store.save was nice\nTEXT = 'from pkg.store import save'\n",
    ],
)
def test_a_use_that_may_mean_something_else_is_left_alone(tmp_path: Path, user: str) -> None:
    others = {"pkg/__init__.py": "", "other/store.py": "def save(): ...\n", "app.py": user}
    assert look(tmp_path, {"pkg/store.py": OLD}, {"pkg/store.py": NEW}, others) == ()


@pytest.mark.parametrize(
    "after",
    [
        NEW + "\n\nfrom pkg.files import save\n",
        NEW + "\n\ndef __getattr__(name):\n    return print\n",
        NEW + "\n\nfrom pkg.files import *\n",
        NEW + "\n\nif load:\n    def save(path, text): ...\n",
    ],
)
def test_a_name_that_is_still_there_some_other_way_is_left_alone(
    tmp_path: Path, after: str
) -> None:
    others = {
        "pkg/__init__.py": "",
        "pkg/files.py": "def save(path, text): ...\n",
        "app.py": "from pkg.store import save\n\nprint(save)\n",
    }
    assert look(tmp_path, {"pkg/store.py": OLD}, {"pkg/store.py": after}, others) == ()


def test_an_object_that_shares_its_modules_name_is_not_taken_for_the_module(tmp_path: Path) -> None:
    others = {
        "pkg/__init__.py": "from pkg.store import store\n",
        "app.py": "from pkg import store\n\nstore.save('a')\n",
    }
    text = "class Store:\n    def save(self, x): ...\n\n\nstore = Store()\n"
    before = {"pkg/store.py": text + "\n\ndef save(): ...\n"}
    assert look(tmp_path, before, {"pkg/store.py": text}, others) == ()


def test_a_deleted_module_that_is_still_imported_is_found(tmp_path: Path) -> None:
    others = {"pkg/__init__.py": "", "pkg/app.py": "from .store import load\n\nprint(load)\n"}
    (one,) = look(tmp_path, {"pkg/store.py": OLD}, {}, others)
    assert (one.rule, one.path, one.line) == (
        "bugs/removed-module-still-imported",
        "pkg/store.py",
        1,
    )
    assert "pkg/app.py:1" in one.message


def test_a_module_that_becomes_a_package_is_still_there(tmp_path: Path) -> None:
    others = {"pkg/__init__.py": "", "pkg/app.py": "from .store import load\n\nprint(load)\n"}
    after = {"pkg/store/__init__.py": OLD}
    assert look(tmp_path, {"pkg/store.py": OLD}, after, others) == ()


def test_a_re_export_that_a_package_drops_is_found(tmp_path: Path) -> None:
    others = {"pkg/store.py": OLD, "app.py": "from pkg import save\n\nprint(save)\n"}
    before = {"pkg/__init__.py": "from pkg.store import load\nfrom pkg.store import save\n"}
    after = {"pkg/__init__.py": "from pkg.store import load\n"}
    (one,) = look(tmp_path, before, after, others)
    assert one.evidence == "from pkg.store import save"


def test_a_removed_import_from_outside_the_package_is_left_alone(tmp_path: Path) -> None:
    others = {"app.py": "from store import json\n\nprint(json)\n"}
    assert (
        look(tmp_path, {"store.py": "import json\nX = 1\n"}, {"store.py": "X = 1\n"}, others) == ()
    )


@pytest.mark.parametrize(
    ("old", "new", "call", "reason"),
    [
        ("path, text", "path, text, mode", "save('a', 'b')", "'mode'"),
        ("path, text", "path", "save('a', 'b')", "too many positional arguments"),
        ("path, text", "path, body", "save('a', text='b')", "'body'"),
        ("path, text=None", "path, *, text=None", "save('a', 'b')", "too many positional"),
        ("path, text", "text, path", "save('a', 'b')", "takes `text` where it took `path`"),
        ("path", "path, *, mode", "save('a')", "'mode'"),
    ],
)
def test_a_call_that_no_longer_fits_is_found(
    tmp_path: Path, old: str, new: str, call: str, reason: str
) -> None:
    others = {"pkg/__init__.py": "", "app.py": f"from pkg.store import save\n\n{call}\n"}
    before = {"pkg/store.py": f"def save({old}):\n    return path\n"}
    after = {"pkg/store.py": f"def save({new}):\n    return path\n"}
    (one,) = look(tmp_path, before, after, others)
    assert (one.rule, one.line) == ("bugs/signature-changed-still-called", 1)
    assert reason in one.message
    assert "app.py:3" in one.message


@pytest.mark.parametrize(
    ("old", "new", "call"),
    [
        ("path, text", "path, text, mode='w'", "save('a', 'b')"),
        ("path, text", "path, body", "save('a', 'b')"),
        ("path, text", "path, text, mode", "save(*ARGS)"),
        ("path, text", "path, **rest", "save('a', text='b')"),
        ("path, text", "path, text, mode", "save('a', 'b', 'w')"),
        ("path", "path: str", "save('a')"),
    ],
)
def test_a_call_that_still_fits_is_left_alone(
    tmp_path: Path, old: str, new: str, call: str
) -> None:
    others = {"pkg/__init__.py": "", "app.py": f"from pkg.store import save\nARGS = 'ab'\n{call}\n"}
    before = {"pkg/store.py": f"def save({old}):\n    return 1\n"}
    after = {"pkg/store.py": f"def save({new}):\n    return 1\n"}
    assert look(tmp_path, before, after, others) == ()


def test_calls_that_the_change_adapts_to_the_new_order_are_left_alone(tmp_path: Path) -> None:
    before = {"a.py": "def save(path, text):\n    return path\n\n\nsave('path', 'text')\n"}
    after = {"a.py": "def save(text, path):\n    return path\n\n\nsave('text', 'path')\n"}
    assert look(tmp_path, before, after) == ()


def test_a_constructor_and_a_method_of_the_same_class_are_checked(tmp_path: Path) -> None:
    shape = (
        "class Store:\n    def __init__(self, {0}):\n        self.path = path\n\n"
        "    def save(self, {1}):\n        return text\n\n    def close(self):\n"
        "        self.save('x')\n"
    )
    others = {"app.py": "from store import Store\n\nStore('a')\n"}
    before = {"store.py": shape.format("path", "text")}
    after = {"store.py": shape.format("path, mode", "text, mode")}
    seen = look(tmp_path, before, after, others)
    assert sorted((one.line, one.message.split("`")[1]) for one in seen) == [
        (2, "Store"),
        (5, "save"),
    ]


def test_a_removed_method_that_its_class_still_calls_is_found(tmp_path: Path) -> None:
    rest = "    def close(self):\n        self.flush()\n"
    before = {"a.py": f"class A:\n    def flush(self):\n        return 1\n\n{rest}"}
    (one,) = look(tmp_path / "one", before, {"a.py": f"class A:\n{rest}"})
    assert (one.rule, one.evidence) == ("bugs/removed-method-still-called", "def flush(self):")
    # A base that is not in the file, or a subclass elsewhere, may bring the method.
    shape = "from b import B\n\n\nclass A(B):\n"
    before = {"a.py": f"{shape}    def flush(self):\n        return 1\n\n{rest}"}
    assert look(tmp_path / "two", before, {"a.py": shape + rest}) == ()
    before = {"a.py": f"class A:\n    def flush(self):\n        return 1\n\n{rest}"}
    others = {"c.py": "from a import A\n\n\nclass C(A):\n    def flush(self):\n        return 2\n"}
    assert look(tmp_path / "three", before, {"a.py": f"class A:\n{rest}"}, others) == ()


def test_without_a_repository_only_the_change_is_searched(tmp_path: Path) -> None:
    user = "from store import save\n\nprint(save)\n"
    change = make_change(
        tmp_path, {"store.py": NEW, "app.py": user}, {"store.py": OLD, "app.py": "x = 1\n"}
    )
    seen = report(change)
    assert [one.rule for one in seen.findings] == ["bugs/removed-symbol-still-used"]
    assert ["no repository" in note.why for note in seen.not_assessed] == [True]


def test_a_repository_that_can_not_be_searched_does_not_stop_the_lens(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    (tmp_path / "snapshot").mkdir()
    change = make_change(
        tmp_path / "snapshot",
        {"store.py": NEW, "app.py": "print(undefined)\n"},
        {"store.py": OLD},
        git_dir=repo.folder / ".git",
        base="0" * 40,
        head="1" * 40,
    )
    seen = report(change)
    assert [one.rule for one in seen.findings] == ["bugs/undefined-name"]
    assert ["could not be searched" in note.why for note in seen.not_assessed] == [True]
