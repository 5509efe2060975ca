"""One figure: what was measured, what was wanted, and whether it holds."""

from msgspec import Struct


class Finding(Struct, frozen=True):
    name: str
    measured: str
    goal: str
    ok: bool

    def __str__(self) -> str:
        return f"{self.name}: {self.measured} ({self.goal}) {'ok' if self.ok else 'MISSED'}"
