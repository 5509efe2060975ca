"""Find the console of this user, if one runs: its pages are linked from the journal and from denials."""

import os
import re
import socket
from collections.abc import Mapping
from typing import Final

from hookline.journal.file import state_dir

#: Loopback answers at once, or nothing listens there.
_PATIENCE_SECONDS: Final = 0.05
#: A login file that a console left behind is larger in no case.
_LARGEST: Final = 4096
_LINK: Final = r"url=(https?://[^/\"\s]+)/login\?"
_LOGIN: Final = r"login-\d{1,5}\.html"


def console_directory(env: Mapping[str, str], *, fleet: bool = False) -> str:
    """Return where a console keeps its index and its login. The fleet's has another index, because its runs differ."""
    return os.path.join(state_dir(env), "console-fleet" if fleet else "console")


def login_file(directory: str, port: int) -> str:
    """Return the page that leads to the login; it is there while the console of that port runs."""
    return os.path.join(directory, f"login-{port}.html")


def console_page(env: Mapping[str, str], path: str, **query: str) -> str:
    """Return the address of a page of this user's console; empty if none runs."""
    address = _running(console_directory(env))
    if not address:
        return ""
    from urllib.parse import urlencode  # noqa: PLC0415 a denial without a console must not wait for it

    given = {name: text for name, text in query.items() if text}
    return f"{address}{path}{'?' if given else ''}{urlencode(given)}"


def _running(directory: str) -> str:
    try:
        names = sorted(name for name in os.listdir(directory) if re.fullmatch(_LOGIN, name))
    except OSError:
        return ""
    for name in names:
        try:
            with open(os.path.join(directory, name), encoding="utf-8", errors="replace") as file:
                found = re.search(_LINK, file.read(_LARGEST))
        except OSError:
            continue
        if found is not None and _listens(found[1]):
            return found[1]
    return ""


def _listens(address: str) -> bool:
    """Return True if something listens there: a console that was killed leaves its file behind."""
    from urllib.parse import urlsplit  # noqa: PLC0415 as above

    parts = urlsplit(address)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=_PATIENCE_SECONDS):
            return True
    except (OSError, ValueError):
        return False
