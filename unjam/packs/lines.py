"""A pack's bytes as numbered lines of text, in bounded memory whatever the file holds."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from unjam.errors import PackError

MAX_LINE = 1 << 20  # bytes; the largest board with everything said about it needs a few thousand
_BLOCK = 1 << 16


class Line(NamedTuple):
    """A line without its end, or why it cannot be read. ``number`` counts from 1."""

    number: int
    text: str
    error: str | None = None


def read_lines(stream: BinaryIO) -> Iterator[Line]:
    """The lines of a UTF-8 stream, with or without a byte order mark, ending in LF or CRLF.

    A line that is too long, is no UTF-8 or holds a NUL byte comes as an error of its own. Raises PackError for a file
    that is no text at all.
    """
    number = 0
    while raw := stream.readline(MAX_LINE + 1):
        number += 1
        if number == 1:
            _refuse_other_files(raw)
            raw = raw.removeprefix(codecs.BOM_UTF8)
        if len(raw) > MAX_LINE and not raw.endswith(b"\n"):
            _skip_line(stream)
            yield Line(number, "", f"the line is longer than {MAX_LINE:,} bytes")
        else:
            yield _decode(number, raw)


def is_comment(text: str) -> bool:
    """``# `` begins a comment: a row of a board has no space after a wall."""
    return text.startswith(("# ", "#\t"))


def _decode(number: int, raw: bytes) -> Line:
    if (nul := raw.find(0)) >= 0:
        return Line(number, "", f"byte {nul + 1} of the line is NUL: this is no text")
    raw = raw.removesuffix(b"\n").removesuffix(b"\r")
    if (cr := raw.find(b"\r")) >= 0:
        return Line(number, "", f"byte {cr + 1} of the line is a lone CR: end lines with LF or CRLF")
    try:
        return Line(number, raw.decode())
    except UnicodeDecodeError as error:
        return Line(
            number, "", f"byte {error.start + 1} of the line (0x{raw[error.start]:02x}) is not UTF-8: save it as UTF-8"
        )


def _skip_line(stream: BinaryIO) -> None:
    while (block := stream.readline(_BLOCK)) and not block.endswith(b"\n"):
        pass


def _refuse_other_files(start: bytes) -> None:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise PackError("the pack is UTF-16: save it as UTF-8")
    if start.startswith(b"\x1f\x8b"):
        raise PackError("the pack is compressed: unpack it first, for example `gzip -dc PACK | unjam solve -`")
