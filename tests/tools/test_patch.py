"""Untrusted patches: their content, what they do not show, and where they are damaged."""

import io
import itertools
import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leadhand.contracts.task import Plan
from leadhand.errors import InputError
from leadhand.tools.git.process import OutOfTime, reading_until
from leadhand.tools.patch import open_patch, read_patch
from leadhand.tools.text import ChangedText, UnreadFile
from leadhand_teams.review.snapshot import write_snapshot
from leadhand_teams.review.synthesizer import FindingsSynthesizer

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_MODIFIED = b"""\
diff --git a/src/a.py b/src/a.py
index 7898192..c1827f0 100644
--- a/src/a.py
+++ b/src/a.py
@@ -3,4 +3,5 @@ def f():
 three
-four
+FOUR
+more
 five
 six
@@ -20 +21,0 @@
-twenty
"""


def read(patch: bytes, max_piece_bytes: int = 1 << 20) -> list[ChangedText | UnreadFile]:
    return list(read_patch(io.BytesIO(patch), max_piece_bytes=max_piece_bytes))


def only(patch: bytes) -> ChangedText:
    (item,) = read(patch)
    assert isinstance(item, ChangedText)
    return item


class TestTexts:
    def test_a_modified_file_has_the_lines_that_are_known_in_their_places(self) -> None:
        text = only(_MODIFIED)
        assert (text.path, text.old_path, text.status) == ("src/a.py", None, "modified")
        assert text.hunks == ((4, 1, 4, 2), (20, 1, 21, 0))
        assert not text.complete
        assert text.head == "\n\nthree\nFOUR\nmore\nfive\nsix\n"
        assert text.base == "\n\nthree\nfour\nfive\nsix\n" + "\n" * 13 + "twenty\n"

    def test_a_new_file_is_complete(self) -> None:
        text = only(
            b"diff --git a/n.py b/n.py\nnew file mode 100755\nindex 0000000..1\n"
            b"--- /dev/null\n+++ b/n.py\n@@ -0,0 +1,2 @@\n+one\n+two\n"
        )
        assert (text.status, text.base, text.head) == ("added", None, "one\ntwo\n")
        assert (text.hunks, text.complete) == (((0, 0, 1, 2),), True)

    def test_a_deleted_file_has_its_old_text(self) -> None:
        text = only(
            b"diff --git a/n.py b/n.py\ndeleted file mode 100644\n"
            b"--- a/n.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n"
            b"\\ No newline at end of file\n"
        )
        assert (text.path, text.status) == ("n.py", "deleted")
        assert (text.base, text.head, text.complete) == ("one\ntwo", None, True)
        assert text.hunks == ((1, 2, 0, 0),)

    def test_f28_a_missing_line_end_at_the_end_is_kept(self) -> None:
        text = only(
            b"--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+one\n\\ No newline at end of file\n"
        )
        assert text.head == "one"

    def test_f28_a_rename_with_changes_has_both_paths(self) -> None:
        text = only(
            b"diff --git a/old name.py b/new name.py\nsimilarity index 90%\n"
            b"rename from old name.py\nrename to new name.py\nindex 1..2 100644\n"
            b"--- a/old name.py\t\n+++ b/new name.py\t\n@@ -1 +1 @@\n-x\n+y\n"
        )
        assert (text.path, text.old_path) == ("new name.py", "old name.py")
        assert text.status == "renamed"

    def test_f28_a_patch_with_crlf_line_ends_reads_like_any_other(self) -> None:
        assert only(_MODIFIED.replace(b"\n", b"\r\n")) == only(_MODIFIED)

    def test_f28_lines_that_differ_in_their_line_ends_alone_are_no_change(self) -> None:
        patch = b"--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-a\r\n-b\r\n+a\n+b\n c\n"
        assert read(patch) == [UnreadFile("x", "no lines changed")]

    def test_f28_bytes_that_are_not_utf8_and_odd_line_separators_keep_their_lines(self) -> None:
        odd = "a\x0cb\x85c\u2028d\r e\0f".encode() + b"\xff"
        text = only(b"--- /dev/null\n+++ b/x.py\n@@ -0,0 +1,2 @@\n+" + odd + b"\n+second\n")
        assert text.head == "a\x0cb\x85c\u2028d  e\ufffdf\ufffd\nsecond\n"

    def test_a_byte_order_mark_is_dropped(self) -> None:
        text = only(b"--- /dev/null\n+++ b/x.py\n@@ -0,0 +1 @@\n+\xef\xbb\xbfx = 1\n")
        assert text.head == "x = 1\n"

    def test_blank_context_lines_that_lost_their_space_still_count(self) -> None:
        text = only(b"--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-a\n+b\n\n c\n")
        assert text.head == "b\n\nc\n"


class TestNames:
    @pytest.mark.parametrize(
        ("old", "new", "path"),
        [
            (b"a/x.py", b"b/x.py", "x.py"),
            (b"i/x.py", b"w/x.py", "x.py"),
            (b"x.py", b"x.py", "x.py"),
            (b"src/x.py", b"src/x.py", "src/x.py"),
            (b'"a/\\303\\251\\n.py"', b'"b/\\303\\251\\n.py"', "é\n.py"),
            (b"old/x.py\t2024-01-01 10:00:00", b"new/x.py\t2024-01-02 10:00:00", "new/x.py"),
            (b"a/p b/p", b"b/p b/p", "p b/p"),
        ],
    )
    def test_come_from_the_header_without_prefixes_and_quotes(
        self, old: bytes, new: bytes, path: str
    ) -> None:
        patch = b"--- " + old + b"\n+++ " + new + b"\n@@ -1 +1 @@\n-x\n+y\n"
        assert only(patch).path == path

    def test_of_files_without_lines_come_from_the_first_line(self) -> None:
        patch = (
            b"diff --git a/x y.png b/x y.png\nindex 1..2 100644\n"
            b"Binary files a/x y.png and b/x y.png differ\n"
            b"diff --git a/e.py b/e.py\nnew file mode 100644\nindex 0..e\n"
            b'diff --git "a/q\\"" "b/q\\""\nold mode 100644\nnew mode 100755\n'
            b"diff --git a/r b/s\nsimilarity index 100%\nrename from r\nrename to s\n"
            b"diff --git a/g.bin b/g.bin\nnew file mode 100644\nindex 0..1\nGIT binary patch\n"
            b"literal 2\nJc${NkU|;|M00aO5\n\n"
            b"diff --git a/sub b/sub\nindex 1..2 160000\n--- a/sub\n+++ b/sub\n"
            b"@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n"
            b"diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n"
            b"@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"
            b"diff --cc m.py\nindex 1,2..3\n--- a/m.py\n+++ b/m.py\n@@@ -1,1 -1,1 +1,1 @@@\n++x\n"
        )
        assert read(patch) == [
            UnreadFile("x y.png", "binary"),
            UnreadFile("e.py", "an empty file"),
            UnreadFile('q"', "only its mode changed"),
            UnreadFile("s", "renamed without a change"),
            UnreadFile("g.bin", "binary"),
            UnreadFile("sub", "submodule"),
            UnreadFile("l", "symbolic link"),
            UnreadFile("m.py", "the combined diff of a merge"),
        ]


class TestPieces:
    def test_text_around_the_pieces_is_passed_over(self) -> None:
        mail = b"From 1 Mon\nSubject: x\n---\n a | 2 +-\n--- not a header\n\n"
        assert read(mail + _MODIFIED + b"-- \n2.39.5\n\n" + mail) == read(_MODIFIED)

    def test_removed_lines_that_look_like_headers_stay_lines(self) -> None:
        text = only(
            b"--- a/x.sql\n+++ b/x.sql\n@@ -1,3 +1,2 @@\n"
            b"--- a/y\n+++ b/y\n-diff --git a/p b/p\n z\n"
        )
        assert text.base == "-- a/y\ndiff --git a/p b/p\nz\n"
        assert text.head == "++ b/y\nz\n"

    def test_a_piece_over_the_cap_is_listed_and_the_next_one_read(self) -> None:
        big = b"--- /dev/null\n+++ b/big\n@@ -0,0 +1,2 @@\n+" + b"x" * 5000 + b"\n+y\n"
        items = read(big + _MODIFIED, max_piece_bytes=2048)
        assert items[0] == UnreadFile("big", "its part of the patch is larger than 2 KiB")
        assert items[1:] == read(_MODIFIED)

    @pytest.mark.parametrize(
        ("patch", "where"),
        [
            (b"@@ -1 +1 @@\n-x\n+y\n", "line 1: a hunk without a file"),
            (b"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-x\n", "line 4: it ends in the middle"),
            (b"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-x\ngarbage\n", "line 5: a hunk is shorter"),
            (b"--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-x\n-y\n+z\n", "line 5: a hunk is longer"),
            (b"--- a/x\n+++ b/x\n@@ nonsense @@\n", "line 3: not a hunk header"),
            (b"--- a/x\n+++ b/x\n@@ -1 +1000001 @@\n", "line 3: line numbers over 1,000,000"),
            (b"--- a/x\n+++ b/x\n@@ -" + b"9" * 30 + b" +1 @@\n", "line 3: not a hunk header"),
            (_MODIFIED + b"@@ -1 +1 @@\n-x\n+y\n", "line 14: a hunk that overlaps"),
        ],
    )  # fmt: skip
    def test_a_damaged_patch_is_refused_and_the_line_is_named(
        self, patch: bytes, where: str
    ) -> None:
        with pytest.raises(InputError, match=f"the patch is damaged at {where}"):
            read(patch)

    @pytest.mark.parametrize("patch", [b"", b"\n", b"just some text\n", b"\0" * 100])
    def test_what_is_no_patch_is_refused(self, patch: bytes) -> None:
        with pytest.raises(InputError, match="there is no change in the patch"):
            read(patch)


class _Endless(io.RawIOBase):
    """A patch that never ends."""

    def __init__(self, line: bytes) -> None:
        self._line = line

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        view = memoryview(buffer)
        view[:] = (self._line * (len(view) // len(self._line) + 1))[: len(view)]
        return len(view)


@pytest.mark.parametrize("line", [b"log\n", b"x"], ids=["lines", "one line"])
def test_a_patch_without_end_is_read_until_the_deadline(line: bytes) -> None:
    """F18: what comes on standard input may never stop."""
    source = io.BufferedReader(_Endless(line))
    with (
        reading_until(time.monotonic() + 0.05),
        pytest.raises(OutOfTime, match="time that the deadline leaves"),
    ):
        list(read_patch(source))


def file_after_file() -> Iterator[bytes]:
    """A patch without end."""
    for number in itertools.count():
        yield f"--- a/f{number}.py\n+++ b/f{number}.py\n@@ -0,0 +1 @@\n+a = 1\n".encode()


class _Files(io.RawIOBase):
    """A patch of endlessly many files; the time for reading is up with the hundredth."""

    def __init__(self, reading: ExitStack) -> None:
        self._reading = reading
        self._files = file_after_file()
        self._left = 100

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        self._left -= 1
        if self._left == 0:
            self._reading.enter_context(reading_until(time.monotonic()))
        file = next(self._files)
        memoryview(buffer)[: len(file)] = file
        return len(file)


class TestTime:
    def test_f42_a_pipe_into_which_nothing_is_written_ends_with_the_time_for_reading(
        self, tmp_path: Path
    ) -> None:
        os.mkfifo(tmp_path / "pipe")
        with (
            open_patch(tmp_path / "pipe") as patch,
            reading_until(time.monotonic() + 0.05),
            pytest.raises(OutOfTime, match="within the time that the deadline leaves"),
        ):
            list(read_patch(patch))

    def test_f42_what_was_read_of_an_endless_patch_in_time_is_reviewed(
        self, tmp_path: Path
    ) -> None:
        with ExitStack() as reading:
            patch = io.BufferedReader(_Files(reading), 512)
            change = write_snapshot(tmp_path / "snapshot", patch=patch)
        assert change.by_path["f0.py"].added == {1: "a = 1"}
        assert "time that the deadline leaves" in (change.cut or "")
        answer = FindingsSynthesizer(change).by_code(Plan(goal="Review it", tasks=()), ())
        assert [(gap.task_id, gap.why) for gap in answer.gaps] == [("change", change.cut)]

    def test_a_patch_from_a_pipe_is_read_as_it_comes(self) -> None:
        reading, writing = os.pipe()
        with open(reading, "rb") as patch, open(writing, "wb") as written:
            whole = next(file_after_file())
            written.write(whole[:40])
            written.flush()
            rest = threading.Timer(0, lambda: (written.write(whole[40:]), written.close()))
            rest.start()
            (text,) = read_patch(patch)
            rest.join()
        assert isinstance(text, ChangedText)
        assert text.head == "a = 1\n"
