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
    why="The check can't fail, so it protects nothing.",
    fix="Compare the value under test with what is expected of it.",
)
UNASSERTED = LensRule(
    id="tests/unasserted-comparison",
    family="tests/assertions",
    severity="warning",
    why="Its result is thrown away, so the test passes either way.",
    fix="Put `assert` in front of it.",
)
SAME_NAME = LensRule(
    id="tests/same-name",
    family="tests/assertions",
    severity="warning",
    why="The later definition replaces the earlier one, which no test runner ever sees.",
    fix="Give each test a name of its own.",
)
SKIPPED = LensRule(
    id="tests/focused-or-skipped",
    family="tests/assertions",
    severity="warning",
    why="Tests that don't run protect nothing, and nobody is told when to switch them on again.",
    fix="Let it run, or give the reason.",
)
UNTESTED = LensRule(
    id="tests/untested-change",
    family="tests/coverage",
    severity="info",
    why="Its siblings are tested, so the project would expect a test for it too.",
    fix="Add a test that uses it, beside its siblings' tests.",
)
