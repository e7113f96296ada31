"""The ready-made team that reviews a change to a git repository. Imports nothing of weight."""

from typing import Literal

DEFAULT_THRESHOLD = 80
"""The confidence, 0 to 100, from which findings are shown unless the user names another."""
DocumentFormat = Literal["json", "markdown", "sarif", "oneline", "rdjson"]
"""How a review is printed for programs; `--also` writes it to a file."""
ReviewFormat = Literal["text", "json", "markdown", "sarif", "github", "oneline", "rdjson"]
"""How a review is printed."""
FailOn = Literal["critical", "warning", "info", "never"]
"""The lowest severity of findings that makes the exit status 1."""
