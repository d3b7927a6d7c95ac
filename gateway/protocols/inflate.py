"""Compressed bodies, inflated as they come and never further than is allowed."""

import sys
import zlib
from collections.abc import Callable
from typing import Protocol

from gateway.errors import BodyTooLarge, BodyUnreadable, CodingUnknown
from gateway.middleware.asgi import Scope

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MOST_TIMES = 200
"""A body may inflate to so many times what was sent ..."""
UNASKED = 1024 * 1024
"""... which is looked at from this size on: small ones cost nothing."""
WINDOW = 23
"""Binary logarithm of the largest zstd window, as RFC 9659 limits it on the web."""


class Member(Protocol):
    """One compressed stream; what follows its end is left over."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def _gzip(_: bytes) -> Member:
    return zlib.decompressobj(16 + zlib.MAX_WBITS)


def _deflate(data: bytes) -> Member:
    """In zlib's frame, as HTTP says; some clients send it bare, which never begins with that frame's first byte."""
    return zlib.decompressobj(zlib.MAX_WBITS if data[0] & 0x0F == zlib.DEFLATED else -zlib.MAX_WBITS)


def _zstd(_: bytes) -> Member:
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: WINDOW})


CODINGS: dict[str, Callable[[bytes], Member]] = {"gzip": _gzip, "zstd": _zstd, "deflate": _deflate}
SAME = {"x-gzip": "gzip"}
TAKEN = ", ".join(CODINGS)


class Inflater:
    """One body of this coding, which may consist of several members."""

    def __init__(self, coding: str) -> None:
        self._coding = coding
        self._begin = CODINGS[coding]
        self._member: Member | None = None
        self._taken = self._given = 0

    def feed(self, data: bytes, most: int) -> bytes:
        """What this piece inflates to, at most `most` (> 0) bytes of it; with those, reading must end. BodyUnreadable: it is
        not of this coding. BodyTooLarge: it inflates to too much for what was sent."""
        self._taken += len(data)
        found: list[bytes] = []
        while data and most > 0:
            if self._member is None or self._member.eof:
                self._member = self._begin(data)
            try:
                found.append(self._member.decompress(data, most))
            except (zlib.error, zstd.ZstdError) as error:
                raise self._unreadable(str(error)) from None
            most -= len(found[-1])
            data = self._member.unused_data
        self._given += sum(map(len, found))
        if self._given > max(UNASKED, MOST_TIMES * self._taken):
            raise BodyTooLarge(f"Request body too large: it inflates to more than {MOST_TIMES} times what was sent.")
        return b"".join(found)

    def finish(self) -> None:
        """BodyUnreadable: the body ended too early."""
        if self._member is not None and not self._member.eof:
            raise self._unreadable("it is cut off")

    def _unreadable(self, reason: str) -> BodyUnreadable:
        return BodyUnreadable(f"We could not inflate the body of your request: it is not {self._coding} ({reason}).")


def inflater_of(scope: Scope) -> Inflater | None:
    """What reads this request's body; None where it is not compressed. CodingUnknown: it cannot be read here."""
    if b"content-encoding" not in dict(scope["headers"]):
        return None
    values = [value.decode("latin-1") for name, value in scope["headers"] if name == b"content-encoding"]
    codings = [word for word in (part.strip().lower() for part in ",".join(values).split(",")) if word not in ("", "identity")]
    if not codings:
        return None
    coding = SAME.get(codings[0], codings[0])
    if len(codings) > 1 or coding not in CODINGS:
        shown = ", ".join(codings)[:100]
        raise CodingUnknown(
            f"The body's content-encoding '{shown}' is not read here. Send one of {TAKEN}, or plain JSON.", accept=TAKEN
        )
    return Inflater(coding)
