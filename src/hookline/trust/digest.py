"""Compute the digests that identify trusted items and sessions.

`hookline hook` starts for each tool call, and loading OpenSSL, as `hashlib` does, takes longer than small
digests. Python's own modules are taken in the same way by `random` of the standard library. Where OpenSSL is
loaded already, and for long contents, it is used: it is ten times as fast.
"""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _hashlib import HASH
    from hashlib import sha256 as _small_sha256
    from hashlib import shake_256
else:
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256 as _small_sha256
        else:
            from _sha256 import sha256 as _small_sha256
        from _sha3 import shake_256
    except ImportError:  # not every Python is built with them
        from hashlib import sha256 as _small_sha256
        from hashlib import shake_256

__all__ = ["sha256", "shake_256"]

#: Bytes from which OpenSSL is worth loading.
_LONG = 1 << 16


def sha256(content: bytes) -> "HASH":
    """Hash a content with the faster of the two."""
    loaded = getattr(sys.modules.get("hashlib"), "sha256", None)  # another thread may be loading it
    if loaded is not None:
        return loaded(content)
    if len(content) < _LONG:
        return _small_sha256(content)
    import hashlib  # noqa: PLC0415 see above

    return hashlib.sha256(content)
