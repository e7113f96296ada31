"""Hostile documents are refused or cut quickly, and other files are still read (F23).

They run in the real process with the real parsers, some with shorter time limits.
"""

import contextlib
import contextvars
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from leadhand.errors import ToolError
from leadhand.tools.files.documents import Document, Documents
from leadhand.tools.files.index import SearchIndex
from leadhand.tools.files.inputs import Inputs, UnreadableInput
from leadhand.tools.files.parsing import ParserLimits
from tests.engine.attempt_time import attempt_time
from tests.tools.files import samples

PATIENT = ParserLimits(cpu_s=3_600, file_s=3_600)
HASTY = ParserLimits(cpu_s=0.3, file_s=3_600)
BUSY = "<a " * 100_000
"""HTML that keeps the parser busy for hours."""
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is open")


def read_all(
    folder: Path, *, limits: ParserLimits = PATIENT, clock: Callable[[], float] = time.monotonic
) -> list[Document | UnreadableInput]:
    inputs = Inputs.of([folder])
    documents = Documents(inputs, limits=limits, clock=clock)
    return list(documents.read_each(inputs.files, timeout_s=36_000))


def read(path: Path, *, limits: ParserLimits = PATIENT) -> Document:
    (result,) = read_all(path, limits=limits)
    if isinstance(result, UnreadableInput):
        raise result
    return result


def test_html_that_keeps_the_parser_busy_for_hours_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(BUSY)
    with pytest.raises(UnreadableInput, match=r"it takes more than 0\.3 s of work"):
        read(tmp_path / "a.html", limits=HASTY)


def test_html_nested_ten_thousand_deep_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<b>" * 10_000 + "core")
    assert read(tmp_path / "a.html").text == "core\n"


def test_memory_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>" * 100_000)
    with pytest.raises(UnreadableInput, match="80 MiB of memory"):
        read(tmp_path / "a.html", limits=ParserLimits(memory_bytes=80 << 20, file_s=3_600))


def test_a_reader_that_does_not_start_is_a_broken_environment_and_no_fault_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.html").write_text("<p>fine")
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(ToolError, match="the reader of documents did not start"):
        read(tmp_path / "a.html")


@on_linux
def test_a_file_that_kills_the_reader_costs_only_itself(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>before")
    (tmp_path / "b.html").write_text(BUSY)
    (tmp_path / "c.pdf").write_bytes(samples.pdf(["after"]))
    samples.docx(tmp_path / "d.docx", ["last"])
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read_all, tmp_path)
        os.kill(parser_at(tmp_path / "b.html", reading.done), signal.SIGKILL)
        results = reading.result()
    texts = [result.text if isinstance(result, Document) else None for result in results]
    assert texts == ["before\n", None, "after\n", "last\n"]


class SlowFilesTime:
    """A clock that runs only while every parser is at one of the slow files, or at none."""

    def __init__(self, folder: Path, slow: Sequence[str]) -> None:
        self._folder = folder
        self._slow = slow
        self._now_s = 0.0

    def __call__(self) -> float:
        return self._now_s

    def go_on_until(self, done: Callable[[], bool]) -> None:
        while not done():
            at_work = [parser for parser in map(self._at, children()) if parser is not None]
            if at_work and all(name in self._slow for name in at_work):
                # In steps, as what was seen may be over by now.
                self._now_s += 0.25
            time.sleep(0.02)

    def _at(self, parser: int) -> str | None:
        """The file that a parser is at, "" if it may be about to open one, and none if not."""
        for name in open_files(parser):
            if name.startswith(f"{self._folder}/"):
                return Path(name).name
        return None if state(parser) in ("S", "Z", "") else ""


@on_linux
def test_slow_documents_take_their_own_time_and_the_others_are_read(tmp_path: Path) -> None:
    """F43: more slow ones than processes, first in line; each is named with the reason."""
    slow = ["a.html", "b.html", "c.html"]
    for name in slow:
        (tmp_path / name).write_text(BUSY)
    (tmp_path / "d.pdf").write_bytes(samples.pdf(["a page"]))
    samples.docx(tmp_path / "e.docx", ["a paragraph"])
    (tmp_path / "f.txt").write_text("plain")
    limits = ParserLimits(cpu_s=3_600, file_s=1.0, processes=2)
    clock = SlowFilesTime(tmp_path, slow)
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read_all, tmp_path, limits=limits, clock=clock)
        clock.go_on_until(reading.done)
        results = reading.result()
    assert [one.text for one in results if isinstance(one, Document)] == [
        "a page\n",
        "a paragraph\n",
        "plain",
    ]
    whys = {one.name: one.why for one in results if isinstance(one, UnreadableInput)}
    why = "it could not be read: it was not done after the 1 s that it had"
    assert whys == dict.fromkeys(slow, why)
    assert children() == set()


def test_no_document_has_more_than_a_share_of_the_time_of_its_task(tmp_path: Path) -> None:
    """F43: half of the time is for reading, and a third of what is left of that for each file."""
    (tmp_path / "a.html").write_text(BUSY)
    (tmp_path / "b.txt").write_text("plain")
    with attempt_time(6.0):
        slow, plain = read_all(tmp_path)
    assert isinstance(slow, UnreadableInput)
    had = re.search(r"it was not done after the ([0-9.]+) s that it had", slow.why)
    # On a machine that takes seconds to start a process, that is what the time went to.
    assert had is None or float(had[1]) <= 1.0
    assert had is not None or "did not start in time" in slow.why
    assert isinstance(plain, Document)


def test_without_any_time_only_plain_text_is_read(tmp_path: Path) -> None:
    """F43: what was not read is named with the reason."""
    (tmp_path / "a.html").write_text("<p>fine")
    (tmp_path / "b.txt").write_text("plain")
    inputs = Inputs.of([tmp_path])
    late, plain = Documents(inputs).read_each(inputs.files, timeout_s=0)
    assert isinstance(late, UnreadableInput)
    assert late.why == "not read: the files before it took too long"
    assert isinstance(plain, Document)


def test_reading_ends_with_the_attempt_that_it_is_for_and_is_begun_anew_by_the_next(
    tmp_path: Path,
) -> None:
    """F43: a cancelled task leaves no process behind, and no gaps for those that read after it."""
    (tmp_path / "a.html").write_text(BUSY)
    index = SearchIndex(Documents(Inputs.of([tmp_path]), limits=PATIENT))
    with ThreadPoolExecutor(1) as pool:
        with attempt_time(3_600):
            search = pool.submit(contextvars.copy_context().run, index.search, "core", 1)
            while not children():
                assert not search.done()
        with pytest.raises(ToolError, match="the task that it was for has ended"):
            search.result()
    assert children() == set()
    (tmp_path / "a.html").write_text("<p>core")
    assert [one.text for one in index.search("core", 1)] == ["core"]
    assert index.gaps() == []


@on_linux  # Elsewhere it takes the interpreter's lock, too.
def test_a_parser_ends_with_a_parent_that_is_killed_in_the_midst_of_a_file(tmp_path: Path) -> None:
    """F43: no process is left, even one that a regular expression holds up."""
    (tmp_path / "a.html").write_text(BUSY)
    script = (
        "import pathlib, sys; from leadhand.tools.files.documents import Documents\n"
        "from leadhand.tools.files.inputs import Inputs\n"
        "from leadhand.tools.files.parsing import ParserLimits\n"
        "inputs = Inputs.of([pathlib.Path(sys.argv[1])])\n"
        "Documents(inputs, limits=ParserLimits(cpu_s=3_600, file_s=3_600)).read('a.html')"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)]) as reader:
        while not (parsers := children(reader.pid)):
            assert reader.poll() is None
        (parser,) = parsers
        while str(tmp_path / "a.html") not in open_files(parser):
            assert reader.poll() is None
        begun_s = cpu_s(parser)
        while cpu_s(parser) < begun_s + 0.3:  # It has long begun to parse.
            assert reader.poll() is None
        reader.kill()
    while state(parser) not in ("", "Z"):
        time.sleep(0.01)


def children(parent: int = 0) -> set[int]:
    """The parsers that are there now, of this process if not of another."""
    found: set[int] = set()
    for line in subprocess.run(
        ["ps", "-ww", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    ).stdout.splitlines():
        pid, ppid, command = line.split(None, 2)
        if int(ppid) == (parent or os.getpid()) and "leadhand.tools.files.child" in command:
            found.add(int(pid))
    return found


def parser_at(file: Path, done: Callable[[], bool]) -> int:
    """The parser that is at `file`, once there is one; reading must not be `done` before."""
    while True:
        for parser in children():
            if str(file) in open_files(parser):
                return parser
        assert not done()


def open_files(pid: int) -> dict[str, int]:
    """The files that a process has open, and how large they are now."""
    found: dict[str, int] = {}
    with contextlib.suppress(OSError):  # It has ended, or has closed one of them.
        for link in Path(f"/proc/{pid}/fd").iterdir():
            found[str(link.readlink())] = link.stat().st_size
    return found


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def state(pid: int) -> str:
    """The letter for what a process does, nothing where it has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def test_a_pdf_that_unpacks_without_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(samples.pdf_bomb(100_000_000))
    assert (tmp_path / "a.pdf").stat().st_size < 10_000
    with pytest.raises(UnreadableInput, match="holds no text that can be read"):
        read(tmp_path / "a.pdf")


def test_a_pdf_of_a_hundred_thousand_objects_is_read_or_stopped_in_time(tmp_path: Path) -> None:
    extra = b"".join(
        b"%d 0 obj\n<< /Type /Catalog /Pages %d 0 R >>\nendobj\n" % (n, n)
        for n in range(100, 100_100)
    )
    data = samples.pdf(["core"], extra=extra)
    (tmp_path / "whole.pdf").write_bytes(data)
    assert read(tmp_path / "whole.pdf").text == "core\n"
    # Without its table the parser has to look for all the objects.
    (tmp_path / "torn.pdf").write_bytes(data[: data.rindex(b"xref\n0")])
    with pytest.raises(UnreadableInput):
        read(tmp_path / "torn.pdf", limits=HASTY)


def test_a_pdf_whose_page_tree_contains_itself_is_refused(tmp_path: Path) -> None:
    data = samples.pdf(["core"]).replace(b"/Kids [4 0 R]", b"/Kids [2 0 R]")
    (tmp_path / "a.pdf").write_bytes(data)
    with pytest.raises(UnreadableInput):
        read(tmp_path / "a.pdf")


@on_linux
def test_pages_read_before_the_time_was_up_are_kept_and_marked_as_cut(tmp_path: Path) -> None:
    busy = "BT (x) Tj ET " * 1_500_000
    (tmp_path / "a.pdf").write_bytes(samples.pdf(["first", f") Tj ET {busy} BT (last"]))
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read, tmp_path / "a.pdf")
        parser = parser_at(tmp_path / "a.pdf", reading.done)
        # What it prints to has no name any more.
        while not any(size for name, size in open_files(parser).items() if "(deleted)" in name):
            assert not reading.done()
            time.sleep(0.01)
        os.kill(parser, signal.SIGPROF)  # As its timer does when its time is up.
        document = reading.result()
    assert document.text == "first\n"
    assert document.cut is not None
    assert "the rest was not read: it takes more than 3600 s" in document.cut
    assert "sha256" in document.cut


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = samples.docx(tmp_path / "a.docx", [], xml=" " * 20_000_000)
    assert path.stat().st_size < 50_000
    with pytest.raises(UnreadableInput, match="unpacks to more than 200 times its size"):
        read(path)


def test_a_zip_that_lies_about_its_size_is_not_believed(tmp_path: Path) -> None:
    path = samples.docx(tmp_path / "a.docx", [], xml=" " * 20_000_000)
    data = path.read_bytes()
    path.write_bytes(data.replace((20_000_000).to_bytes(4, "little"), b"\x10\0\0\0"))
    with pytest.raises(UnreadableInput):
        read(path)


def test_an_archive_of_too_many_members_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        for number in range(5_001):
            archive.writestr(f"m{number}", "")
    with pytest.raises(UnreadableInput, match="more than 5,000 members"):
        read(tmp_path / "a.docx")


@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE d [<!ENTITY b SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE d SYSTEM "http://127.0.0.1/evil.dtd">',
    ],
    ids=["expanding", "of a file", "of another host"],
)
def test_xml_entities_are_refused(tmp_path: Path, declaration: str) -> None:
    body = samples.document_xml(["<w:p><w:r><w:t>&b;</w:t></w:r></w:p>"])
    xml = body.replace("<w:document", f"{declaration}<w:document", 1)
    with pytest.raises(UnreadableInput, match="entities or a document type, which is refused"):
        read(samples.docx(tmp_path / "a.docx", [], xml=xml))


def test_xml_nested_fifty_thousand_deep_does_no_harm(tmp_path: Path) -> None:
    deep = "<w:r>" * 50_000 + "<w:t>core</w:t>" + "</w:r>" * 50_000
    path = samples.docx(tmp_path / "a.docx", [], xml=samples.document_xml([deep]))
    assert read(path).text == "core\n"


def test_an_encrypted_word_document_asks_for_an_open_copy(tmp_path: Path) -> None:
    path = samples.docx(tmp_path / "a.docx", ["x"])
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02")
    data[at + 8] |= 1
    path.write_bytes(bytes(data))
    with pytest.raises(UnreadableInput, match="it is encrypted"):
        read(path)
