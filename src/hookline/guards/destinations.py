"""Tell addresses on this machine from those of other machines."""

from hookline.shell import HOLE

_NAMES = frozenset(("localhost", "::1", "0.0.0.0", "::", "host.docker.internal", "ip6-localhost"))  # noqa: S104
#: Schemes of addresses that are files or sockets here.
_HERE = ("file://", "unix://")


def is_local(address: str) -> bool:
    """Return True if a host, `host:port` or URL is on this machine, whatever comes before an `@` in it."""
    if address.startswith(_HERE):
        return True
    from urllib.parse import urlsplit  # noqa: PLC0415 few lines name an address

    # A placeholder for the port or the path leaves the host as it is.
    text = address.replace(HOLE, "1")
    try:
        parts = urlsplit(text if "://" in text else f"//{text}")
        host = (parts.hostname or "").rstrip(".")
        # Only a number is a port: `localhost:80:example.com:80` leads elsewhere.
        _ = parts.port
    except ValueError:
        return False
    numbers = host.split(".")
    return (
        host in _NAMES
        or host.endswith(".localhost")
        or (len(numbers) == 4 and numbers[0] == "127" and all(number.isdecimal() for number in numbers))
    )
