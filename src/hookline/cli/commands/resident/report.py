"""Show the daemon's status, and that it serves another home directory."""

import time

from hookline.config.home import Home
from hookline.resident.server import Status


def other_home(status: Status, home: str) -> str | None:
    """Return what follows if the daemon serves another home directory than this one; None if it does not."""
    if not status.home or Home(home).is_at(status.home):
        return None
    return (
        f"the running daemon serves {status.home}, and your home directory is {home}: each call of your agents starts "
        "Hookline anew"
    )


def as_text(status: Status | None, log: str) -> str:
    if status is None:
        return (
            "no resident is running: calls are answered by processes of their own\n"
            "start it with `hookline resident start`; a relay starts it by itself"
        )
    lines = [
        f"the resident is running{', and takes no more calls' if status.draining else ''}",
        f"  process   {status.pid}, version {status.version}",
        f"  since     {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(status.since))}",
        f"  calls     {status.calls:,} answered, {status.refused:,} left to other processes",
        f"  now       {status.running} under way",
        f"  sessions  {status.sessions:,} remembered",
        f"  ends      after {status.idle_seconds:.0f} s without a call",
        f"  home      {status.home}",
        f"  log       {log}",
    ]
    if status.http is not None:
        lines.append(f"  http      {status.http}")
    return "\n".join(lines)
