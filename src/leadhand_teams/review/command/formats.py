"""The formats of a review, and what makes it fail. Imports nothing, so that `--help` is quick."""

from typing import Literal

DocumentFormat = Literal["json", "markdown", "sarif", "oneline", "rdjson"]
"""How a review is printed for programs; `--also` writes it to a file."""
ReviewFormat = Literal["text", "json", "markdown", "sarif", "github", "oneline", "rdjson"]
"""How a review is printed."""
FailOn = Literal["critical", "warning", "info", "never"]
"""The lowest severity of findings that makes the exit status 1."""
