"""Rules on paths that a client chooses, archives that write anywhere, and open permissions."""

import ast

from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.security.events import Event, Hits, ResolvedCall, Topic, hit
from leadhand.teams.review.lenses.security.hints import CALL
from leadhand.teams.review.lenses.security.results import ARCHIVE_MEMBER
from leadhand.teams.review.lenses.security.values import Trust
from leadhand.teams.review.syntax import word_set

_FAMILY = "security/files"
PATH = LensRule(
    "security/path-traversal", "security/untrusted-input", "critical",
    "With `..` or an absolute path, a client can reach every file that the server can.",
    "Resolve the path and check that it is inside the intended folder, or use `safe_join`.",
)  # fmt: skip
ARCHIVE = LensRule(
    "security/archive-extraction", _FAMILY, "warning",
    "Before Python 3.14, a member named `../x` or a link can write outside the target folder.",
    "Pass `filter='data'`.",
)  # fmt: skip
MEMBER = LensRule(
    "security/archive-member-path", _FAMILY, "critical",
    "A member named `../x` is written outside the target folder.",
    "Resolve the joined path and check that it is inside the folder, or use `extract`.",
)  # fmt: skip
PERMISSIONS = LensRule(
    "security/world-writable", _FAMILY, "warning",
    "Every user of the machine can change it.",
    "Let only the owner write.",
)  # fmt: skip
MKTEMP = LensRule(
    "security/mktemp", _FAMILY, "warning",
    "Another process can create that file, or a link in its place, before it is used.",
    "Use `tempfile.NamedTemporaryFile` or `tempfile.mkstemp`.",
)  # fmt: skip
BIND = LensRule(
    "security/bind-all-interfaces", _FAMILY, "info",
    "Every machine that can reach this one can connect.",
    "Bind to the loopback address unless the service is meant for the network.",
)  # fmt: skip

_PATH_CALLS = word_set(
    "open io.open codecs.open os.open os.remove os.unlink os.rmdir os.removedirs os.listdir"
    " os.scandir os.mkdir os.makedirs shutil.rmtree shutil.copy shutil.copyfile shutil.copy2"
    " shutil.move os.rename os.replace flask.send_file aiofiles.open zipfile.ZipFile tarfile.open"
    " starlette.responses.FileResponse fastapi.responses.FileResponse django.http.FileResponse"
    " os.stat os.chmod os.symlink os.walk"
)
_PATH_METHODS = word_set(
    "read_text read_bytes write_text write_bytes unlink rmdir mkdir touch iterdir"
)


def find(event: Event) -> Hits:
    """The hits of this topic's rules in `event`."""
    if not isinstance(event, ResolvedCall):
        return
    name, last = event.name, event.last
    if name in ("tempfile.mktemp", "os.tempnam", "os.tmpnam"):
        yield hit(MKTEMP, event, f"{event.title} returns a name and creates no file.")
    elif last in ("chmod", "fchmod", "lchmod"):
        yield from _chmod(event)
    elif last == "bind":
        yield from _bind(event)
    elif last in ("extractall", "unpack_archive"):
        yield from _extract(event)
    if name in _PATH_CALLS or last in _PATH_METHODS or (last == "save" and len(event.args) == 1):
        yield from _path(event)


def _path(event: ResolvedCall) -> Hits:
    method = event.last in _PATH_METHODS and event.name not in _PATH_CALLS
    paths = (event.receiver,) if method else (*event.args[:2], *event.keywords.values())
    if method and not event.receiver.made_by.startswith("pathlib."):
        return
    if not method and event.name.endswith("open"):
        paths = (event.arg(0, "file", "name", "path"),)
    for path in paths:
        piece = path.least_trusted("path")
        if piece.trust is Trust.REMOTE:
            message = f"`{piece.origin}` decides which file {event.title} uses."
            yield hit(PATH, event, message, piece, path)
            return
        members = [part for part in path.pieces if part.made_by == ARCHIVE_MEMBER]
        member = next((part for part in members if part.trust > Trust.CLEAN), None)
        if member is not None and path.built and "path" not in member.safe_for:
            mode = event.arg(1, "mode").constant or ""
            if event.last != "open" or set(mode) & set("wxa"):
                message = f"An archive member's name decides where {event.title} writes."
                yield hit(MEMBER, event, message, member, path)
                return


def _extract(event: ResolvedCall) -> Hits:
    if event.spread or "filter" in event.keywords or "members" in event.keywords:
        return
    if event.last == "unpack_archive":
        archive = event.arg(0, "filename")
        kind = event.arg(2, "format").constant or archive.text
        if event.name != "shutil.unpack_archive" or "zip" in kind:
            return
    else:
        archive = event.receiver
        if archive.made_by not in ("tarfile.open", "tarfile.TarFile", "tarfile.TarFile.open"):
            return
    if archive.trust <= Trust.CLEAN:
        return
    message = f"{event.title} extracts members without checking their paths."
    yield hit(ARCHIVE, event, message, archive)


def _chmod(event: ResolvedCall) -> Hits:
    index = 1 if event.name in ("os.chmod", "os.fchmod", "os.lchmod") else 0
    mode = event.arg(index, "mode").constant or ""
    node = event.node.args[index] if index < len(event.node.args) else event.keyword("mode")
    if mode.isdecimal() and len(mode) < 8 and int(mode) & 0o002 and not int(mode) & 0o1000:
        yield hit(PERMISSIONS, event, f"{event.title} sets mode {int(mode):#o}.")
    elif isinstance(node, ast.BinOp | ast.Attribute):
        flags = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
        if flags & {"S_IWOTH", "S_IRWXO"} and not any(
            isinstance(part, ast.Invert) for part in ast.walk(node)
        ):
            yield hit(PERMISSIONS, event, f"{event.title} lets all users write.")


def _bind(event: ResolvedCall) -> Hits:
    address = event.node.args[0] if event.node.args else None
    if not isinstance(address, ast.Tuple) or len(address.elts) != 2:
        return
    host = address.elts[0]
    if not isinstance(host, ast.Constant) or host.value not in ("0.0.0.0", "::"):
        return
    if event.receiver.made_by in ("socket.socket", "socket.socket()", "socket.create_server"):
        yield hit(BIND, event, f"{event.title} binds to `{host.value}`.")


TOPIC = Topic(
    rules=(PATH, ARCHIVE, MEMBER, PERMISSIONS, MKTEMP, BIND),
    calls=_PATH_METHODS
    | {name.rsplit(".", 1)[-1] for name in _PATH_CALLS}
    | word_set("mktemp tempnam tmpnam chmod fchmod lchmod bind extractall unpack_archive save"),
    find=find,
    hints={
        CALL: "mktemp tempnam tmpnam chmod fchmod lchmod extractall unpack_archive namelist"
        " infolist getmembers getnames",
        ("((",): "bind",
    },
)
