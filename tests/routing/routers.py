"""A small trained router, made without training, for tests that need no scikit-learn."""

import json
import os
import zlib
from importlib.util import find_spec
from pathlib import Path

import pytest

from leadhand.routing.trained import TrainedRouter, Weights
from tests.team_folders import write_team

LABELS = ("billing", "technical", None)
LEARNT = {
    "invoice": (100, -60, -40),
    "charged": (90, -50, -40),
    "crashes": (-50, 95, -45),
    "error": (-40, 70, -30),
    "joke": (-60, -60, 110),
    "#invo": (20, -10, -10),
}
"""What each n-gram adds to the score of each label, in hundredths."""

needs_training = pytest.mark.skipif(
    find_spec("sklearn") is None and "LEADHAND_TEST_ALL" not in os.environ,
    reason="scikit-learn is not installed: `make test-all` installs it, and then nothing skips",
)


def weights(**changes: object) -> Weights:
    fields = {
        "labels": LABELS,
        "ngrams": tuple(LEARNT),
        "counts": (5,) * len(LEARNT),
        "examples": 100,
        "packed": zlib.compress(bytes(one % 256 for row in LEARNT.values() for one in row)),
        "step": 0.01,
        "bias": (-0.2, -0.2, -0.6),
        "slope": 8.0,
        "offset": 1.0,
        "threshold": 0.8,
    }
    return Weights(**{**fields, **changes})  # pyright: ignore[reportArgumentType]


def small_router(**changes: object) -> TrainedRouter:
    return TrainedRouter(weights(**changes))


def desk_folder(folder: Path, team: str) -> Path:
    """A folder of a team with two workers whose module is in it."""
    front = "---\ndescription: Does {0} things\nrun: desk:reply\n---\n"
    names = ("billing", "technical")
    desk = write_team(folder / "desk", team, **{name: front.format(name) for name in names})
    code = "def reply(handoff):\n    return f'{handoff.to_agent}: {handoff.intent}'\n"
    (desk / "desk.py").write_text(code, encoding="utf-8")
    return desk


def example_lines() -> list[str]:
    """Enough examples to train on: two workers, and requests for neither."""
    kinds: dict[str | None, tuple[str, ...]] = {
        "billing": ("I was charged twice for {}", "Where is the invoice for {}?", "Refund {}"),
        "technical": ("The app crashes when I open {}", "Error 42 in {}", "How to install {}?"),
        None: ("Tell me a joke about {}", "What is the weather like for {}", "Who won {}"),
    }
    things = ("my account", "the photo plan", "last month", "my tablet", "two phones", "the page")
    return [
        json.dumps({"text": text.format(thing), "worker": worker})
        for worker, texts in kinds.items()
        for text in texts
        for thing in things
    ]
