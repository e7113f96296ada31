"""The rules of the tests lens."""

from leadhand.teams.review.lens import LensRule

NO_ASSERTION = LensRule(
    id="tests/no-assertion",
    family="tests/assertions",
    severity="warning",
    why="A test that checks nothing passes whatever the code does, as long as it doesn't raise.",
    fix="Assert on the outcome, or say in the name or docstring that not raising is the test.",
)
ALWAYS_TRUE = LensRule(
    id="tests/always-true",
    family="tests/assertions",
    severity="warning",
    why="A check that can't fail tests nothing.",
    fix="Compare the value under test with the expected one.",
)
UNASSERTED = LensRule(
    id="tests/unasserted-comparison",
    family="tests/assertions",
    severity="warning",
    why="The result is discarded, so the test passes either way.",
    fix="Put `assert` in front of it.",
)
SAME_NAME = LensRule(
    id="tests/same-name",
    family="tests/assertions",
    severity="warning",
    why="The later definition replaces the earlier one.",
    fix="Give each test its own name.",
)
SKIPPED = LensRule(
    id="tests/focused-or-skipped",
    family="tests/assertions",
    severity="warning",
    why="A test that doesn't run finds nothing, and without a reason it is rarely enabled again.",
    fix="Let it run, or state the reason.",
)
UNTESTED = LensRule(
    id="tests/untested-change",
    family="tests/coverage",
    severity="info",
    why="The code beside it is tested, so the project probably expects a test for it too.",
    fix="Add a test for it beside the other tests.",
)
