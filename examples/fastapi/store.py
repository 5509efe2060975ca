"""Keep conversations, and calls that wait for an approval, in a SQLite file that all processes of the server share."""

import json
import sqlite3
from typing import Any

_TABLES = """
CREATE TABLE IF NOT EXISTS conversations (key TEXT PRIMARY KEY, messages TEXT, hooks TEXT);
CREATE TABLE IF NOT EXISTS waiting (id TEXT PRIMARY KEY, key TEXT, record TEXT);
"""


class Conversation:
    def __init__(self, key: str, messages: list[dict[str, Any]], hooks: dict[str, Any] | None) -> None:
        self.key = key
        self.messages = messages
        #: The state of the hooks' session.
        self.hooks = hooks

    def say(self, role: str, *texts: str) -> None:
        self.messages += [{"role": role, "content": text} for text in texts]


class Store:
    def __init__(self, path: str) -> None:
        self._database = sqlite3.connect(path, timeout=30, isolation_level=None)
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.executescript(_TABLES)

    def conversation(self, key: str) -> Conversation:
        found = self._database.execute(
            "SELECT messages, hooks FROM conversations WHERE key = ?", (key,)
        ).fetchone()
        return (
            Conversation(key, json.loads(found[0]), json.loads(found[1]))
            if found
            else Conversation(key, [], None)
        )

    def keep(self, conversation: Conversation) -> None:
        row = (conversation.key, json.dumps(conversation.messages), json.dumps(conversation.hooks))
        self._database.execute("INSERT OR REPLACE INTO conversations VALUES (?, ?, ?)", row)

    def wait(self, key: str, call_id: str, record: str) -> None:
        self._database.execute("INSERT INTO waiting VALUES (?, ?, ?)", (call_id, key, record))

    def take(self, call_id: str, of: str) -> tuple[str, str] | None:
        """Return a call that waits, and its conversation; once, and only if its key begins so."""
        return self._database.execute(
            "DELETE FROM waiting WHERE id = ? AND substr(key, 1, ?) = ? RETURNING key, record",
            (call_id, len(of), of),
        ).fetchone()

    def close(self) -> None:
        self._database.close()


def open_store(path: str) -> Store:
    return Store(path)
