"""Which findings of an earlier report are hidden, and which files are refused."""

from pathlib import Path

import pytest

from leadhand.errors import InputError
from leadhand_teams.review.command.files import MAX_BYTES, load_baseline
from tests.leadhand_teams.review.command.reviews import finding, report


def test_a_baseline_is_every_id_of_an_earlier_report(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    made = report(
        finding(id="a"), look=(finding(id="d"),), suppressed=(finding(id="b"),),
        hidden_by_baseline=("c",),
    ).answer  # fmt: skip
    file.write_text(made.model_dump_json(), encoding="utf-8")
    assert load_baseline(file) == {"a", "b", "c", "d"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b'{"output": null}', "is not a review report"),
        (b'{"output": {"findings": [{"id": 1}], "suppressed": []}}', "is not a review report"),
        (b"[]", "is not a review report"),
        (b" " * (MAX_BYTES + 1), "is larger than 64 MiB"),
    ],
    ids=["empty", "binary", "deep", "no-output", "odd-id", "list", "large"],
)
def test_a_file_that_is_no_report_is_refused_in_one_line(
    tmp_path: Path, content: bytes, said: str
) -> None:
    """F06, F35."""
    file = tmp_path / "a\nb.json"
    file.write_bytes(content)
    with pytest.raises(InputError, match=said) as caught:
        load_baseline(file)
    assert "\n" not in str(caught.value)
    assert "a\\nb.json" in str(caught.value)


@pytest.mark.parametrize("name", ["missing.json", ".", "nul\0.json"])
def test_a_baseline_that_cant_be_read_is_named(tmp_path: Path, name: str) -> None:
    """F17."""
    with pytest.raises(InputError, match="can't read the baseline"):
        load_baseline(tmp_path / name)
