"""Sessions and wakes in the user's queue, as far as other machines are concerned.

A wake is in the file of one machine at a time, as sessions see it: one that goes to another machine is marked first,
and from then on no session here sees it; it is removed when the other machine has said that it has it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from hookline.durable.file import insert_wakes
from hookline.durable.owner import is_gone, now
from hookline.durable.port import Wake
from hookline.fleet.jobs.files import Outbox

if TYPE_CHECKING:
    from sqlite3 import Connection

#: Listeners whose process is gone, and that nothing waits for.
_IDLE: Final = (
    "NOT EXISTS (SELECT 1 FROM wake WHERE wake.session = listener.session AND seen IS NULL)"
    " AND NOT EXISTS (SELECT 1 FROM job WHERE job.session = listener.session AND settled IS NULL)"
)


class Listener(Struct, frozen=True):
    """A session that a process of this machine tells what comes for it."""

    session: str
    owner: str
    #: The revision by which this machine has the session; None: it is yet to be claimed.
    claimed: int | None
    #: The machine that has taken it over.
    elsewhere: str | None

    @property
    def alive(self) -> bool:
        return not is_gone(self.owner)


class Leaving(Struct, frozen=True):
    """A wake on its way to another machine."""

    wake: Wake
    machine: str


class WakeFile(Outbox):
    """The user's queue, with what it knows of sessions and wakes elsewhere."""

    def listeners(self) -> Sequence[Listener]:
        """Of sessions that are open here, or that something waits for; the others are forgotten."""

        def look(connection: "Connection") -> list[Listener]:
            found = [
                Listener(*row)
                for row in connection.execute(
                    "SELECT session, owner, claimed, elsewhere FROM listener"
                ).fetchall()
            ]
            idle = {
                row[0]
                for row in connection.execute(f"SELECT session FROM listener WHERE {_IDLE}").fetchall()  # noqa: S608 our own words
            }
            gone = [each for each in found if each.session in idle and not each.alive]
            for each in gone:
                connection.execute(
                    f"DELETE FROM listener WHERE session = ? AND owner = ? AND {_IDLE}",  # noqa: S608 as above
                    (each.session, each.owner),
                )
            return [each for each in found if each not in gone]

        return self._do(look)

    def claimed(self, listener: Listener, revision: int) -> None:
        """The session is this machine's, by that revision."""
        self._listener(listener, "claimed = ?, elsewhere = NULL", revision)

    def moved(self, listener: Listener, machine: str) -> None:
        """Another machine has taken the session over. A process here that listens anew takes it back."""
        self._listener(listener, "elsewhere = ?", machine)

    def _listener(self, listener: Listener, change: str, value: object) -> None:
        self._do(
            lambda connection: connection.execute(
                f"UPDATE listener SET {change} WHERE session = ? AND owner = ?",  # noqa: S608 our own words
                (value, listener.session, listener.owner),
            )
        )

    def send_away(self, listener: Listener) -> None:
        """What the session has not seen goes to the machine that has it. No process here may be telling it."""
        self._do(
            lambda connection: connection.execute(
                "INSERT OR IGNORE INTO away (id, session, machine) SELECT id, session, ? FROM wake"
                " WHERE session = ? AND seen IS NULL",
                (listener.elsewhere, listener.session),
            )
        )

    def leaving(self) -> Sequence[Leaving]:
        """What is to be sent, or asked about."""
        rows = self._do(
            lambda connection: connection.execute(
                "SELECT away.id, away.session, body, machine FROM away JOIN wake USING (id)"
                " WHERE NOT (due BETWEEN ? AND ?) ORDER BY n LIMIT 64",
                (now(), now() + 3600),
            ).fetchall()
        )
        return [Leaving(Wake(id=i, session=s, body=bytes(body)), machine) for i, s, body, machine in rows]

    def redirect(self, wake_id: str, machine: str) -> None:
        self._do(
            lambda connection: connection.execute(
                "UPDATE away SET machine = ?, due = 0 WHERE id = ?", (machine, wake_id)
            )
        )

    def look_again(self, wake_id: str, seconds: float) -> None:
        self._do(
            lambda connection: connection.execute(
                "UPDATE away SET due = ? WHERE id = ?", (now() + seconds, wake_id)
            )
        )

    def left(self, wake_id: str) -> None:
        """The other machine has it."""

        def left(connection: "Connection") -> None:
            connection.execute("DELETE FROM wake WHERE id = ?", (wake_id,))
            connection.execute("DELETE FROM away WHERE id = ?", (wake_id,))

        self._write(left)

    def stays(self, wake_id: str) -> None:
        """It is for a session of this machine after all."""
        self._do(lambda connection: connection.execute("DELETE FROM away WHERE id = ?", (wake_id,)))

    def arrived(self, wake: Wake) -> None:
        """A wake that another machine had: it is there when this returns, and told once, however often it comes."""
        self._write(lambda connection: insert_wakes(connection, [wake]))
