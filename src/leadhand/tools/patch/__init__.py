"""Unified diffs from anyone, of any size, as files with their texts."""

from leadhand.tools.patch.texts import Unread, read_patch
from leadhand.tools.patch.timed import open_patch

__all__ = ["Unread", "open_patch", "read_patch"]
