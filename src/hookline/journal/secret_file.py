"""A secret in a file of its own: a token that a server and its callers share."""

import os
import secrets
from contextlib import suppress

_MOST = 4096


def read_or_make_secret(file: str) -> str:
    """The secret, made the first time. Raises OSError, also if others can read or change the file."""
    folder = os.path.dirname(file)
    if folder:
        os.makedirs(folder, 0o700, exist_ok=True)
    with suppress(FileExistsError):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(file, flags, 0o600)
        with os.fdopen(descriptor, "w") as stream:
            stream.write(secrets.token_urlsafe(32))
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    with os.fdopen(descriptor) as stream:
        found = os.fstat(descriptor)
        if found.st_uid not in (os.getuid(), 0) or found.st_mode & 0o077:
            raise PermissionError(f"{file} can be used by others: remove it, or chmod 600")
        return stream.read(_MOST).strip()
