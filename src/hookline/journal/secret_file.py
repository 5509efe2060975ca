"""Store a secret in a file: a token that a server and its callers share."""

import os
import secrets
import stat
from contextlib import suppress

_MOST = 16_384


def read_or_make_secret(file: str) -> str:
    """Return the secret; create it the first time. Raises OSError, also if others can read or change the file."""
    directory = os.path.dirname(file)
    if directory:
        os.makedirs(directory, 0o700, exist_ok=True)
    with suppress(FileExistsError):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(file, flags, 0o600)
        with os.fdopen(descriptor, "w") as stream:
            stream.write(secrets.token_urlsafe(32))
    return _read(file, os.O_NOFOLLOW, 0o077)


def read_secret(file: str) -> str:
    """Return an existing secret. Raises OSError, also if others can use it; a group may read a file of root."""
    return _read(file, 0, 0o027)


def _read(file: str, flags: int, forbidden: int) -> str:
    """Read a secret.

    `forbidden`: rights that others may not have to a file of root; to the user's file they may have none.
    """
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | flags)
    with os.fdopen(descriptor) as stream:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{file} is not a file")
        own = found.st_uid != 0 and found.st_uid == os.getuid()
        if not (own or found.st_uid == 0) or found.st_mode & (0o077 if own else forbidden):
            raise PermissionError(f"{file} can be used by others: remove it, or chmod 600")
        return stream.read(_MOST).strip()
