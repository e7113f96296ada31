"""The options of a review: what resuming it needs, and what only its first start does."""

from dataclasses import dataclass
from pathlib import Path

from leadhand.cli.options import FailOn, OutputOptions, ReviewFormat
from leadhand.cli.run.options import RunSetup
from leadhand.teams.review import DEFAULT_THRESHOLD


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSetup(RunSetup):
    """The options that are stored with a review."""

    folder: str = ""
    """Where the snapshot of its change is."""
    threshold: int = DEFAULT_THRESHOLD
    fail_on: FailOn = "critical"
    no_look: bool = False
    """Whether to leave out what needs a look."""
    fail_on_look: bool = False


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
    home: str | None
