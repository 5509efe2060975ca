"""Show the daemon's status, and that it serves another home directory."""

import time

from hookline.config.home import Home
from hookline.hook.daemon.server import DaemonStatus


def other_home(status: DaemonStatus, home: str) -> str | None:
    """Explain the consequence if the daemon serves another home directory than this one; None if it does not."""
    if not status.home or Home(home).is_at(status.home):
        return None
    return (
        f"the running daemon serves {status.home}, and your home directory is {home}: each call of your agents starts "
        "Hookline anew"
    )


def as_text(status: DaemonStatus | None, log: str) -> str:
    if status is None:
        return (
            "daemon not running: each call starts a new process\n"
            "start it with `hookline daemon start`; a call by the relay starts it, too"
        )
    lines = [
        f"the daemon is running{', and takes no more calls' if status.draining else ''}",
        f"  process   {status.pid}, version {status.version}",
        f"  since     {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(status.since))}",
        f"  calls     {status.calls:,} answered, {status.refused:,} left to other processes",
        f"  now       {status.running} running",
        f"  sessions  {status.sessions:,} remembered",
        f"  ends      after {status.idle_seconds:.0f} s without a call",
        f"  home      {status.home}",
        f"  log       {log}",
    ]
    if status.http is not None:
        lines.append(f"  http      {status.http}")
    return "\n".join(lines)
