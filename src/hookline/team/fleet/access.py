"""Authenticate this machine to the fleet's server and the server to this machine, and explain failed
connections.

Secrets are in separate files, which are read for each connection: they may be renewed meanwhile.
"""

import logging
import ssl
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final
from urllib.parse import urlsplit

from hookline.extras import how_to_add
from hookline.handlers.http.addresses import is_loopback
from hookline.journal.secret_file import read_secret
from hookline.model.errors import HooklineError
from hookline.team.fleet.settings import FleetSettings

#: Marks of a credentials file as `nsc` makes it. Without the first one the client would search without end.
_CREDENTIALS: Final = ("BEGIN NATS USER JWT", "BEGIN USER NKEY SEED")
_PROOFS: Final = "credentials, nkey, user or token_file"


class FleetError(HooklineError):
    """An error of the server: it cannot be reached, or refuses; the message says why."""


class MissingExtraError(HooklineError):
    """An error for the missing client package: retrying does not help."""


def new_client(settings: FleetSettings) -> Any:
    """Return a client that is not connected. Where TLS is needed, it sends nothing to a server without TLS."""
    try:
        from nats.aio.client import Client  # noqa: PLC0415 heavy, and of an extra
        from nats.errors import SecureConnWantedError  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError(f"the fleet needs the extra fleet: {how_to_add('fleet')}") from None

    class Careful(Client):
        """A client that insists on TLS. Otherwise the server chooses, even one that only pretends to be ours."""

        def _connect_command(self) -> bytes:
            server: Any = self._current_server
            if needs_tls(settings, server.uri.geturl()) and not self._server_info.get("tls_required"):
                raise SecureConnWantedError
            return super()._connect_command()

        @property
        def wants_certificate(self) -> bool:
            """True if the server said that machines need a certificate. If it rejects ours, it only hangs up."""
            return bool(self._server_info.get("tls_verify"))

    logging.getLogger("asyncio").addFilter(_is_news)
    return Careful()


def _is_news(record: logging.LogRecord) -> bool:
    """Drop a log record that the client's way to start TLS causes at the end of each connection."""
    return "eof_received() has no effect when using ssl" not in record.getMessage()


def _why_tls(settings: FleetSettings) -> str:
    if settings.ca or settings.certificate or any(each.startswith("tls:") for each in settings.servers):
        return "ca, certificate and tls:// ask for it"
    return "a password or token needs it, unless the server is on this machine"


def needs_tls(settings: FleetSettings, address: str) -> bool:
    """Return True where the settings name TLS, or a password would leave this machine."""
    found = urlsplit(address)
    secret = bool(settings.password_file or settings.token_file)
    return (
        any(urlsplit(each).scheme == "tls" for each in settings.servers)
        or bool(settings.ca or settings.certificate)
        or (secret and not is_loopback(found.hostname or ""))
    )


def client_options(settings: FleetSettings) -> Mapping[str, Any]:
    """Return the client options that authenticate this machine. Raises FleetError if a file cannot be used."""
    options: dict[str, Any] = {}
    if settings.credentials:
        text = _secret(settings, "credentials")
        if not all(each in text for each in _CREDENTIALS):
            raise _unusable(settings, "credentials", "it is not a credentials file as `nsc` makes them")
        options["user_credentials"] = settings.credentials
    if settings.nkey:
        options["nkeys_seed_str"] = _seed(settings)
    if settings.user:
        options |= {"user": settings.user, "password": _secret(settings, "password_file")}
    if settings.token_file:
        options["token"] = _secret(settings, "token_file")
    if settings.key:
        _secret(settings, "key")  # which others can read as little
    if settings.ca or settings.certificate:
        options["tls"] = _tls(settings)
    return options


def _seed(settings: FleetSettings) -> str:
    nkeys: Any = import_module("nkeys")  # of the extra
    seed = _secret(settings, "nkey")
    try:
        nkeys.from_seed(bytearray(seed.encode())).wipe()
    except Exception:  # noqa: BLE001 the library raises whatever its parts do
        raise _unusable(settings, "nkey", "it is not the seed of a user (SU...)") from None
    return seed


def _secret(settings: FleetSettings, key: str) -> str:
    try:
        text = read_secret(getattr(settings, key))
    except (OSError, ValueError) as problem:
        raise _unusable(settings, key, getattr(problem, "strerror", None) or str(problem)) from None
    if not text:
        raise _unusable(settings, key, "it is empty")
    return text


def _tls(settings: FleetSettings) -> ssl.SSLContext:
    key = "ca"
    try:
        context = ssl.create_default_context(cafile=settings.ca or None)
        key = "certificate"
        if settings.certificate:
            # A key with a password would be asked for at the terminal.
            context.load_cert_chain(settings.certificate, settings.key or None, password="")
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else ""
        raise _unusable(settings, key, why or str(problem)) from None
    return context


def _unusable(settings: FleetSettings, key: str, why: str) -> FleetError:
    return FleetError(f"{settings.position(key)}: {key}: {getattr(settings, key)} cannot be used: {why}")


def why_refused(problem: Exception, settings: FleetSettings, *, wants_certificate: bool = False) -> str:
    """Explain why the connection failed, and what to do."""
    text = str(problem).strip()
    small, proof = text.lower(), _proof(settings)
    place = settings.position("ca" if settings.ca else "servers")
    believed = getattr(problem, "verify_message", "")
    rows = (
        (isinstance(problem, TimeoutError), "no answer in time"),
        (isinstance(problem, ConnectionRefusedError), "nothing listens there"),
        (
            "secure connection not available" in small,
            f"it offers no TLS, so nothing was sent: {_why_tls(settings)} ({place})",
        ),
        ("authorization violation" in small or "authorization failed" in small, f"it refuses {proof}"),
        (
            "authentication expired" in small or "authentication revoked" in small,
            f"{proof} are not valid any more: get new ones",
        ),
        (
            isinstance(problem, ssl.SSLCertVerificationError),
            f"its certificate is not trusted: {believed}; check ca and the name of the server ({place})",
        ),
        (
            wants_certificate and isinstance(problem, OSError),
            f"it requires a certificate of this machine that it trusts: set certificate and key ({place})",
        ),
    )
    return next((words for holds, words in rows if holds), text or type(problem).__name__)


def _proof(settings: FleetSettings) -> str:
    """Describe the credentials that were sent, where they come from, and the alternative."""
    for key, words in (
        ("credentials", "the credentials in {}"), ("nkey", "the nkey in {}"), ("token_file", "the token in {}"),
    ):  # fmt: skip
        if getattr(settings, key):
            return f"{words.format(getattr(settings, key))} ({settings.position(key)})"
    if settings.user:
        return f"the user {settings.user} with the password in {settings.password_file} ({settings.position('user')})"
    if settings.certificate:
        return f"the certificate {settings.certificate} ({settings.position('certificate')})"
    return f"machines without credentials: set {_PROOFS} ({settings.position('servers')})"
