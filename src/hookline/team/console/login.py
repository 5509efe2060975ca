"""Log users in: tokens that are good for one login, and the cookies that they are exchanged for."""

import hmac
import os
import secrets
import threading
from collections.abc import Callable
from html import escape
from typing import Final

from hookline.config.console_address import login_file
from hookline.trust.store import replace_file

#: Logins that are remembered; the oldest is forgotten.
_MOST: Final = 100


class Logins:
    """Logins by one token at a time, good for one login. It is in a file that only this user can read."""

    def __init__(self, directory: str, address: str, port: int, say: Callable[[str], None]) -> None:
        """Write the first token. Raises OSError if the file cannot be written."""
        self._say = say
        self.file = login_file(directory, port)
        #: Cookies ignore ports, so each port has its own name.
        self.cookie = f"hookline-console-{port}"
        self._address = address
        self._lock = threading.Lock()
        self._token = ""
        self._sessions: dict[str, None] = {}
        self._renew()

    @property
    def link(self) -> str:
        return f"{self._address}/login?token={self._token}"

    def exchange(self, token: str) -> str | None:
        """Exchange a token for the value of a cookie; None: the token is not valid."""
        with self._lock:
            if not token or not hmac.compare_digest(token.encode(), self._token.encode()):
                return None
            session = secrets.token_urlsafe(32)
            self._sessions[session] = None
            while len(self._sessions) > _MOST:
                del self._sessions[next(iter(self._sessions))]
            try:
                self._renew()
            except OSError as problem:  # this login is good all the same
                self._say(
                    f"{self.file} cannot be written ({problem.strerror}): start the console again for another login"
                )
            return session

    def form_token(self, session: str) -> str:
        """Return the word that a form of this login must send: a page that cannot read ours cannot know it."""
        return hmac.new(session.encode(), b"form", "sha256").hexdigest()

    def is_known(self, session: str) -> bool:
        with self._lock:
            given = session.encode()
            return any(hmac.compare_digest(given, known.encode()) for known in self._sessions)

    def _renew(self) -> None:
        """Make a new token and write a page that leads to the login: a browser is started with the file's
        name, so that the token is in no list of processes.
        """
        self._token = secrets.token_urlsafe(32)
        replace_file(self.file, _PAGE.format(link=escape(self.link)).encode())

    def close(self) -> None:
        _remove(self.file)


_PAGE: Final = """<!doctype html>
<meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={link}">
<title>Hookline console</title>
<a href="{link}">Open the console</a>
"""


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
