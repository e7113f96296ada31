"""What the tests lens reports: tests that check nothing or never run."""

from pathlib import Path

import pytest

from leadhand.contracts.answer import Finding, LensReport
from leadhand_teams.review.change import Change
from leadhand_teams.review.lenses.tests import review
from tests.leadhand_teams.review.changes import make_change, only, run_lens


def look(change: Change) -> LensReport:
    return run_lens(review, change)


def seen(
    folder: Path, after: str, before: str | None = None, *, path: str = "tests/test_a.py"
) -> tuple[Finding, ...]:
    return look(
        make_change(folder, {path: after}, None if before is None else {path: before})
    ).findings


class TestAlwaysTrue:
    @pytest.mark.parametrize(
        "statement", ["assert mocked.called_once_with(1)", "mocked.assert_called_once"]
    )
    def test_a_check_of_a_mock_that_can_not_fail_is_found(
        self, tmp_path: Path, statement: str
    ) -> None:
        found = only(seen(tmp_path, f"def test_it(mocked):\n    {statement}\n"))
        assert (found.rule, found.line) == ("tests/always-true", 2)


class TestLostTests:
    def test_a_skip_without_reason_on_a_test_that_ran_is_found(self, tmp_path: Path) -> None:
        one = "def test_it():\n    assert load(1)\n"
        found = only(seen(tmp_path, f"@pytest.mark.skip\n{one}", one))
        assert (found.rule, found.line) == ("tests/focused-or-skipped", 1)

    @pytest.mark.parametrize(
        "mark",
        [
            "@pytest.mark.skip(reason='see #12')",
            "@unittest.skip('slow')",
            "@pytest.mark.skip  # see #12",
        ],
    )
    def test_a_skip_with_a_reason_is_fine(self, tmp_path: Path, mark: str) -> None:
        one = "def test_it():\n    assert load(1)\n"
        assert seen(tmp_path, f"{mark}\n{one}", one) == ()

    def test_a_new_test_may_start_skipped(self, tmp_path: Path) -> None:
        old = "def test_old():\n    assert load(1)\n"
        new = "@pytest.mark.skip\ndef test_new():\n    assert load(1)\n"
        assert seen(tmp_path, f"{old}\n\n{new}", old) == ()

    def test_a_test_that_is_commented_out_is_found(self, tmp_path: Path) -> None:
        old = "def test_a():\n    assert load(1)\n\n\ndef test_b():\n    assert load(2)\n"
        new = "# def test_a():\n#     assert load(1)\n\n\ndef test_b():\n    assert load(2)\n"
        assert "`test_a` ran before" in only(seen(tmp_path, new, old)).message

    def test_a_focused_javascript_test_is_found(self, tmp_path: Path) -> None:
        source = "describe('a', () => {\n  it.only('b', () => {});\n});\n"
        found = only(seen(tmp_path, source, path="web/a.test.js"))
        assert (found.rule, found.line) == ("tests/focused-or-skipped", 2)
        assert seen(tmp_path / "x", source, path="web/a.js") == ()


def test_f27_reviewed_tests_are_never_run(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    source = f"import pathlib\npathlib.Path({str(marker)!r}).touch()\n"
    assert seen(tmp_path / "change", source) == ()
    assert not marker.exists()
