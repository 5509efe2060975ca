"""Cache what scripts answered in earlier backtests, by their bytes and their input, in the user's state.

It is a SQLite file because two processes write it at once. If anything is wrong with it, scripts are run
again.
"""

import os
import sqlite3
from collections.abc import Mapping
from contextlib import suppress

import msgspec

from hookline.journal.file import state_dir
from hookline.model.raw import Exited

_FILE = "backtest.sqlite"
#: Longer answers are not kept, nor more of them.
_LONGEST = 64 * 1024
_MOST = 200_000
_BUSY_SECONDS = 5.0
#: Answers between two writes to the disk.
_AT_ONCE = 200


class AnswerCache:
    """Answers of scripts that outlive the process. Its methods never raise."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._path = os.path.join(state_dir(env), _FILE)
        self._database: sqlite3.Connection | None = None
        self._off = False
        self._waiting = 0

    def get(self, key: bytes) -> Exited | None:
        database = self._open()
        if database is None:
            return None
        try:
            row = database.execute("select answer from answers where question = ?", (key,)).fetchone()
            return msgspec.msgpack.decode(row[0], type=Exited) if row is not None else None
        except (sqlite3.Error, msgspec.DecodeError):
            return None

    def put(self, key: bytes, answer: Exited) -> None:
        database = self._open()
        content = msgspec.msgpack.encode(answer)
        if database is None or len(content) > _LONGEST or answer.truncated:
            return
        try:
            database.execute("insert or replace into answers values (?, ?)", (key, content))
            self._waiting += 1
            if self._waiting >= _AT_ONCE:
                self.keep()
        except sqlite3.Error:
            self._off = True

    def keep(self) -> None:
        """Commit new answers."""
        if self._database is not None and self._waiting:
            self._waiting = 0
            with suppress(sqlite3.Error):
                self._database.commit()

    def close(self) -> None:
        self.keep()
        if self._database is not None:
            self._database.close()
            self._database = None

    def _open(self) -> sqlite3.Connection | None:
        if self._database is not None or self._off:
            return self._database
        try:
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            # Readable by the owner alone: hooks may print secrets.
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
            self._database = sqlite3.connect(self._path, timeout=_BUSY_SECONDS)
            self._database.execute(
                "create table if not exists answers (question blob primary key, answer blob) without rowid"
            )
            if self._database.execute("select count(*) from answers").fetchone()[0] > _MOST:
                self._database.execute("delete from answers")
        except (OSError, sqlite3.Error):
            self._off = True
            self._database = None
        return self._database
