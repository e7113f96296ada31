"""The options of a review: what resuming it needs, and what only its first start does."""

from dataclasses import dataclass, field
from pathlib import Path

from leadhand.extension import RunSetup
from leadhand.extension.options import OutputOptions
from leadhand_teams.review import DEFAULT_THRESHOLD, DocumentFormat, FailOn, ReviewFormat
from leadhand_teams.review.settings import ReviewSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSetup(RunSetup):
    """The options that are stored with a review."""

    folder: str = ""
    """Where the snapshot of its change is."""
    threshold: int | None = None
    """`None` if no option gave one, as for `fail_on`."""
    fail_on: FailOn | None = None
    no_look: bool = False
    """Whether to leave out what needs a look."""
    fail_on_look: bool = False
    also: dict[DocumentFormat, str] = field(default_factory=dict["DocumentFormat", str])
    """Format -> file of further copies of the report."""
    write_baseline: str | None = None
    """Where to write the report as the baseline of later reviews."""
    trust_ignores: bool = False
    """Whether `leadhand: ignore` comments that the change adds are obeyed."""
    stats: bool = False
    """Whether the report says how long the review took."""

    def threshold_of(self, settings: ReviewSettings) -> int:
        """The threshold: an option wins over `settings`."""
        given = (self.threshold, settings.threshold, DEFAULT_THRESHOLD)
        return next(one for one in given if one is not None)

    def fail_on_of(self, settings: ReviewSettings) -> FailOn:
        """The least severity that fails: an option wins over `settings`."""
        return self.fail_on or settings.fail_on or "critical"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewOptions:
    """The options of `leadhand review`; its `--help` describes them."""

    setup: ReviewSetup
    output: OutputOptions
    format: ReviewFormat
    range: str | None
    repo: Path
    diff: str | None
    staged: bool
    worktree: bool
    baseline: Path | None
    past_reviews: Path | None
    plan_only: bool
    also: tuple[str, ...]
    """Each `FORMAT=FILE`."""
    home: str | None
