"""The rules of the tests lens."""

from leadhand.teams.review.lens import LensRule

NO_ASSERTION = LensRule(
    "tests/no-assertion", "tests/assertions", "warning",
    "A test that checks nothing passes whatever the code does, as long as it doesn't raise.",
    "Assert on the outcome, or say in the name or docstring that not raising is the test.",
)  # fmt: skip
ALWAYS_TRUE = LensRule(
    "tests/always-true", "tests/assertions", "warning",
    "A check that can't fail tests nothing.",
    "Compare the value under test with the expected one.",
)  # fmt: skip
UNASSERTED = LensRule(
    "tests/unasserted-comparison", "tests/assertions", "warning",
    "The result is discarded, so the test passes either way.",
    "Put `assert` in front of it.",
)  # fmt: skip
SAME_NAME = LensRule(
    "tests/same-name", "tests/assertions", "warning",
    "The later definition replaces the earlier one.",
    "Give each test its own name.",
)  # fmt: skip
SKIPPED = LensRule(
    "tests/focused-or-skipped", "tests/assertions", "warning",
    "A test that doesn't run finds nothing, and without a reason it is rarely enabled again.",
    "Let it run, or state the reason.",
)  # fmt: skip
UNTESTED = LensRule(
    "tests/untested-change", "tests/coverage", "info",
    "The code beside it is tested, so the project probably expects a test for it too.",
    "Add a test for it beside the other tests.",
)  # fmt: skip
