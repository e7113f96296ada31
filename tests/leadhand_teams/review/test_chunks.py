"""Parts of a change for models are small and disjoint; what is beyond the limits is named."""

from pathlib import Path

from leadhand_teams.review.diff_rows import chunks
from tests.leadhand_teams.review.changes import make_change


def source(lines: int, name: str = "x") -> str:
    return "".join(f"{name}_{n} = {n}\n" for n in range(lines))


def test_small_files_share_a_part_and_a_large_one_is_split_between_lines(tmp_path: Path) -> None:
    change = make_change(
        tmp_path, {"a.py": source(3, "a"), "b.py": source(3, "b"), "c.py": source(200, "c")}
    )
    cut = chunks(change, max_chars=1_000)
    first, *rest = [batch.artifacts for batch in cut.batches]
    assert first[:2] == ("a.py", "b.py")
    assert all(ref.startswith("c.py (part ") for refs in (first[2:], *rest) for ref in refs)
    assert all(len(piece.text) <= 1_000 for piece in cut.pieces.values())
    text = "\n".join(piece.text for piece in cut.pieces.values())
    assert all(text.count(f"| c_{n} = {n}\n") == 1 for n in range(199))
    assert (cut.beyond, cut.not_assessed()) == ((), ())


def test_what_is_beyond_the_limit_is_not_assessed_and_says_so(tmp_path: Path) -> None:
    change = make_change(tmp_path, {f"f{n}.py": source(20) for n in range(6)})
    cut = chunks(change, max_chars=500, most=3)
    assert len(cut.batches) == 3
    assert cut.beyond == ("f3.py", "f4.py", "f5.py")
    assert [(note.lens, note.path) for note in cut.not_assessed()] == [
        ("model", "f3.py"), ("model", "f4.py"), ("model", "f5.py"),
    ]  # fmt: skip


def test_the_same_change_gives_the_same_parts_and_artifacts_lead_back_to_them(
    tmp_path: Path,
) -> None:
    change = make_change(tmp_path, {"a.py": source(300)})
    cut = chunks(change, max_chars=2_000)
    assert cut == chunks(change, max_chars=2_000)
    assert [one.path for batch in cut.batches for one in cut.of(batch.artifacts)] == (
        ["a.py"] * len(cut.pieces)
    )
    assert cut.of(["../../etc/passwd", "a.py (part 99 of 7)"]) == []
