"""Make and read the key pair that signs bundles. The private key is a file that its owner alone can read."""

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hookline.config.bundles.format import (
    Bundle,
    BundleError,
    encode_body,
    key_id,
    key_text,
    message_of,
    seal,
)
from hookline.extras import how_to_add
from hookline.model.errors import HooklineError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


class KeyFileError(HooklineError):
    """An error of a key that cannot be made or used; the message says why, and what to do."""


class SigningKey:
    def __init__(self, private: "Ed25519PrivateKey") -> None:
        self._private = private
        self.public: bytes = private.public_key().public_bytes_raw()

    @property
    def id(self) -> str:
        return key_id(self.public)

    @property
    def text(self) -> str:
        """The public half, for the settings of machines."""
        return key_text(self.public)

    def sign(self, bundle: Bundle) -> bytes:
        """Return the file of the signed bundle."""
        body = encode_body(bundle)
        return seal(self.id, self.sign_bytes(message_of(body)), body)

    def sign_bytes(self, message: bytes) -> bytes:
        return self._private.sign(message)


def make_key(file: str) -> SigningKey:
    """Make a new key in a new file. Raises KeyFileError; no file is ever replaced."""
    serialization, kind = _library()
    private = kind.generate()
    content: bytes = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    try:
        descriptor = os.open(file, _NEW, 0o600)
    except FileExistsError:
        raise KeyFileError(f"{file} exists already, and machines trust its key; name another file") from None
    except OSError as problem:
        raise KeyFileError(f"{file} cannot be written: {problem.strerror}") from None
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(descriptor)
    except OSError as problem:
        with suppress(OSError):
            os.unlink(file)
        raise KeyFileError(f"{file} cannot be written: {problem.strerror}") from None
    return SigningKey(private)


def read_signing_key(file: str) -> SigningKey:
    """Read a private key. Raises KeyFileError, also for a file that others can read."""
    serialization, kind = _library()
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as stream:
            found = os.fstat(descriptor)
            content = stream.read(10_000)
    except OSError as problem:
        raise KeyFileError(
            f"{file} cannot be read: {problem.strerror}; `hookline fleet keygen` makes one"
        ) from None
    if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise KeyFileError(f"others can read the private key {file}: chmod 600 {file}, or make a new one")
    try:
        private = serialization.load_pem_private_key(content, password=None)
    except (ValueError, TypeError) as problem:
        raise KeyFileError(f"{file} is not a private key: {problem}") from None
    if not isinstance(private, kind):
        raise KeyFileError(f"{file} is no Ed25519 key; `hookline fleet keygen` makes one")
    return SigningKey(private)


def _library() -> "tuple[Any, type[Ed25519PrivateKey]]":
    try:
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 heavy, and of an extra
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 the same
            Ed25519PrivateKey,
        )
    except ImportError:
        raise BundleError(
            "no-cryptography", f"signing needs the extra fleet: {how_to_add('fleet')}"
        ) from None
    return serialization, Ed25519PrivateKey
