"""What the comments lens reports about stale numbers and code that a comment keeps in sync."""

from pathlib import Path

import pytest

from leadhand.contracts.answer import Finding, LensReport
from leadhand.tools.git.repository import open_repository
from leadhand_teams.review.change import Change
from leadhand_teams.review.lenses.comments import RULES, review
from tests.leadhand_teams.review.changes import make_change, only, run_lens
from tests.repositories import Repo

SYNC = "# keep in sync with B_LIST\n"


def look(change: Change) -> LensReport:
    return run_lens(review, change)


def seen(folder: Path, before: str, after: str, *, path: str = "a.py") -> tuple[Finding, ...]:
    return look(make_change(folder, {path: after}, {path: before})).findings


class TestStaleNumber:
    def test_a_comment_above_that_states_the_old_number_is_found(self, tmp_path: Path) -> None:
        shape = "import os\n\n# Wait 30 seconds for an answer.\nTIMEOUT = {}\n"
        found = only(seen(tmp_path, shape.format(30), shape.format(60)))
        assert found.rule == "comments/stale-number"
        assert (found.line, found.evidence) == (4, "TIMEOUT = 60")
        assert "`TIMEOUT` changed from 30 to 60" in found.message
        assert "line 3 still says '30 seconds'" in found.message

    @pytest.mark.parametrize(
        ("comment", "old", "new"),
        [
            ("5 minutes", "5 * 60", "10 * 60"),
            ("5 minutes", "300", "600"),
            ("5 minutes", "300_000", "60_000"),
            ("1 MiB", "1024 * 1024", "2 * 1024 * 1024"),
            ("64 KB", "64 << 10", "32 << 10"),
            ("one million, that is 1,000,000", "10 ** 6", "10 ** 7"),
            ("50 % of it", "0.5", "0.7"),
            ("a day, so 86400 s", "86400", "3600"),
        ],
    )
    def test_numbers_and_units_are_compared_by_what_they_mean(
        self, tmp_path: Path, comment: str, old: str, new: str
    ) -> None:
        shape = f"LIMIT = {{}}  # {comment}\n"
        assert only(seen(tmp_path, shape.format(old), shape.format(new)))

    @pytest.mark.parametrize(
        ("path", "shape"),
        [
            ("a.js", "// Gives up after 30 seconds\nconst limit = {};\n"),
            ("a.c", "int limit = {}; /* 30 seconds */\n"),
            ("a.go", "/* At most 30 seconds\n * in all. */\nvar limit = {} * time.Second\n"),
            ("a.sql", "-- 30 rows a page\nSET page_rows = {};\n"),
            ("a.yaml", "job:\n  # stops after 30s\n  limit: {}s\n"),
            ("a.html", "<!-- 30 rows a page -->\n<table rows={}>\n"),
        ],
    )
    def test_comments_are_found_in_many_languages(
        self, tmp_path: Path, path: str, shape: str
    ) -> None:
        assert only(seen(tmp_path, shape.format(30), shape.format(45), path=path))

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("# 30 s\nLIMIT = 30\n", "# 60 s\nLIMIT = 60\n"),
            ("# from 30 to 60 s\nLIMIT = 30\n", "# from 30 to 60 s\nLIMIT = 60\n"),
            ("# It was 30 once.\nLIMIT = 30\n", "# It was 30 once.\nLIMIT = 60\n"),
            ("# See issue #30.\nLIMIT = 30\n", "# See issue #30.\nLIMIT = 60\n"),
            ("# Like RFC 30 wants.\nLIMIT = 30\n", "# Like RFC 30 wants.\nLIMIT = 60\n"),
            ("# Since 2.30.1.\nLIMIT = 30\n", "# Since 2.30.1.\nLIMIT = 60\n"),
            ("# 30 s\n\nLIMIT = 30\n", "# 30 s\n\nLIMIT = 60\n"),
            ("# 30 s\nA = 1\nLIMIT = 30\n", "# 30 s\nA = 1\nLIMIT = 60\n"),
            ("# 6 months back\nAT = f(2023, 6)\n", "# 6 months back\nAT = f(2025, 1)\n"),
            ("# the 2 of them\nf(a[2])\n", "# the 2 of them\nf(a[3])\n"),
            ("# 30 s\nLIMIT = 30\n", "# 30 s\nlimit(value=60)\n"),
            ("NAME = 'x # 30 s' + str(30)\n", "NAME = 'x # 30 s' + str(60)\n"),
        ],
    )
    def test_nothing_is_reported_if_the_comment_may_be_right(
        self, tmp_path: Path, before: str, after: str
    ) -> None:
        assert seen(tmp_path, before, after) == ()

    def test_hostile_lines_take_no_time(self, tmp_path: Path) -> None:
        nasty = ["# " + "1,111" * 180, "x = " + "1*" * 480 + "1", "# " + "'\\" * 490, '"' * 990]
        before = "\n".join([*nasty, "LIMIT = 30", *nasty, ""])
        after = before.replace("30", "60").replace("1*1", "1*2")
        assert seen(tmp_path, before, after) == ()


class TestKeepInSync:
    def test_code_whose_named_counterpart_in_the_file_did_not_change_is_found(
        self, tmp_path: Path
    ) -> None:
        shape = "# Keep in sync with `FORMATS`\n# below.\nREADERS = {}\n\nFORMATS = ['a']\n"
        found = only(seen(tmp_path, shape.format("['a']"), shape.format("['a', 'b']")))
        assert found.rule == "comments/keep-in-sync"
        assert (found.line, found.evidence) == (3, "READERS = ['a', 'b']")
        assert "`FORMATS` (line 5)" in found.message
        assert "line 1" in found.message

    @pytest.mark.parametrize(
        "words",
        [
            "Keep this in sync with docs/limits.md",
            "must match the table in docs/limits.md",
            "If you change this, also update docs/limits.md",
            "LINT.ThenChange(//docs/limits.md)",
        ],
    )
    def test_a_file_of_the_tree_may_be_the_target(self, tmp_path: Path, words: str) -> None:
        found = only(self.in_repository(tmp_path, f"# {words}\nLIMITS = [{{}}]\n", {}).findings)
        assert "`docs/limits.md`" in found.message

    def test_a_changed_number_beside_the_comment_is_found(self, tmp_path: Path) -> None:
        shape = "LIMIT = {}  # keep in sync with docs/limits.md\n"
        found = only(self.in_repository(tmp_path, shape, {}).findings)
        assert (found.rule, found.line) == ("comments/keep-in-sync", 1)
        assert "`docs/limits.md`" in found.message

    def test_a_symbol_elsewhere_in_the_tree_may_be_the_target(self, tmp_path: Path) -> None:
        shape = "# Keep in sync with default_limits().\nLIMITS = [{}]\n"
        found = only(self.in_repository(tmp_path, shape, {}).findings)
        assert "`default_limits` (src/other.py)" in found.message

    def test_nothing_is_reported_if_the_target_changed_too(self, tmp_path: Path) -> None:
        shape = "# Keep in sync with docs/limits.md.\nLIMITS = [{}]\n"
        report = self.in_repository(tmp_path, shape, {"docs/limits.md": "2\n"})
        assert report.findings == ()

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("# keep in sync with the server\nA = [1]", "# keep in sync with the server\nA = [2]"),
            ("A = [1]\n\nB_LIST = [1]", "# keep in sync with B_LIST\nA = [2]\n\nB_LIST = [1]"),
            (f"{SYNC}A = [1]\n\nC = 1\n\nB_LIST = [1]", f"{SYNC}A = [1]\n\nC = 2\n\nB_LIST = [1]"),
            (f"{SYNC}A = [1]\n\nB_LIST = [1]", f"{SYNC}A: list[int] = [1]  # 2\n\nB_LIST = [1]"),
            (f"{SYNC}A = [1]\n\nB_LIST = [1]", f"{SYNC}A = [2]\n\nB_LIST = [2]"),
        ],
        ids=["no target", "new comment", "another block", "no value", "both changed"],
    )
    def test_nothing_is_reported_if_both_sides_may_still_agree(
        self, tmp_path: Path, before: str, after: str
    ) -> None:
        assert seen(tmp_path, f"{before}\n", f"{after}\n") == ()

    def in_repository(self, folder: Path, shape: str, also: dict[str, str]) -> LensReport:
        """The lens's report on a change from 1 to 2 in `shape`, and of `also` beside it."""
        repo = Repo(folder / "reviewed")
        old = {
            "src/a.py": shape.replace("{}", "1"),
            "src/other.py": "def default_limits():\n    return [1]\n",
            "docs/limits.md": "1\n",
        }
        new = {"src/a.py": shape.replace("{}", "2")} | also
        for files in (old, new):
            repo.commit(files=files)
        own = open_repository(repo.folder, folder / "own.git")
        snapshot = folder / "snapshot"
        snapshot.mkdir()
        return look(
            make_change(
                snapshot,
                new,
                {path: old[path] for path in new},
                git_dir=own.git_dir,
                base=repo.git("rev-parse", "HEAD~1"),
                head=repo.git("rev-parse", "HEAD"),
                history=repo.git("rev-parse", "HEAD~1"),
            )
        )


def test_every_rule_is_named_for_the_lens() -> None:
    assert {rule.id: rule.family for rule in RULES} == {
        "comments/stale-number": "comments/numbers",
        "comments/documented-parameter-gone": "comments/parameters",
        "comments/parameter-undocumented": "comments/parameters",
        "comments/stale-default": "comments/parameters",
        "comments/keep-in-sync": "comments/sync",
    }
