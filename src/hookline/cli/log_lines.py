"""Write what a server does, as text for a person or as JSON for a collector of logs."""

import time
from collections.abc import Callable
from typing import Any, Literal

from hookline.cli.output import note
from hookline.model.safe_text import one_line

_LONGEST = 500


def log_lines(form: Literal["text", "json"], program: str) -> Callable[[str], None]:
    """Return a function that writes one line to standard error."""

    def say(text: str) -> None:
        text = one_line(text, _LONGEST)
        if form == "text":
            note(f"{program}: {text}")
            return
        from msgspec.json import encode

        at = time.time()
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{int(at % 1 * 1000):03}Z"
        line: dict[str, Any] = {"time": stamp, "program": program, "message": text}
        note(encode(line).decode())

    return say


def add_operations_options(parser: Any) -> None:
    """Add --ops-port, --ops-host and --log."""
    parser.add_argument(
        "--ops-port",
        metavar="N",
        type=int,
        help="answer /healthz, /readyz and /metrics there, without a token",
    )
    parser.add_argument(
        "--ops-host", metavar="ADDRESS", default="127.0.0.1", help="at this address (127.0.0.1)"
    )
    parser.add_argument(
        "--log", choices=("text", "json"), default="text", help="how to write what happens (default text)"
    )
