"""Makes leadhand's own bare repository, whose alternates point to the objects under review.

It is written file by file, without git, and is the only configuration that git sees. Its attributes
take precedence over those in the reviewed trees. It has leadhand's own objects, too.
"""

import os
from pathlib import Path

from leadhand.tools.git.discovery import FoundRepository

BIG_FILE_BYTES = 1 << 20
"""Git treats larger files as binary, so it neither compares them nor holds them in memory."""

_CONFIG = """\
[core]
	repositoryformatversion = {version}
	bare = true
	hooksPath = /dev/null
	fsmonitor = false
	untrackedCache = false
	attributesFile = /dev/null
	excludesFile = /dev/null
	bigFileThreshold = {big}
	quotePath = true
	pager = cat
[protocol]
	allow = never
[gc]
	auto = 0
[maintenance]
	auto = false
[diff]
	renameLimit = 400
[log]
	showSignature = false
"""
_SHA256 = "[extensions]\n\tobjectFormat = sha256\n"
# `!name` makes an attribute unspecified in spite of any .gitattributes in the tree: a change must
# not make git treat its own files as binary, or convert them.
_ATTRIBUTES = "* !diff !text !eol !crlf !ident !filter !working-tree-encoding !export-subst\n"


def make_bare_repository(found: FoundRepository, git_dir: Path) -> Path:
    """Make `git_dir` a bare repository that reads the objects of `found`, with its refs copied."""
    git_dir = Path(os.path.abspath(git_dir))  # git runs in it: a relative path would be wrong
    for folder in ("objects/info", "objects/pack", "refs", "info"):
        (git_dir / folder).mkdir(parents=True)
    config = _CONFIG.format(big=BIG_FILE_BYTES, version=1 if found.sha256 else 0)
    (git_dir / "config").write_text(config + (_SHA256 if found.sha256 else ""))
    (git_dir / "info" / "attributes").write_text(_ATTRIBUTES)
    (git_dir / "objects" / "info" / "alternates").write_bytes(_alternate(found.objects))
    if shallow := found.shallow():
        (git_dir / "shallow").write_bytes(b"".join(oid + b"\n" for oid in shallow))
    refs = found.refs()
    packed = sorted((name, oid) for name, oid in refs.items() if name.startswith(b"refs/"))
    (git_dir / "packed-refs").write_bytes(
        b"# pack-refs with: sorted \n" + b"".join(oid + b" " + name + b"\n" for name, oid in packed)
    )
    for name, oid in refs.items():
        if not name.startswith(b"refs/"):
            (git_dir / name.decode("ascii")).write_bytes(oid + b"\n")
    head = found.head(refs)
    (git_dir / "HEAD").write_bytes((head or b"ref: refs/heads/none-yet") + b"\n")
    return git_dir


def _alternate(objects: Path) -> bytes:
    r"""A line of `objects/info/alternates`, quoted, because names may have line ends."""
    name = bytes(objects.absolute())
    for plain, escaped in ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n")):
        name = name.replace(plain, escaped)
    return b'"' + name + b'"\n'
