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

_LOG_HEADER_BYTES, _FRAME_HEADER_BYTES, _SECTOR_BYTES = 32, 24, 512
_Sums = tuple[int, int]


def hides_transactions(log: bytes) -> bool:
    """Whether SQLite would drop a transaction of this log that was safe."""
    if len(log) < _LOG_HEADER_BYTES:
        return False
    header, stored = log[:24], struct.unpack_from(">2I", log, 24)
    if header[:3] == b"\x37\x7f\x06" and _sums(header, (0, 0), "<>"[header[3] & 1]) == stored:
        size = int.from_bytes(header[8:12], "big")
        return _is_broken(log, size, "<>"[header[3] & 1], [stored], salts=header[16:])
    # The header is synced before the first frame, so a broken one is damage if frames fit it.
    return any(
        _is_broken(log, 512 << doubled, order, [stored, _sums(header, (0, 0), order)], salts=None)
        for order in "<>"
        for doubled in range(8)
    )


def _is_broken(
    log: bytes, page_bytes: int, order: str, seeds: Sequence[_Sums], *, salts: bytes | None
) -> bool:
    """Whether a broken frame is followed by the end of a transaction and another complete one.
    `seeds`: the possible checksums before it. Without `salts`, the header is broken."""
    broken = ended = salts is None
    size = _FRAME_HEADER_BYTES + page_bytes
    for at in range(_LOG_HEADER_BYTES, len(log) - size + 1, size):
        page, pages_after, found, *sums = struct.unpack_from(">2IQ2I", log, at)  # 0: not an end
        stored, data = (sums[0], sums[1]), log[at + _FRAME_HEADER_BYTES : at + size]
        may_fit = salts is None or found == int.from_bytes(salts, "big")
        fits = [_sums(log[at : at + 8] + data, seed, order) for seed in seeds] if may_fit else []
        if stored in fits:
            if pages_after and broken and ended:
                return True
            ended, seeds = ended or pages_after > 0, [stored]
            continue
        # A sector is written as a whole. Across two, the number may be older than the checksum.
        ended = pages_after > 0 and at % _SECTOR_BYTES <= _SECTOR_BYTES - _FRAME_HEADER_BYTES
        for flipped in (
            pages_after ^ 1 << bit for bit in range(32 if may_fit and not broken else 0)
        ):
            if _sums(struct.pack(">2I", page, flipped) + data, seeds[0], order) == stored:
                ended = flipped > 0
        broken, seeds = True, [stored, *fits[:1]]
    return False


def _sums(data: bytes, seed: _Sums, order: str) -> _Sums:
    one, two = seed
    for first, second in struct.iter_unpack(f"{order}2I", data):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two
