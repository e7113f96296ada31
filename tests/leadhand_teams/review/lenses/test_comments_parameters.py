"""What the comments lens reports about docstrings that no longer agree with a signature."""

from pathlib import Path

import pytest

from leadhand.contracts.answer import Finding, LensReport
from leadhand_teams.review.lenses.comments import review
from tests.leadhand_teams.review.changes import make_change, only, run_lens

SPHINX = '''\
def send({}):
    """Send it.

    :param to: Whom to send to, see
        the list of names.
    :param int limit: How many at most.
    :return: What was sent.
    """
    return to
'''
GOOGLE = '''\
class Post:
    async def send(self, {}):
        """Send it.

        Args:
            to: Whom to send to: a name.
            limit (int, optional): How many at most. Defaults to 30.

        Returns:
            Many: things.
        """
        return to
'''
NUMPY = '''\
def send({}):
    """Send it.

    Parameters
    ----------
    to : str
        Whom to send to.
    limit
        How many at most; 30 by default.

    Returns
    -------
    bool
        Whether it went.
    """
    return to
'''
EPYTEXT = '''\
def send({}):
    """
    Send it.

    @param to: Whom to send to.
    @param limit: How many at most (default: 30).
    @return: What was sent.
    """
    return to
'''
BULLETS = '''\
class Post:
    """A post.

    **Parameters:**

    * **to** - Whom to send to.
    * **limit** - *(optional)* How many at most.
    """

    def __init__(self, {}):
        self.to = to
'''
EVERY_STYLE = pytest.mark.parametrize("shape", [SPHINX, GOOGLE, NUMPY, EPYTEXT, BULLETS])


def look(folder: Path, before: str, after: str) -> LensReport:
    return run_lens(review, make_change(folder, {"a.py": after}, {"a.py": before}))


def signatures(folder: Path, shape: str, before: str, after: str) -> tuple[Finding, ...]:
    return look(folder, shape.format(before), shape.format(after)).findings


class TestParameterGone:
    @EVERY_STYLE
    def test_a_parameter_that_went_and_is_still_documented_is_found(
        self, tmp_path: Path, shape: str
    ) -> None:
        found = only(signatures(tmp_path, shape, "to, limit=30", "to"))
        assert found.rule == "comments/documented-parameter-gone"
        assert "no longer takes `limit`" in found.message
        assert "limit=30" in found.evidence

    def test_a_renamed_one_is_said_to_be_renamed_and_only_that(self, tmp_path: Path) -> None:
        found = only(signatures(tmp_path, SPHINX, "to, limit", "to, most"))
        assert "(now `most`)" in found.message
        assert "documents it on line 6" in found.message

    def test_a_line_that_only_goes_is_quoted_from_the_old_side(self, tmp_path: Path) -> None:
        before, after = "\n    to,\n    limit,\n", "\n    to,\n"
        found = only(signatures(tmp_path, SPHINX, before, after))
        assert found.evidence == "limit,"

    @pytest.mark.parametrize("after", ["to, **kwargs", "to, *, limit=30", "to, limit, *more"])
    def test_one_that_can_still_be_given_is_not_gone(self, tmp_path: Path, after: str) -> None:
        assert signatures(tmp_path, SPHINX, "to, limit", after) == ()

    def test_a_docstring_that_says_it_is_retired_is_right(self, tmp_path: Path) -> None:
        shape = SPHINX.replace("How many at most", "No longer used")
        assert signatures(tmp_path, shape, "to, limit", "to") == ()

    def test_a_docstring_that_was_wrong_before_is_left_alone(self, tmp_path: Path) -> None:
        assert signatures(tmp_path, SPHINX, "to", "to: str") == ()

    def test_overloads_and_other_names_defined_twice_are_left_alone(self, tmp_path: Path) -> None:
        shape = "{}def send(to, limit=1): ...\n"
        twice = shape + SPHINX
        assert look(tmp_path, twice.format("", "to, limit"), twice.format("", "to")).findings == ()
