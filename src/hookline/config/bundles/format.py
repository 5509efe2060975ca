"""Read and write a bundle as one signed file: a line with the key, the digest and the signature, then the
body as JSON.

The signature is over the exact bytes of the body, which are not parsed before it was checked. Everything that
decides if and where a bundle is used is in the body: name, revision, times, scope, stage, and every file.
"""

import os
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from hookline.model.errors import HooklineError
from hookline.trust.digest import sha256

#: A server takes messages of a megabyte, and a bundle is one message.
LARGEST = 1_000_000
_MAGIC = "hookline-bundle-1"
_LONGEST_HEAD = 400
#: Before the body, so that a signature made for something else never fits a bundle.
_SIGNED_AS = b"hookline bundle 1\n"
_MOST_FILES, _DEEPEST, _LONGEST_PATH = 500, 8, 200
_KEY_BEGINS = "ed25519:"
#: A stage is counted in these parts.
WHOLE = 10_000
#: Seconds by which clocks of a fleet may differ.
CLOCKS_DIFFER = 300.0
NAME_PATTERN = r"^[a-z0-9][a-z0-9_-]{0,63}\Z"

_Texts = tuple[Annotated[str, Meta(min_length=1, max_length=500)], ...]
_Seconds = Annotated[int, Meta(ge=0, lt=1 << 40)]


class BundleError(HooklineError):
    """A bundle that is not valid. `code` is a short stable name of the reason, the text has it in full."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


class ScopeException(Struct, frozen=True, forbid_unknown_fields=True):
    """Machines that do without a bundle for a while, and why."""

    #: A pattern of machine names.
    machine: Annotated[str, Meta(min_length=1, max_length=500)]
    #: Seconds since the epoch.
    until: _Seconds
    reason: Annotated[str, Meta(min_length=1, max_length=500)]


# Older versions refuse fields that they do not know, so a bundle without new ones is written without them.
class BundleScope(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The machines of a bundle, and the projects where its hooks are active. An empty field limits nothing."""

    #: Patterns of machine names, and names of groups: a machine matches if one of either is its own.
    machines: _Texts = ()
    groups: _Texts = ()
    #: Patterns of the project's directory, as a real path.
    projects: _Texts = ()
    #: Patterns of machines that it is not for, and machines that do without it for a while.
    not_machines: _Texts = ()
    exceptions: tuple[ScopeException, ...] = ()

    def includes(self, machine: str, groups: Sequence[str]) -> bool:
        """Return True if it is for a machine, but for a time in which that is an exception."""
        return self.names(machine, groups) and not self.excludes(machine)

    def excludes(self, machine: str) -> bool:
        return any(fnmatchcase(machine, each) for each in self.not_machines)

    def exception_of(self, machine: str, now: float) -> ScopeException | None:
        """Return the exception of a machine that lasts longest, if it has one now."""
        found = [each for each in self.exceptions if each.until > now and fnmatchcase(machine, each.machine)]
        return max(found, key=lambda each: each.until, default=None)

    def names(self, machine: str, groups: Sequence[str]) -> bool:
        """Return True if its machines and groups name a machine, whether it is excluded or not."""
        if not self.machines and not self.groups:
            return True
        return any(fnmatchcase(machine, each) for each in self.machines) or not set(groups).isdisjoint(
            self.groups
        )

    def holds_in(self, project: str, home: str) -> bool:
        patterns = [f"{home}{each[1:]}" if each[:2] == "~/" else each for each in self.projects]
        return not patterns or any(fnmatchcase(project, each) for each in patterns)

    def __str__(self) -> str:
        parts = [f"machine={each}" for each in self.machines] + [f"group={each}" for each in self.groups]
        parts = [*(parts or ["all machines"]), *(f"machine!={each}" for each in self.not_machines)]
        return ", ".join([*parts, *(f"project={each}" for each in self.projects)])


class BundleFile(Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    content: bytes
    executable: bool = False


class Bundle(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The signed content."""

    name: Annotated[str, Meta(pattern=NAME_PATTERN)]
    revision: Annotated[int, Meta(ge=1, lt=1 << 53)]
    #: Seconds since the epoch. The same revision may be issued again, for more machines or for longer.
    issued: _Seconds
    expires: _Seconds
    scope: BundleScope = BundleScope()
    #: The share of its machines, of `WHOLE`.
    stage: Annotated[int, Meta(ge=0, le=WHOLE)] = WHOLE
    #: The path of the hooks file among the files.
    hooks: str
    files: tuple[BundleFile, ...]
    #: Digest of the files: two bundles with the same digest do the same.
    digest: str
    #: True if machines shall do without a bundle of this name from now on.
    removed: bool = False

    @property
    def label(self) -> str:
        return f"{self.name} {self.revision}"

    def is_for(self, machine: str, groups: Sequence[str], now: float) -> bool:
        """Return True if a machine should have it now, as far as its stage goes."""
        return (
            self.scope.includes(machine, groups)
            and self.scope.exception_of(machine, now) is None
            and self.in_stage(machine)
        )

    @property
    def directory(self) -> str:
        """The name of the directory of its files."""
        return f"{self.revision}-{self.digest[:12]}"

    def in_stage(self, machine: str) -> bool:
        """Return True if the machine is in the stage: always the same for a machine and a revision; a larger
        stage includes a smaller one."""
        number = sha256(f"{self.name}\0{self.revision}\0{machine}".encode()).digest()[:8]
        return int.from_bytes(number, "big") % WHOLE < self.stage


class Envelope(Struct, frozen=True):
    """A bundle as it is sent and stored, not yet checked."""

    #: The id of the key that claims to have signed it.
    key: str
    signature: bytes
    digest: str
    body: bytes


def digest_of(hooks: str, files: Sequence[BundleFile]) -> str:
    facts = [
        (each.path, each.executable, sha256(each.content).hexdigest())
        for each in sorted(files, key=lambda one: one.path)
    ]
    return sha256(msgspec.json.encode((hooks, facts))).hexdigest()


def message_of(body: bytes) -> bytes:
    """Return the bytes to sign for a body."""
    return _SIGNED_AS + body


def seal(key: str, signature: bytes, body: bytes) -> bytes:
    """Make the file of a signed bundle."""
    return f"{_MAGIC} {key} {sha256(body).hexdigest()} {signature.hex()}\n".encode() + body


def encode_body(bundle: Bundle) -> bytes:
    return msgspec.json.encode(bundle)


def split(raw: bytes) -> Envelope:
    """Return the parts of a bundle file. Raises BundleError; nothing of the body has been read then."""
    if len(raw) > LARGEST:
        raise BundleError("too-big", f"it is larger than {LARGEST:,} bytes")
    head, found, body = raw.partition(b"\n")
    words = head[:_LONGEST_HEAD].decode("ascii", "replace").split(" ")
    if not found or len(words) != 4 or words[0] != _MAGIC:
        raise BundleError(
            "not-a-bundle",
            "it is not a bundle, or of a version that this Hookline cannot read; update Hookline",
        )
    try:
        signature = bytes.fromhex(words[3])
    except ValueError:
        signature = b""
    if signature.hex() != words[3] or len(signature) != 64:
        raise BundleError("signature", "its signature is damaged")
    if sha256(body).hexdigest() != words[2]:
        raise BundleError("digest", "its content does not match its digest: it was changed or cut off")
    return Envelope(words[1], signature, words[2], body)


def verify(envelope: Envelope, keys: "Mapping[str, bytes]", believed_by: str) -> None:
    """Raise BundleError unless one of the keys, by their ids, has signed it. `believed_by` names their file."""
    public = keys.get(envelope.key)
    if public is None:
        known = ", ".join(keys) or "none"
        raise BundleError(
            "key",
            f"it is signed by the key {envelope.key[:40]!r}, which this machine does not trust "
            f"(keys of {believed_by}: {known})",
        )
    if not _is_signed(public, envelope.signature, message_of(envelope.body)):
        raise BundleError("signature", f"its signature is not that of the key {envelope.key}: it was changed")


def _is_signed(public: bytes, signature: bytes, message: bytes) -> bool:
    try:
        # Only machines with bundles have it, and loading it takes as long as a small command.
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 see above
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 see above
            Ed25519PublicKey,
        )
    except ImportError:
        from hookline.extras import how_to_add  # noqa: PLC0415 only for something that is missing

        raise BundleError(
            "no-cryptography", f"signatures cannot be checked here: {how_to_add('fleet')}"
        ) from None
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def read_body(body: bytes) -> Bundle:
    """Read the bundle in a body whose signature was checked. Raises BundleError for content that no publisher
    should sign."""
    try:
        bundle = msgspec.json.decode(body, type=Bundle)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise BundleError("content", f"its content cannot be read: {problem}") from None
    check_files(bundle.hooks, bundle.files)
    if bundle.digest != digest_of(bundle.hooks, bundle.files):
        raise BundleError("digest", "its files do not match its digest")
    if bundle.expires <= bundle.issued:
        raise BundleError("expired", "it expires before it is issued")
    return bundle


def check_files(hooks: str, files: Sequence[BundleFile]) -> None:
    """Raise BundleError for a path that leads out of the bundle's directory, or that not every system can
    have."""
    if len(files) > _MOST_FILES:
        raise BundleError("files", f"it has {len(files)} files, more than {_MOST_FILES}")
    seen: set[str] = set()
    for each in files:
        why = path_problem(each.path)
        if why is not None:
            raise BundleError("path", f"it has a file {each.path[:200]!r}: {why}")
        folded = each.path.casefold()
        if folded in seen:
            raise BundleError("path", f"it has the file {each.path!r} twice")
        seen.add(folded)
    for path in seen:
        above = path.split("/")[:-1]
        if any("/".join(above[: end + 1]) in seen for end in range(len(above))):
            raise BundleError("path", f"{path!r} is below a file")
    if hooks not in {each.path for each in files}:
        raise BundleError("content", f"its hooks file {hooks[:200]!r} is not among its files")


def path_problem(path: str) -> str | None:
    """Return why a path may not be in a bundle, or None."""
    parts = path.split("/")
    if not path or len(path) > _LONGEST_PATH or len(parts) > _DEEPEST:
        return f"a path has at most {_LONGEST_PATH} letters and {_DEEPEST} parts"
    if path.startswith("/") or any(part in ("", ".", "..") for part in parts):
        return "a path must lead from the bundle's directory to a file in it"
    if "\\" in path or ":" in path or not path.isprintable():
        return "a path has neither backslashes nor colons nor control characters"
    if any(part[0] == "." for part in parts):
        return "hidden files are left out"
    return None


# Keys


def key_id(public: bytes) -> str:
    return sha256(public).hexdigest()[:16]


def key_text(public: bytes) -> str:
    """Return a public key as settings have it."""
    from base64 import b64encode  # noqa: PLC0415 only to write one

    return _KEY_BEGINS + b64encode(public).decode()


def read_key(text: str) -> bytes | None:
    """Read a public key of settings; None if it is not one."""
    from binascii import Error, a2b_base64  # noqa: PLC0415 only for machines with bundles

    try:
        public = a2b_base64(text.removeprefix(_KEY_BEGINS), strict_mode=True)
    except (Error, ValueError):
        return None
    return public if text.startswith(_KEY_BEGINS) and len(public) == 32 else None


def file_digests(bundle: Bundle) -> dict[str, str]:
    """Return digests by path below the bundle's directory."""
    return {os.path.normpath(each.path): sha256(each.content).hexdigest() for each in bundle.files}
