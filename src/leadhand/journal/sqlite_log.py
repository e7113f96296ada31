"""Whether damage in SQLite's write-ahead log hides transactions that were safe on disk (F53).

After a kill, SQLite reads its log up to the first frame that does not fit the checksums before it,
and drops the rest: right for a transaction that was being written, wrong for a flipped bit further
up. A transaction begins once the one before is synced. So if a complete one continues the checksums
of the end of another, everything before it was safe, and a broken frame is damage. What else may
follow a broken frame proves nothing: frames of earlier generations (other salts), or of a
transaction that was given up (one end, whose checksums nothing continues).

The format: https://sqlite.org/fileformat2.html#the_write_ahead_log
"""

import struct
from collections.abc import Sequence

Sums = tuple[int, int]
"""The checksum of everything up to a frame."""

_MAGIC = 0x377F0682
"""Its last bit is set if checksums are of big-endian numbers."""
_LOG_HEADER_BYTES, _FRAME_HEADER_BYTES, _SECTOR_BYTES = 32, 24, 512
_PAGE_BYTES = tuple(512 << doubled for doubled in range(8))


def hides_transactions(log: bytes) -> bool:
    """Whether SQLite would drop a transaction of this log that was safe."""
    if len(log) < _LOG_HEADER_BYTES:
        return False
    magic, _, page_bytes = struct.unpack_from(">3I", log)
    order, stored = ">" if magic & 1 else "<", struct.unpack_from(">2I", log, 24)
    known = magic | 1 == _MAGIC | 1 and page_bytes in _PAGE_BYTES
    if known and _sums(log[:24], (0, 0), order) == stored:
        return _is_broken(log, page_bytes, order, [stored], salts=log[16:24])
    # The header is synced before the first frame, so a broken one is damage if frames fit it.
    return any(
        _is_broken(log, size, order, [stored, _sums(log[:24], (0, 0), order)], salts=None)
        for order in "<>"
        for size in _PAGE_BYTES
    )


def _is_broken(
    log: bytes, page_bytes: int, order: str, seeds: Sequence[Sums], *, salts: bytes | None
) -> bool:
    """Whether a broken frame is followed by the end of a transaction and another complete one.

    `seeds`: what the checksum before the first frame may be. Without `salts`, the header is broken.
    """
    broken = ended = salts is None
    last_salts = salts
    size = _FRAME_HEADER_BYTES + page_bytes
    for at in range(_LOG_HEADER_BYTES, len(log) - size + 1, size):
        page, found = log[at : at + 4], log[at + 8 : at + 16]
        pages_after = int.from_bytes(log[at + 4 : at + 8], "big")  # 0 except at a transaction's end
        stored: Sums = struct.unpack_from(">2I", log, at + 16)
        data = log[at + _FRAME_HEADER_BYTES : at + size]
        may_fit = page != bytes(4) and found == (salts or last_salts or found)
        sums = [_sums(log[at : at + 8] + data, seed, order) for seed in seeds] if may_fit else []
        last_salts = salts or found
        if stored in sums:
            if pages_after and broken and ended:
                return True
            ended, seeds = ended or pages_after > 0, [stored]
            continue
        flips = range(32) if may_fit and not broken else ()
        for flipped in (pages_after ^ 1 << bit for bit in flips):
            if _sums(page + flipped.to_bytes(4, "big") + data, seeds[0], order) == stored:
                ended = flipped > 0
                break
        else:
            # A sector is written as a whole. Across two, the number may be older than the checksum.
            ended = pages_after > 0 and at % _SECTOR_BYTES <= _SECTOR_BYTES - _FRAME_HEADER_BYTES
        broken, seeds = True, [stored, *sums[:1]]
    return False


def _sums(data: bytes, seed: Sums, order: str) -> Sums:
    one, two = seed
    for first, second in struct.iter_unpack(f"{order}2I", data):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two
