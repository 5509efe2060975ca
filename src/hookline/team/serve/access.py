"""Restrict who may ask and where the server may listen: it answers nothing without a token or a certificate."""

import hmac
import os
import ssl
from collections.abc import Mapping, Sequence

from msgspec import Struct

from hookline.handlers.http.addresses import is_loopback
from hookline.journal.file import state_dir
from hookline.journal.secret_file import read_or_make_secret
from hookline.model.errors import HooklineError

#: Shorter ones can be guessed.
_SHORTEST_TOKEN = 16
_MOST_TOKENS = 2
_NEEDED_FOR_TLS = (
    "it needs a certificate in PEM, and in --key the private key that belongs to it, without a password"
)

Headers = Sequence[tuple[bytes, bytes]]


class AccessError(HooklineError):
    """An error that keeps the server from starting."""


class Access(Struct, frozen=True):
    """Certificate, key and token files of a server."""

    #: Callers send `Authorization: Bearer TOKEN`; empty: their certificates identify them instead.
    token_file: str = ""
    #: The certificate and key of the server; empty: plain http, on loopback only.
    cert: str = ""
    key: str = ""
    #: Callers must have a certificate that this authority has signed.
    client_ca: str = ""

    def tls(self) -> ssl.SSLContext | None:
        """Return the TLS context, or None. Raises `AccessError` for a file that cannot be used."""
        if not self.cert:
            if self.client_ca or self.key:
                raise AccessError("--client-ca and --key need --cert, the certificate of this server")
            return None
        file = self.cert
        try:
            for file in filter(None, (self.cert, self.key)):
                with open(file, "rb"):  # TLS does not say which of them it cannot read
                    pass
            file = self.cert
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.minimum_version = ssl.TLSVersion.TLSv1_2
            # Without a password an encrypted key would ask at the terminal.
            context.load_cert_chain(self.cert, self.key or None, password=lambda: "")
            if self.client_ca:
                file = self.client_ca
                context.load_verify_locations(self.client_ca)
                context.verify_mode = ssl.CERT_REQUIRED
        except (OSError, ValueError) as problem:
            why = getattr(problem, "strerror", None) or problem
            if isinstance(problem, ssl.SSLError):
                needed = "it needs certificates in PEM" if file == self.client_ca else _NEEDED_FOR_TLS
                why = f"{needed} ({problem.reason or why})"
            raise AccessError(f"{file} cannot be used for TLS: {why}") from None
        return context

    def tokens(self) -> tuple[bytes, ...]:
        """Return the tokens of which callers must send one; create one the first time. Raises `AccessError`.

        Two lines are two tokens: while callers move from one to the other.
        """
        if not self.token_file:
            return ()
        try:
            found = read_or_make_secret(self.token_file).split("\n")
        except (OSError, UnicodeDecodeError) as problem:
            raise AccessError(f"the token file {self.token_file} cannot be used: {problem}") from None
        tokens = [each.strip() for each in found if each.strip()]
        if not 1 <= len(tokens) <= _MOST_TOKENS or not all(map(_is_token, tokens)):
            raise AccessError(
                f"{self.token_file} must have one or two lines, each one word of at least {_SHORTEST_TOKEN} letters "
                "and digits; remove the file to have one made"
            )
        return tuple(each.encode() for each in tokens)

    def reload(self, context: ssl.SSLContext | None) -> None:
        """Read the server's certificate again, for connections from now on. Raises `AccessError`; it stays then."""
        self.tls()  # what cannot be used must not be half of it
        if context is not None:
            context.load_cert_chain(self.cert, self.key or None, password=lambda: "")


def _is_token(text: str) -> bool:
    return len(text) >= _SHORTEST_TOKEN and text.isascii() and text.isprintable() and " " not in text


def default_token_file(env: Mapping[str, str]) -> str:
    return os.path.join(state_dir(env), "serve-token")


def require_safe_bind(host: str, access: Access) -> None:
    """Refuse to listen beyond this machine without TLS: tokens must not be readable on the way.

    Raises `AccessError`.
    """
    if is_loopback(host) or (access.cert and (access.token_file or access.client_ca)):
        return
    raise AccessError(
        f"{host} can be reached from other machines: give --cert and --key, so that no one can read "
        "tokens and payloads on the way, or listen on 127.0.0.1"
    )


def has_token(headers: Headers, tokens: Sequence[bytes]) -> bool:
    """Return True if the only Authorization header has one of the tokens. Compares in constant time."""
    given = [value for name, value in headers if name == b"authorization"]
    if len(given) != 1:
        return False
    scheme, _, said = given[0].partition(b" ")
    found = [hmac.compare_digest(said.strip(), each) for each in tokens]
    return scheme.lower() == b"bearer" and any(found)


def from_browser(headers: Headers) -> bool:
    """Return True for requests of browsers: pages that a user visits must not be able to ask."""
    return any(name in (b"origin", b"sec-fetch-site") for name, _ in headers)
