import ipaddress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.handlers.http.addresses import RefusedAddressError, check_addresses, refusal, unmapped
from tests.every import every

V4 = st.ip_addresses(v=4)
V6 = st.ip_addresses(v=6)


def embedded_forms(inner: ipaddress.IPv4Address) -> list[ipaddress.IPv6Address]:
    number = int(inner)
    return [
        ipaddress.IPv6Address((0x0064_FF9B << 96) | number),
        ipaddress.IPv6Address((0x2002 << 112) | (number << 80)),
        ipaddress.IPv6Address((0x2001_0000 << 96) | (number ^ 0xFFFF_FFFF)),
        ipaddress.IPv6Address((0x2606_4700 << 96) | (0x5EFE << 32) | number),
    ]


@settings(deadline=None)
@given(V4)
def test_a_tunnel_to_a_forbidden_address_is_forbidden(inner: ipaddress.IPv4Address) -> None:
    if inner.is_loopback or refusal(inner) is not None:
        assert all(refusal(form) is not None for form in embedded_forms(inner))


@settings(deadline=None)
@given(st.one_of(V4, V6))
def test_what_python_calls_anything_but_global_is_refused_unless_loopback(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    plain = unmapped(address)
    if refusal(plain) is None:
        assert plain.is_loopback or (plain.is_global and not plain.is_multicast and not plain.is_private)


@settings(deadline=None)
@given(V4)
def test_a_mapped_address_is_judged_as_the_one_it_maps(inner: ipaddress.IPv4Address) -> None:
    mapped = ipaddress.IPv6Address(f"::ffff:{inner}")
    assert unmapped(mapped) == inner


@pytest.mark.parametrize(
    "text", ["1.1.1.1", "8.8.8.8", "93.184.215.14", "2606:4700::1111", "64:ff9b::808:808"]
)
def test_public_addresses_are_allowed(text: str) -> None:
    assert check_addresses([text], loopback_only=False) == [str(ipaddress.ip_address(text))]


@every(
    ("text", "kind"),
    [
        ("10.0.0.1", "private"),
        ("169.254.169.254", "link-local"),
        ("100.64.0.1", "CGNAT"),
        ("224.0.0.1", "multicast"),
        ("0.0.0.0", "unspecified"),
        ("64:ff9b::a00:1", "the NAT64 form of 10.0.0.1, which is private"),
        ("2002:7f00:1::", "the 6to4 form of 127.0.0.1, which is loopback"),
        ("fe80::1%eth0", "link-local"),
    ],
)
def test_a_refusal_says_what_kind_of_address_it_is(text: str, kind: str) -> None:
    with pytest.raises(RefusedAddressError, match=kind):
        check_addresses([text], loopback_only=False)


@settings(deadline=None)
@given(st.text(max_size=40))
def test_what_a_resolver_makes_up_is_refused(text: str) -> None:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        with pytest.raises(RefusedAddressError):
            check_addresses(["127.0.0.1", text], loopback_only=False)


@every(
    ("text", "fine"),
    [
        ("10.0.0.5", True),
        ("172.31.255.1", True),
        ("192.168.1.1", True),
        ("fd12::1", True),
        ("::ffff:10.0.0.5", True),
        ("169.254.169.254", False),
        ("fe80::1", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("192.0.2.1", False),
        ("64:ff9b::a00:5", False),
    ],
)
def test_an_entry_that_says_private_reaches_private_networks_and_no_other(text: str, fine: bool) -> None:
    if fine:
        assert check_addresses([text], loopback_only=False, private=True)
        with pytest.raises(RefusedAddressError, match="private = true"):
            check_addresses([text], loopback_only=False)
    else:
        with pytest.raises(RefusedAddressError):
            check_addresses([text], loopback_only=False, private=True)
