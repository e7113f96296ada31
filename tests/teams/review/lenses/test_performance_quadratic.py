"""What the performance lens reports about quadratic work."""

from pathlib import Path
from textwrap import dedent

import pytest

from leadhand.contracts.finding import Finding, LensReport
from leadhand.teams.review.change import Change
from leadhand.teams.review.lenses.performance import RULES, review
from tests.teams.review.changes import make_change, run_lens


def look(change: Change) -> LensReport:
    return run_lens(review, change)


def seen(
    folder: Path, after: str, before: str | None = None, *, path: str = "a.py"
) -> tuple[Finding, ...]:
    old = None if before is None else {path: dedent(before)}
    return look(make_change(folder, {path: dedent(after)}, old)).findings


def only(findings: tuple[Finding, ...]) -> Finding:
    assert len(findings) == 1, findings
    return findings[0]


UNIQUE = """
    def unique(rows):
        seen = []
        for row in rows:
            if row.key in seen:
                continue
            seen.append(row.key)
            yield row
"""
QUEUE = """
    def walk(root):
        waiting = [root]
        while waiting:
            node = waiting.pop(0)
            waiting.extend(node.children)
"""


class TestLists:
    def test_a_list_that_is_only_used_for_membership_tests_should_be_a_set(
        self, tmp_path: Path
    ) -> None:
        found = only(seen(tmp_path, UNIQUE))
        assert found.rule == "performance/list-as-set"
        assert (found.line, found.evidence) == (5, "if row.key in seen:")
        assert "`row.key in seen` searches the list `seen`" in found.message

    def test_a_list_that_is_also_returned_is_left_alone(self, tmp_path: Path) -> None:
        assert not seen(
            tmp_path, UNIQUE.replace("yield row", "print(row)") + "        return seen\n"
        )

    def test_a_loop_over_a_handful_of_items_is_left_alone(self, tmp_path: Path) -> None:
        assert not seen(tmp_path, UNIQUE.replace("in rows:", "in (FIRST, SECOND):"))

    def test_a_list_that_starts_anew_in_each_pass_is_left_alone(self, tmp_path: Path) -> None:
        code = """
            def names(groups):
                for group in groups:
                    seen = []
                    if group.name in seen:
                        seen.append(group.name)
        """
        assert not seen(tmp_path, code)

    def test_a_set_is_left_alone(self, tmp_path: Path) -> None:
        code = UNIQUE.replace("seen = []", "seen = set()").replace("append", "add")
        assert not seen(tmp_path, code)

    def test_taking_from_the_front_of_a_list_that_the_loop_fills_is_found(
        self, tmp_path: Path
    ) -> None:
        found = only(seen(tmp_path, QUEUE))
        assert found.rule == "performance/list-as-queue"
        assert found.evidence == "node = waiting.pop(0)"
        assert "deque" in found.suggestion

    @pytest.mark.parametrize(
        "code",
        [
            QUEUE.replace("pop(0)", "pop()"),
            QUEUE.replace("[root]", "deque([root])"),
            QUEUE.replace("waiting.extend(node.children)", "print(node)"),
        ],
        ids=["from the end", "a deque", "a list that does not grow"],
    )
    def test_other_ways_to_take_items_are_left_alone(self, tmp_path: Path, code: str) -> None:
        assert not seen(tmp_path, code)

    def test_sorting_the_growing_list_in_each_pass_is_found(self, tmp_path: Path) -> None:
        code = """
            def best(rows):
                top = []
                for row in rows:
                    top.append(row.score)
                    top.sort()
                    report(top[0])
        """
        found = only(seen(tmp_path, code))
        assert found.rule == "performance/sorted-each-pass"
        assert found.evidence == "top.sort()"

    def test_sorting_under_a_condition_or_after_the_loop_is_left_alone(
        self, tmp_path: Path
    ) -> None:
        code = """
            def best(rows):
                top = []
                for row in rows:
                    top.append(row.score)
                    if row.last:
                        top.sort()
                top.sort()
                return top
        """
        assert not seen(tmp_path, code)


class TestCopies:
    @pytest.mark.parametrize(
        ("start", "statement"),
        [
            ("[]", "out = out + [row.name]"),
            ("[]", "out = [*out, row.name]"),
            ("{}", "out = {**out, row.key: row.name}"),
        ],
    )
    def test_a_copy_of_all_so_far_in_each_pass_is_found(
        self, tmp_path: Path, start: str, statement: str
    ) -> None:
        code = f"def f(rows):\n    out = {start}\n    for row in rows:\n        {statement}\n"
        found = only(seen(tmp_path, code + "    return out\n"))
        assert found.rule == "performance/copied-each-pass"
        assert (found.line, found.evidence) == (4, statement)

    def test_a_copy_that_the_loop_also_uses_is_left_alone(self, tmp_path: Path) -> None:
        code = """
            def paths(parts):
                path = []
                for part in parts:
                    path = path + [part]
                    yield path
        """
        assert not seen(tmp_path, code)

    def test_a_frame_put_together_row_by_row_is_found(self, tmp_path: Path) -> None:
        code = """
            import pandas as pd

            def load(files):
                frame = pd.DataFrame()
                for file in files:
                    frame = pd.concat([frame, pd.read_csv(file)])
                return frame
        """
        found = only(seen(tmp_path, code))
        assert found.rule == "performance/frame-grown-in-loop"
        assert "`pd.concat` adds a part to `frame`" in found.message

    def test_lists_joined_by_sum_are_found_and_numbers_are_not(self, tmp_path: Path) -> None:
        code = """
            def flat(lists):
                print(sum(map(len, lists), 0), sum([[1], [2]], []))
                return sum(lists, [])
        """
        found = only(seen(tmp_path, code))
        assert (found.rule, found.line) == ("performance/sum-of-lists", 4)


class TestChange:
    def test_what_was_as_slow_before_is_left_out_when_it_is_only_indented(
        self, tmp_path: Path
    ) -> None:
        after = """
            def walk(root):
                if root:
                    waiting = [root]
                    while waiting:
                        node = waiting.pop(0)
                        waiting.extend(node.children)
        """
        assert not seen(tmp_path, after, QUEUE)

    def test_a_new_line_that_makes_an_old_list_grow_is_the_finding(self, tmp_path: Path) -> None:
        before = UNIQUE.replace("            seen.append(row.key)\n", "")
        found = only(seen(tmp_path, UNIQUE, before))
        assert (found.rule, found.evidence) == ("performance/list-as-set", "seen.append(row.key)")

    def test_lines_that_the_change_does_not_touch_are_left_alone(self, tmp_path: Path) -> None:
        assert not seen(tmp_path, f"{UNIQUE}\n    print(1)\n", UNIQUE)

    def test_tests_are_left_alone(self, tmp_path: Path) -> None:
        assert not seen(tmp_path, UNIQUE, path="tests/test_a.py")

    def test_other_languages_and_broken_files_are_said_to_be_left_out(self, tmp_path: Path) -> None:
        files = {"a.js": "x\n", "b.py": dedent(QUEUE) + "def broken(\n"}
        notes = look(make_change(tmp_path, files)).not_assessed
        assert sorted((note.path or "", note.why) for note in notes) == [
            ("", "1 file is not Python: a.js"),
            ("b.py", "it does not parse as Python"),
        ]

    def test_deeply_nested_code_does_not_stop_the_review_of_other_files(
        self, tmp_path: Path
    ) -> None:
        """Reviewed code is hostile: one file must not take the others down."""
        deep = "def f(x):\n    q = []\n    q.append(x)\n    while q:\n        q.pop(0)\n"
        deep += f"    return {'(' * 5000}x{')' * 5000}\n"
        report = look(make_change(tmp_path, {"a.py": deep, "b.py": dedent(QUEUE)}))
        assert only(report.findings).path == "b.py"
        assert [note.path for note in report.not_assessed] == ["a.py"]


def test_every_rule_has_the_name_of_the_lens_and_a_family() -> None:
    ids = [rule.id for rule in RULES]
    assert len(set(ids)) == len(ids)
    assert {rule.family for rule in RULES} == {
        "performance/async-blocking",
        "performance/loop-invariant",
        "performance/quadratic",
    }
    assert all(rule.id.startswith("performance/") for rule in RULES)
