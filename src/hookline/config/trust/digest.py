"""The digests that trust and sessions are kept by.

`hookline hook` starts for each tool call, and loading OpenSSL, as `hashlib` does, takes longer than the digests of what
is small. Python's own modules are taken for that in the same way by `random` of the standard library.
"""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import sha256 as _sha256
    from hashlib import shake_256
    from typing import Protocol

    class Digest(Protocol):
        def digest(self) -> bytes: ...
        def hexdigest(self) -> str: ...
else:
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256 as _sha256
        else:
            from _sha256 import sha256 as _sha256
        from _sha3 import shake_256
    except ImportError:  # not every Python is built with them
        from hashlib import sha256 as _sha256
        from hashlib import shake_256

#: Bytes from which OpenSSL is worth loading: it is ten times as fast.
_LONG = 1 << 16


def sha256(content: bytes) -> "Digest":
    if len(content) < _LONG:
        return _sha256(content)
    import hashlib  # noqa: PLC0415 see above

    return hashlib.sha256(content)


__all__ = ["sha256", "shake_256"]
