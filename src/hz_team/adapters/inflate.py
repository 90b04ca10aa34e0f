"""Unpacks gzip and deflate bodies piece by piece, so that a small one cannot become a huge one unseen."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from hz_team.ports import HttpError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hz_team.adapters.address import Target

PIECE = 256 * 1024
"""Bytes that one step yields at most."""
_GZIP, _ZLIB, _RAW = 31, 15, -15


def inflated(chunks: Iterator[bytes], encoding: str, target: Target) -> Iterator[bytes]:
    """Yield the unpacked pieces. Raises HttpError when the body is not what `encoding` says, or ends too early."""
    if encoding == "identity":
        yield from chunks
        return
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise HttpError("broken", f"{target} is packed as {encoding[:40]}, which was not asked for")
    try:
        yield from _unpacked(chunks, encoding)
    except (zlib.error, EOFError):
        raise HttpError("broken", f"{target} is not the {encoding} it says, or broke off") from None


def _unpacked(chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    inflater = None
    for chunk in chunks:
        data = chunk
        while data:
            if inflater is None or inflater.eof:
                if inflater is not None and not data.startswith(b"\x1f\x8b"):
                    return  # padding after the last gzip member
                inflater = zlib.decompressobj(_bits(data, encoding))
            yield inflater.decompress(data, PIECE)
            data = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
    if inflater is not None and not inflater.eof:
        yield inflater.flush()
        if not inflater.eof:
            raise EOFError


def _bits(data: bytes, encoding: str) -> int:
    """Return the window size; some servers mean a raw stream by `deflate`, others zlib's (RFC 9110 8.4.1.2)."""
    if encoding != "deflate":
        return _GZIP
    looks_zlib = data[0] & 0x0F == 8 and (data[0] * 256 + data[1 if len(data) > 1 else 0]) % 31 == 0  # noqa: PLR2004
    return _ZLIB if looks_zlib else _RAW
