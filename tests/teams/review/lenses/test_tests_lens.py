"""What the tests lens reports: tests that check nothing or never run, and untested code."""

from pathlib import Path

import pytest

from leadhand.contracts.finding import Finding, LensReport
from leadhand.teams.review.change import Change
from leadhand.teams.review.lenses.tests import RULES, review
from leadhand.tools.git.repository import open_repository
from tests.repositories import Repo
from tests.teams.review.changes import make_change, run_lens


def look(change: Change) -> LensReport:
    return run_lens(review, change)


def seen(
    folder: Path, after: str, before: str | None = None, *, path: str = "tests/test_a.py"
) -> tuple[Finding, ...]:
    return look(
        make_change(folder, {path: after}, None if before is None else {path: before})
    ).findings


def rules_of(findings: tuple[Finding, ...]) -> list[str]:
    return [finding.rule for finding in findings]


def only(findings: tuple[Finding, ...]) -> Finding:
    assert len(findings) == 1, findings
    return findings[0]


NOTHING = "from app import load\n\n\ndef test_load(tmp_path):\n    load(tmp_path)\n"


class TestNoAssertion:
    def test_a_test_that_only_calls_is_found(self, tmp_path: Path) -> None:
        found = only(seen(tmp_path, NOTHING))
        assert found.rule == "tests/no-assertion"
        assert (found.line, found.evidence) == (4, "def test_load(tmp_path):")
        assert "`test_load` has no assertion" in found.message

    def test_a_test_that_was_like_that_before_is_left_alone(self, tmp_path: Path) -> None:
        before = NOTHING
        after = NOTHING.replace("    load(tmp_path)", "    load(tmp_path / 'x')")
        assert seen(tmp_path, after, before) == ()

    def test_a_test_that_loses_its_last_assertion_is_found(self, tmp_path: Path) -> None:
        before = NOTHING.replace("    load(tmp_path)", "    load(tmp_path)\n    assert load(1)")
        found = only(seen(tmp_path, NOTHING, before))
        assert "no longer checks anything" in found.message
        assert found.evidence == "assert load(1)"

    def test_an_empty_stub_is_called_one(self, tmp_path: Path) -> None:
        found = only(seen(tmp_path, "def test_later():\n    pass\n"))
        assert "empty stub" in found.message
        assert found.severity == "info"

    @pytest.mark.parametrize(
        "body",
        [
            "    assert load(1)",
            "    with pytest.raises(ValueError):\n        load(1)",
            "    with pytest.warns(UserWarning):\n        load(1)",
            "    np.testing.assert_allclose(load(1), 2)",
            "    load(mocked)\n    mocked.assert_called_once_with(1)",
            "    expect(load(1)).to_be(2)",
            "    check_output_of(load(1))",
            "    verify(load(1))",
            "    _helper(load(1))",
            "    if load(1) != 2:\n        raise AssertionError",
            "    if load(1) != 2:\n        pytest.fail('no')",
            "    def inner(value):\n        assert value\n    load(inner)",
            "    app.add_route(_handler)",
            "    run_line('a', 'b')",
            "    load(1).result(timeout=5)",
            "    subprocess.run(['x'], check=True)",
            "    subprocess.run(['python', '-c', 'assert 1 == load(1)'])",
            "    load(1)  # must not raise",
            '    """Does not raise for an empty file."""\n    load(1)',
            "    yield load(1)",
        ],
    )
    def test_code_that_may_check_counts_as_an_assertion(self, tmp_path: Path, body: str) -> None:
        source = (
            "from app import app, load, mocked\n\n\n"
            f"def test_it(run_line):\n{body}\n\n\n"
            "def _helper(value):\n    assert value == 2\n\n\n"
            "def _handler(value):\n    _helper(value)\n"
        )
        assert seen(tmp_path, source) == ()

    @pytest.mark.parametrize(
        "head",
        [
            "@pytest.mark.skip(reason='later')\ndef test_it():",
            "@pytest.mark.xfail\ndef test_it():",
            "@unittest.expectedFailure\ndef test_it():",
            "@given(st.integers())\ndef test_it(value):",
            "@checked_by_ours\ndef test_it():",
            "def test_it(benchmark):",
            "def test_it_does_not_raise():",
            "def test_smoke():",
        ],
    )
    def test_a_test_that_says_what_it_is_for_is_left_alone(self, tmp_path: Path, head: str) -> None:
        assert seen(tmp_path, f"{head}\n    load(1)\n") == ()

    def test_a_mark_that_only_feeds_the_test_changes_nothing(self, tmp_path: Path) -> None:
        source = (
            "@pytest.mark.parametrize('x', [1])\n@patch('a.b')\ndef test_it(b, x):\n    load(x)\n"
        )
        assert rules_of(seen(tmp_path, source)) == ["tests/no-assertion"]

    def test_unittest_methods_count_by_what_their_class_defines(self, tmp_path: Path) -> None:
        source = (
            "class ItTest(TestCase):\n"
            "    def test_one(self):\n        self.assertEqual(1, load())\n\n"
            "    def test_two(self):\n        self._run(1)\n\n"
            "    def test_three(self):\n        self.inherited(1)\n\n"
            "    def test_four(self):\n        self._plain(1)\n\n"
            "    def _run(self, x):\n        self.assertEqual(x, load())\n\n"
            "    def _plain(self, x):\n        load(x)\n"
        )
        assert "`ItTest.test_four`" in only(seen(tmp_path, source)).message

    def test_fixtures_in_the_same_file_may_check(self, tmp_path: Path) -> None:
        source = (
            "@pytest.fixture\ndef server():\n    one = start()\n    yield one\n"
            "    assert one.closed\n"
            "\n\ndef test_start(server):\n    server.call()\n"
        )
        assert seen(tmp_path, source) == ()

    def test_helpers_from_test_support_modules_may_check(self, tmp_path: Path) -> None:
        source = "from .support import play\n\n\ndef test_play():\n    play(1)\n"
        assert seen(tmp_path, source) == ()

    def test_functions_that_no_test_runner_collects_are_ignored(self, tmp_path: Path) -> None:
        for path in (
            "tests/tools.py",
            "src/app/checks.py",
            "docs/examples/test_x.py",
            "src/tests.py",
        ):
            assert seen(tmp_path / path.replace("/", "-"), NOTHING, path=path) == ()

    def test_at_most_five_findings_of_a_rule_are_reported_per_file(self, tmp_path: Path) -> None:
        source = "".join(f"def test_n{n}():\n    load({n})\n\n\n" for n in range(9))
        found = seen(tmp_path, source)
        assert len(found) == 5
        assert "And 4 more in this file." in found[-1].message

    def test_f28_a_test_file_that_does_not_parse_is_named_and_the_next_one_is_looked_at(
        self, tmp_path: Path
    ) -> None:
        deep = "def test_x():\n    x = " + "(" * 3000 + ")" * 3000 + "\n"
        change = make_change(tmp_path, {"tests/test_a.py": deep, "tests/test_b.py": NOTHING})
        report = look(change)
        assert [item.path for item in report.not_assessed] == ["tests/test_a.py"]
        assert only(report.findings).path == "tests/test_b.py"


class TestAlwaysTrue:
    @pytest.mark.parametrize(
        ("statement", "said"),
        [
            ("assert (load(1) == 2, 'text')", "tests a tuple"),
            ("assert 'text'", "tests a string"),
            ("assert mocked.called_once_with(1)", "`called_once_with` does not assert on a mock"),
            ("mocked.called_once_with(1)\n    assert load(1)", "use `assert_called_once_with`"),
            ("mocked.assert_called_once\n    assert load(1)", "mentioned but not called"),
        ],
    )
    def test_a_check_that_can_not_fail_is_found(
        self, tmp_path: Path, statement: str, said: str
    ) -> None:
        found = only(seen(tmp_path, f"def test_it(mocked):\n    {statement}\n"))
        assert found.rule == "tests/always-true"
        assert said in found.message
        assert found.line == 2

    def test_a_lone_assert_true_is_found(self, tmp_path: Path) -> None:
        found = only(seen(tmp_path, "def test_it():\n    value = 1\n    assert True\n"))
        assert found.rule == "tests/always-true"

    def test_assert_true_after_a_call_that_may_raise_is_left_alone(self, tmp_path: Path) -> None:
        assert seen(tmp_path, "def test_it():\n    load(1)\n    assert True\n") == ()

    def test_assert_true_with_a_number_as_message_is_found(self, tmp_path: Path) -> None:
        source = "class T(TestCase):\n    def test_it(self):\n        self.assertTrue(load(1), 3)\n"
        assert "use `assertEqual`" in only(seen(tmp_path, source)).message

    def test_assert_true_with_a_message_is_left_alone(self, tmp_path: Path) -> None:
        source = (
            "class T(TestCase):\n    def test_it(self):\n        self.assertTrue(load(1), 'why')\n"
        )
        assert seen(tmp_path, source) == ()

    def test_a_comparison_without_assert_is_found(self, tmp_path: Path) -> None:
        source = "def test_it():\n    assert load(1)\n    app.load(2) == 3\n"
        found = only(seen(tmp_path, source))
        assert (found.rule, found.line) == ("tests/unasserted-comparison", 3)

    @pytest.mark.parametrize(
        "lines",
        [
            "    with pytest.raises(TypeError):\n        app.load(2) == 3\n",
            "    assert load(1)\n    a == b\n",
            "    assert load(1)\n    app.x == app.x\n",
            "    assert load(1)\n    app.load(2) < 3\n",
        ],
    )
    def test_a_comparison_for_its_own_sake_is_left_alone(self, tmp_path: Path, lines: str) -> None:
        assert seen(tmp_path, f"def test_it():\n{lines}") == ()


class TestLostTests:
    def test_a_second_test_of_the_same_name_is_found(self, tmp_path: Path) -> None:
        one = "def test_it():\n    assert load(1)\n"
        found = only(seen(tmp_path, f"{one}\n\n{one}", one))
        assert found.rule == "tests/same-name"
        assert found.line == 5

    def test_the_same_name_in_two_classes_is_fine(self, tmp_path: Path) -> None:
        body = "    def test_it(self):\n        assert load(1)\n"
        assert seen(tmp_path, f"class TestA:\n{body}\n\nclass TestB:\n{body}") == ()

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


MODULE = (
    "def {0}_one(value):\n    step = value + 1\n    other = step * 2\n    last = other - 1\n"
    "    return last\n"
)


class TestUntested:
    def project(self, folder: Path, *, tested: int = 4) -> Repo:
        repo = Repo(folder / "repo")
        for n, name in enumerate(("red", "green", "blue", "grey")):
            repo.write(f"src/app/{name}.py", MODULE.format(name))
            if n < tested:
                repo.write(f"tests/test_{name}.py", f"def test_it():\n    assert {name}_one(1)\n")
        repo.commit("start")
        return repo

    def report(
        self, folder: Path, repo: Repo, after: dict[str, str], before: dict[str, str]
    ) -> LensReport:
        for path, text in after.items():
            repo.write(path, text)
        head = repo.commit("change")
        borrowed = open_repository(repo.folder, folder / "borrowed").git_dir
        change = make_change(folder / "change", after, before, git_dir=borrowed, head=head)
        return look(change)

    def test_a_new_module_without_tests_beside_tested_ones_is_found(self, tmp_path: Path) -> None:
        repo = self.project(tmp_path)
        found = only(
            self.report(tmp_path, repo, {"src/app/pink.py": MODULE.format("pink")}, {}).findings
        )
        assert (found.rule, found.severity) == ("tests/untested-change", "info")
        assert "4 of the 4 modules beside it have a test file" in found.message
        assert found.evidence == "def pink_one(value):"

    def test_a_new_module_that_some_test_mentions_is_fine(self, tmp_path: Path) -> None:
        repo = self.project(tmp_path)
        after = {
            "src/app/pink.py": MODULE.format("pink"),
            "tests/test_colours.py": "def test_it():\n    assert pink_one(1)\n",
        }
        assert self.report(tmp_path, repo, after, {}).findings == ()

    def test_a_new_module_beside_untested_ones_is_fine(self, tmp_path: Path) -> None:
        repo = self.project(tmp_path, tested=2)
        after = {"src/app/pink.py": MODULE.format("pink")}
        assert self.report(tmp_path, repo, after, {}).findings == ()

    def test_a_new_function_that_nothing_uses_or_tests_is_found(self, tmp_path: Path) -> None:
        repo = self.project(tmp_path)
        before = "\n\n".join(MODULE.format(name) for name in ("a", "b", "c", "d"))
        repo.write("src/app/letters.py", before)
        uses = "".join(f"    assert {name}_one(1)\n" for name in ("a", "b", "c", "d"))
        repo.write("tests/test_letters.py", f"def test_it():\n{uses}")
        repo.commit("letters")
        after = {"src/app/letters.py": before + "\n\n" + MODULE.format("e")}
        found = only(self.report(tmp_path, repo, after, {"src/app/letters.py": before}).findings)
        assert "No test mentions the new `e_one`; 4 of the 4 other public names" in found.message

    def test_a_new_function_that_other_code_uses_is_left_to_its_tests(self, tmp_path: Path) -> None:
        repo = self.project(tmp_path)
        before = "\n\n".join(MODULE.format(name) for name in ("a", "b", "c", "d"))
        repo.write("src/app/letters.py", before)
        uses = "".join(f"    assert {name}_one(1)\n" for name in ("a", "b", "c", "d"))
        repo.write("tests/test_letters.py", f"def test_it():\n{uses}")
        repo.write("src/app/user.py", "from app.letters import e_one\n")
        repo.commit("letters")
        after = {"src/app/letters.py": before + "\n\n" + MODULE.format("e")}
        assert self.report(tmp_path, repo, after, {"src/app/letters.py": before}).findings == ()

    def test_a_project_without_tests_is_not_assessed(self, tmp_path: Path) -> None:
        repo = self.project(tmp_path, tested=0)
        report = self.report(tmp_path, repo, {"src/app/pink.py": MODULE.format("pink")}, {})
        assert report.findings == ()
        assert "no Python test files" in report.not_assessed[0].why

    def test_without_a_repository_new_code_is_not_assessed(self, tmp_path: Path) -> None:
        report = look(make_change(tmp_path, {"src/app/pink.py": MODULE.format("pink")}))
        assert report.findings == ()
        assert "no repository" in report.not_assessed[0].why

    def test_f25_a_repository_that_git_can_not_read_is_not_assessed(self, tmp_path: Path) -> None:
        after = {"src/app/pink.py": MODULE.format("pink")}
        broken = tmp_path / "broken"
        broken.mkdir()
        change = make_change(tmp_path / "change", after, git_dir=broken, head="1" * 40)
        report = look(change)
        assert "can't check whether new code has tests" in report.not_assessed[0].why


def test_every_rule_belongs_to_the_lens_and_its_families() -> None:
    assert {rule.id.split("/")[0] for rule in RULES} == {"tests"}
    assert {rule.family for rule in RULES} == {"tests/assertions", "tests/coverage"}
    assert all(rule.severity != "critical" for rule in RULES)


def test_f27_reviewed_tests_are_never_run(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    source = f"import pathlib\npathlib.Path({str(marker)!r}).touch()\n\n{NOTHING}"
    assert only(seen(tmp_path / "change", source)).rule == "tests/no-assertion"
    assert not marker.exists()
