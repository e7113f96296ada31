"""What the history lens reports about lines that come back, with real git."""

import json
from pathlib import Path

import pytest

from leadhand.contracts.answer import LensReport
from leadhand.tools.git.repository import open_repository
from leadhand_teams.review.change import Change
from leadhand_teams.review.lenses.history import review
from tests.leadhand_teams.review.changes import make_change, only, run_lens
from tests.repositories import Repo, note_git

LOGIN = """\
class Login:
    def check(self, user, password):
        stored = self.store.find(user)
{extra}        return stored.matches(password)

    def reset(self, user):
        self.store.forget(user)
"""
BYPASS = "        if password == self.settings.master_password: return True\n"


class Past:
    """A repository with a past, and changes on top of it."""

    def __init__(self, folder: Path) -> None:
        self.repo = Repo(folder / "reviewed")
        self._folder = folder
        self._count = 0

    def commit(self, message: str, files: dict[str, str]) -> str:
        return self.repo.commit(message, files)

    def review(
        self,
        after: dict[str, str],
        *,
        before: dict[str, str] | None = None,
        renamed: dict[str, str] | None = None,
        title: str = "a change",
    ) -> LensReport:
        """The lens's report on a commit that writes `after`, on top of everything so far."""
        history = self.repo.git("rev-parse", "HEAD")
        sources = {path: (renamed or {}).get(path, path) for path in after}
        old = {
            source: (self.repo.folder / source).read_text()
            for source in sources.values()
            if (self.repo.folder / source).exists()
        }
        for path in (renamed or {}).values():
            (self.repo.folder / path).unlink()
        head = self.commit(title, after)
        self._count += 1
        folder = self._folder / f"snapshot{self._count}"
        folder.mkdir()
        own = open_repository(self.repo.folder, self._folder / f"own{self._count}.git")
        change = make_change(
            folder,
            after,
            before or old,
            renamed=renamed,
            git_dir=own.git_dir,
            base=history,
            head=head,
            history=history,
        )
        return run_lens(review, titled(change, title))


def titled(change: Change, title: str) -> Change:
    """The same snapshot under another title."""
    file = change.folder / "change.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"title": title}))
    Change.load.cache_clear()
    return Change.load(str(change.folder))


@pytest.fixture
def past(tmp_path: Path) -> Past:
    return Past(tmp_path)


def grown(past: Past, subject: str = "Fix login with the master password") -> str:
    """A past in which the commit `subject` removed the bypass from `Login.check`."""
    past.commit("Add login", {"app/login.py": LOGIN.format(extra=BYPASS)})
    fix = past.commit(subject, {"app/login.py": LOGIN.format(extra="")})
    past.commit("Say more", {"README.md": "Login.\n"})
    return fix


class TestReverted:
    def test_a_line_that_a_fix_only_deleted_and_that_returns_is_found(self, past: Past) -> None:
        fix = grown(past)
        found = only(past.review({"app/login.py": LOGIN.format(extra=BYPASS)}))
        assert found.rule == "history/reverted-fix"
        assert (found.path, found.line) == ("app/login.py", 4)
        assert found.evidence == BYPASS.strip()
        assert fix[:9] in found.message
        assert "2024-01-02" in found.message
        assert "Fix login with the master password" in found.message
        assert found.severity == "warning"

    def test_it_is_found_in_a_file_that_the_change_renames(self, past: Past) -> None:
        grown(past)
        report = past.review(
            {"app/auth.py": LOGIN.format(extra=BYPASS)}, renamed={"app/auth.py": "app/login.py"}
        )
        assert only(report).path == "app/auth.py"

    @pytest.mark.parametrize(
        "subject", ["Tidy up login", "Fix typo in login", "Fix dead code", "Add a fixture"]
    )
    def test_a_line_that_went_for_other_reasons_may_return(self, past: Past, subject: str) -> None:
        grown(past, subject)
        assert past.review({"app/login.py": LOGIN.format(extra=BYPASS)}).findings == ()

    def test_the_same_line_in_another_function_is_another_matter(self, past: Past) -> None:
        grown(past)
        text = LOGIN.format(extra="").replace("user):\n", f"user):\n{BYPASS}")
        assert past.review({"app/login.py": text}).findings == ()

    def test_a_line_that_stood_elsewhere_in_the_file_was_only_moved(self, past: Past) -> None:
        grown(past)
        other = f"\n    def other(self, password):\n{BYPASS}"
        past.commit("More", {"app/login.py": LOGIN.format(extra="") + other})
        report = past.review({"app/login.py": LOGIN.format(extra=BYPASS) + other})
        assert report.findings == ()

    def test_a_fix_that_only_moves_a_line_does_not_delete_it(self, past: Past) -> None:
        past.commit("Add login", {"app/login.py": LOGIN.format(extra=BYPASS)})
        moved = LOGIN.format(extra="") + f"\n    def other(self, password):\n{BYPASS}"
        past.commit("Fix a crash", {"app/login.py": moved})
        past.commit("Drop other", {"app/login.py": LOGIN.format(extra="")})
        assert past.review({"app/login.py": LOGIN.format(extra=BYPASS)}).findings == ()

    @pytest.mark.parametrize(
        "line", ["        return stored\n", "        import secrets_of_many\n"]
    )
    def test_common_lines_are_ignored(self, past: Past, line: str) -> None:
        past.commit("Add login", {"app/login.py": LOGIN.format(extra=line)})
        past.commit("Fix a crash", {"app/login.py": LOGIN.format(extra="")})
        assert past.review({"app/login.py": LOGIN.format(extra=line)}).findings == ()

    def test_lines_of_a_docstring_are_ignored(self, past: Past) -> None:
        text = (
            '        """First line.\n\n        Every user is looked up by name here.\n        """\n'
        )
        short = '        """First line.\n\n        """\n'
        past.commit("Add login", {"app/login.py": LOGIN.format(extra=text)})
        past.commit("Fix a crash", {"app/login.py": LOGIN.format(extra=short)})
        assert past.review({"app/login.py": LOGIN.format(extra=text)}).findings == ()

    def test_a_plain_revert_of_a_fix_that_only_added_lines_is_found(self, past: Past) -> None:
        guarded = LOGIN.format(extra="        if stored is None: raise Refused(user, password)\n")
        past.commit("Add login", {"app/login.py": LOGIN.format(extra="")})
        fix = past.commit("Fix a crash for unknown users", {"app/login.py": guarded})
        past.commit("Add a page", {"app/login.py": f"{guarded}\n\nPAGE = 1\n"})
        report = past.review({"app/login.py": f"{LOGIN.format(extra='')}\n\nPAGE = 1\n"})
        found = only(report)
        assert found.rule == "history/reverted-fix"
        assert fix[:9] in found.message
        assert found.evidence == "if stored is None: raise Refused(user, password)"

    @pytest.mark.parametrize(
        "subject",
        ["Fix unknown users", "SECURITY: format strings, CVE-2022-39174", "Merge commit from fork"],
    )
    def test_a_fix_of_several_functions_is_one_finding_though_its_tests_stay(
        self, past: Past, subject: str
    ) -> None:
        loose = LOGIN.format(extra="        if not stored: return stored.default(user)\n")
        loose = loose.replace("self.store.forget(user)", "self.store.forget(user or self.default)")
        strict = LOGIN.format(extra="        if stored is None: raise Refused(user, password)\n")
        strict = f"from app.errors import Refused\n\n{strict}"
        past.commit("Add login", {"app/login.py": loose, "app/version.py": "CURRENT = '1.2'\n"})
        fixed = {"app/login.py": strict, "app/version.py": "CURRENT = '1.3'\n"}
        past.commit(subject, fixed | {"tests/test_login.py": "assert login\n"})
        found = only(past.review({"app/version.py": "CURRENT = '1.2'\n", "app/login.py": loose}))
        assert found.rule == "history/reverted-fix"
        assert found.evidence == "if stored is None: raise Refused(user, password)"

    def test_a_fix_of_which_only_a_comment_or_an_import_goes_is_left_alone(
        self, past: Past
    ) -> None:
        for n, line in enumerate(("# TODO: choose a default", "from app.views import Token")):
            path = f"app/m{n}.py"
            past.commit("Add", {path: "X = 1\n"})
            past.commit("Fix a default", {path: f"{line}\nX = 1\n"})
            assert past.review({path: "X = 1\n"}).findings == ()

    def test_a_fix_that_is_rewritten_or_only_a_switch_is_left_alone(self, past: Past) -> None:
        guarded = LOGIN.format(extra="        if stored is None: raise Refused(user, password)\n")
        past.commit("Add login", {"app/login.py": LOGIN.format(extra="")})
        past.commit("Fix a crash for unknown users", {"app/login.py": guarded})
        other = guarded.replace("stored is None", "not self.store.known(user)")
        assert past.review({"app/login.py": other}).findings == ()
        past.commit("Add", {"app/all.yml": "name: x\n"})
        past.commit("Fix a default", {"app/all.yml": "name: x\ndisabled: true\n"})
        assert past.review({"app/all.yml": "name: x\n"}).findings == ()

    def test_more_commits_take_no_more_git_processes(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        noted = note_git(tmp_path, monkeypatch)
        broken, fixed = ({"app/a.py": f"def f(x):\n{line}    return x\n"}
                         for line in ("", "    if x is None: raise Refused(x)\n"))  # fmt: skip

        def started(commits: int) -> int:
            others = [(f"Fix {n}", fixed | {"app/b.py": f"V = {n}\n"}) for n in range(commits)]
            past = Past(tmp_path / str(commits))
            past.repo.commits(("Add", broken), ("Fix a crash", fixed), *others)
            noted.write_text("")
            assert only(past.review(broken)).rule == "history/reverted-fix"
            return noted.read_text().count("\n")

        assert started(300) == started(3) > 0

    def test_a_stated_revert_of_a_fix_gets_an_info(self, past: Past) -> None:
        guarded = LOGIN.format(extra="        if stored is None: raise Refused(user, password)\n")
        past.commit("Add login", {"app/login.py": LOGIN.format(extra="")})
        past.commit("Fix a crash for unknown users", {"app/login.py": guarded})
        title = 'Revert "Fix a crash for unknown users"'
        found = only(past.review({"app/login.py": LOGIN.format(extra="")}, title=title))
        assert (found.rule, found.severity) == ("history/reverted-fix", "info")

    def test_a_fix_that_moves_or_is_undone_in_part_is_left_alone(self, past: Past) -> None:
        check = "        if stored is None: raise Refused(user, password)\n"
        log = "        self.log.warning('login', user)\n        self.count += 1\n"
        past.commit("Add login", {"app/login.py": LOGIN.format(extra="")})
        past.commit("Fix a crash", {"app/login.py": LOGIN.format(extra=check + log)})
        assert past.review({"app/login.py": LOGIN.format(extra=log + check)}).findings == ()
        assert past.review({"app/login.py": LOGIN.format(extra=check)}).findings == ()

    def test_a_change_that_says_it_reverts_gets_an_info(self, past: Past) -> None:
        grown(past)
        report = past.review({"app/login.py": LOGIN.format(extra=BYPASS)}, title="Revert a fix")
        assert only(report).severity == "info"
        assert "may be on purpose" in only(report).message

    def test_a_line_that_a_revert_removed_gets_an_info(self, past: Past) -> None:
        grown(past, 'Revert "Add the master password"')
        found = only(past.review({"app/login.py": LOGIN.format(extra=BYPASS)}))
        assert found.severity == "info"

    def test_it_works_in_languages_that_are_not_parsed(self, past: Past) -> None:
        shape = "package a\n\nfunc Serve(port int) error {{\n{extra}\treturn listen(port)\n}}\n"
        line = "\tconn.SetDeadline(timeZero, foreverMore)\n"
        past.commit("Add", {"serve.go": shape.format(extra=line)})
        past.commit("fix: connections leak", {"serve.go": shape.format(extra="")})
        found = only(past.review({"serve.go": shape.format(extra=line)}))
        assert found.evidence == line.strip()

    def test_f34_a_hostile_subject_can_not_reach_the_terminal(self, past: Past) -> None:
        grown(past, "Fix \x1b[31mred\x07 \u202elogin")
        found = only(past.review({"app/login.py": LOGIN.format(extra=BYPASS)}))
        assert found.message.isprintable()


class TestWithoutHistory:
    @pytest.mark.parametrize(
        ("head", "why"), [(None, "only a patch was given"), ("a" * 40, "the first commit")]
    )
    def test_missing_history_is_reported_once(
        self, tmp_path: Path, head: str | None, why: str
    ) -> None:
        git_dir = tmp_path / "own.git" if head else None
        after = {"a.py": "a = 1\n", "b.py": "b = 1\n"}
        report = run_lens(review, make_change(tmp_path, after, head=head, git_dir=git_dir))
        assert report.findings == ()
        assert len(report.not_assessed) == 1
        assert report.not_assessed[0].lens == "history"
        assert why in report.not_assessed[0].why

    def test_f28_a_shallow_clone_is_reported_as_one(self, past: Past, tmp_path: Path) -> None:
        grown(past)
        clone = Repo(tmp_path / "shallow")
        clone.git("fetch", "-q", "--depth=1", past.repo.folder.as_uri(), "main")
        head = clone.git("rev-parse", "FETCH_HEAD")
        clone.git("update-ref", "refs/heads/main", head)
        own = open_repository(clone.folder, tmp_path / "own.git")
        folder = tmp_path / "snapshot"
        folder.mkdir()
        change = make_change(
            folder, {"a.py": "a = 1\n"}, {"a.py": "a = 0\n"},
            git_dir=own.git_dir, base=head, head=head, history=head,
        )  # fmt: skip
        assert "the clone is shallow" in run_lens(review, change).not_assessed[0].why
