"""Header values with variables, and what may be in them."""

import re
from collections.abc import Callable, Mapping
from typing import Final

_VARIABLE: Final = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")
_LONGEST: Final = 16 * 1024

#: Framing, routing and identity of the request are ours; a hook that could set them could smuggle requests.
NOT_SETTABLE: Final = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "expect",
        "host",
        "http2-settings",
        "idempotency-key",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)


class HeaderError(ValueError):
    """Why a header cannot be sent. The text names the header, never its value."""


def check_names(headers: Mapping[str, str]) -> None:
    """Refuse names that are no header names, that are ours, or that stand twice in different case."""
    seen: set[str] = set()
    for name in headers:
        lowered = name.lower()
        if _NAME.fullmatch(name) is None:
            raise HeaderError(f"{name[:80]!r} is not a header name")
        if lowered in NOT_SETTABLE:
            raise HeaderError(f"the header {name} cannot be set by a hook")
        if lowered in seen:
            raise HeaderError(f"the header {name} is set twice")
        seen.add(lowered)


def filled_values(headers: Mapping[str, str], variable: Callable[[str], str]) -> list[tuple[bytes, bytes]]:
    """The headers as they are sent: variables replaced in one pass, then every value checked."""
    filled: list[tuple[bytes, bytes]] = []
    for name, template in headers.items():
        value = _VARIABLE.sub(lambda found: variable(found[1] or found[2]), template).strip(" ")
        if len(value) > _LONGEST or not value.isascii() or not value.isprintable():
            raise HeaderError(f"the value of the header {name} has characters that cannot be sent")
        filled.append((name.encode(), value.encode()))
    return filled
