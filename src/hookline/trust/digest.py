"""The digests that trust and sessions are kept by, of what is small.

`hookline hook` starts for each tool call, and loading OpenSSL, as `hashlib` does, takes longer than such digests.
Python's own modules are taken in the same way by `random` of the standard library.
"""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import sha256, shake_256
else:
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256
        else:
            from _sha256 import sha256
        from _sha3 import shake_256
    except ImportError:  # not every Python is built with them
        from hashlib import sha256, shake_256

__all__ = ["sha256", "shake_256"]
