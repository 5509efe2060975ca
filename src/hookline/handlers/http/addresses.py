"""Check the addresses that an http hook may connect to: this machine, and the public internet.

The address that is connected to is checked, never the text of a host name: `127.1`, `0x7f000001` or a name
that resolves differently the second time are treated as what they resolve to.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

#: Networks a hook may connect to if its entry says `private = true`; never link-local addresses, where clouds
#: keep secrets.
_PRIVATE: Final = tuple(
    map(ipaddress.ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"))
)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

#: Returns every address of a host name and port, as text. OSError when there is none.
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]

_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
_LOW_32: Final = 0xFFFF_FFFF

#: Not for the public internet, though some versions of Python call them global.
_SPECIAL: Final = tuple(
    (ipaddress.ip_network(network), what)
    for network, what in (
        ("100.64.0.0/10", "shared by carriers (CGNAT)"),
        ("192.0.0.0/24", "reserved"),
        ("192.88.99.0/24", "reserved"),
        ("198.18.0.0/15", "reserved"),
        ("::/96", "reserved"),
        ("64:ff9b:1::/48", "a local translation prefix (NAT64)"),
        ("100::/64", "reserved"),
        ("2001::/23", "reserved"),
        ("2001:db8::/32", "reserved"),
        ("3fff::/20", "reserved"),
        ("5f00::/16", "reserved"),
        ("fec0::/10", "site-local"),
    )
)

#: Checked in this order; the first match names the kind of an address.
_KINDS: Final = (
    ("is_unspecified", "unspecified"),
    ("is_multicast", "multicast"),
    ("is_link_local", "link-local"),
)


class RefusedAddressError(Exception):
    """A host resolves to an address that no hook may connect to."""


async def resolve(host: str, port: int) -> Sequence[str]:
    """Resolve all addresses of a host, once, by the system."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:  # a label that is empty or too long
        raise OSError("the host name cannot be looked up") from error
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


def is_loopback(host: str) -> bool:
    """Return True if a host is this machine by its text alone: an address, or the one name that nothing else
    may have."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_addresses(addresses: Sequence[str], *, loopback_only: bool, private: bool = False) -> list[str]:
    """Return the same addresses, as text to connect to, when all of them are allowed."""
    usable: list[str] = []
    for text in addresses:
        try:
            address = unmapped(ipaddress.ip_address(text))
        except ValueError as error:
            raise RefusedAddressError("it resolves to something that is not an address") from error
        reason = refusal(address, private=private)
        if reason is not None:
            raise RefusedAddressError(f"{text} is {reason}, {_why(address)}")
        if loopback_only and not address.is_loopback:
            raise RefusedAddressError(f"{text} is another machine, and http:// is only for this one")
        usable.append(str(address))
    return usable


def refusal(address: Address, *, private: bool = False) -> str | None:
    """Return the kind of an address that hooks must not connect to, or None."""
    if address.is_loopback or (private and _is_private(address)):
        return None
    for attribute, what in _KINDS:
        if getattr(address, attribute):
            return what
    embedded = _embedded(address)
    if embedded is not None:
        way, inner = embedded
        # Loopback too: at the far end of a tunnel it is another machine.
        what = "loopback" if inner.is_loopback else refusal(inner)
        return f"{way} of {inner}, which is {what}" if what is not None else None
    for network, what in _SPECIAL:
        if address.version == network.version and address in network:
            return what
    if address.is_private:
        return "private"
    return None if address.is_global and not address.is_reserved else "reserved"


def _is_private(address: Address) -> bool:
    return any(address.version == network.version and address in network for network in _PRIVATE)


def _why(address: Address) -> str:
    if _is_private(address):
        return "and hooks may not talk to such addresses unless their entry says private = true"
    return "and hooks may not talk to such addresses"


def unmapped(address: Address) -> Address:
    """Return `127.0.0.1` for `::ffff:127.0.0.1`: that is what the system connects to."""
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def _embedded(address: Address) -> tuple[str, ipaddress.IPv4Address] | None:
    """Return the IPv4 address that a tunnel or translator would take this one to, and the kind of tunnel."""
    if not isinstance(address, ipaddress.IPv6Address):
        return None
    if address in _NAT64:
        return "the NAT64 form", ipaddress.IPv4Address(int(address) & _LOW_32)
    if address.sixtofour is not None:
        return "the 6to4 form", address.sixtofour
    if address.teredo is not None:
        return "the Teredo form", address.teredo[1]
    if (int(address) >> 32) & 0xFDFF_FFFF == 0x0000_5EFE:
        return "the ISATAP form", ipaddress.IPv4Address(int(address) & _LOW_32)
    return None


def literal_refusal(host: str, *, private: bool = False) -> str | None:
    """Return why a host that is written as an address is refused; None for names, which are checked when resolved."""
    try:
        address = unmapped(ipaddress.ip_address(host))
    except ValueError:
        return None
    what = refusal(address, private=private)
    return f"{host} is {what}, {_why(address)}" if what is not None else None
