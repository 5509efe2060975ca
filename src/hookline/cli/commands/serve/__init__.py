"""Serve decisions over HTTP: `hookline serve`."""

from typing import Any

from hookline.cli.main import (
    add_json_option,
    add_model_option,
    add_operations_options,
    add_source_options,
    command_parser,
)

_DESCRIPTION = """Answer http hooks of other machines with the hooks configured here: for guards that need central
state, such as a budget of the team or a list that changes every hour. Other guards belong on the machines
themselves, where they decide in microseconds and without a network.

Callers need the token, or with --client-ca a certificate. It only listens beyond 127.0.0.1 with TLS. Each
decision has an id, which is in the answer and in both journals. If a caller gets no answer in time, on_failure
of its entry decides; guards are closed by default."""

_EPILOG = """examples:
  hookline serve                                             on 127.0.0.1:8978, with the hooks of this directory
  hookline serve --config guards.toml --deadline 0.5
  hookline serve --host 0.0.0.0 --cert server.pem --key server.key
  hookline serve --host 10.0.0.5 --cert server.pem --key server.key --client-ca callers.pem

an entry that asks it:
  { type = "http", url = "http://127.0.0.1:8978/v1/decide", timeout = 1,
    headers = { Authorization = "Bearer ${GUARD_TOKEN}" }, allowedEnvVars = ["GUARD_TOKEN"] }

signals: TERM and INT finish running decisions and end it, HUP reloads hooks, tokens and certificate
exit status: 0 it was stopped, 1 it could not be started"""


def add_parser(commands: Any) -> None:
    parser = command_parser(commands, "serve", _DESCRIPTION, _EPILOG)
    add_source_options(parser)
    add_model_option(parser)
    parser.add_argument("--host", metavar="ADDRESS", default="127.0.0.1", help="where to listen (127.0.0.1)")
    parser.add_argument("--port", metavar="N", type=int, default=8978, help="8978; 0: any that is free")
    parser.add_argument("--share-port", action="store_true", help="let several servers listen on the port")
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        help="the token of callers, or two of them in two lines; made if it is not there (default: the user's)",
    )
    parser.add_argument("--cert", metavar="FILE", help="the certificate of this server")
    parser.add_argument("--key", metavar="FILE", help="its key, if that is in a separate file")
    parser.add_argument("--client-ca", metavar="FILE", help="callers need a certificate signed by this one")
    parser.add_argument(
        "--deadline", metavar="SECONDS", type=float, default=0.2, help="time for one decision (0.2)"
    )
    parser.add_argument("--at-once", metavar="N", type=int, default=64, help="decisions made at once (64)")
    parser.add_argument("--queue", metavar="N", type=int, default=256, help="decisions that wait (256)")
    parser.add_argument(
        "--per-caller", metavar="N", type=int, default=128, help="requests of one address at once (128)"
    )
    parser.add_argument(
        "--deny-seconds", metavar="N", type=int, default=5, help="callers may repeat a denial this long (5)"
    )
    parser.add_argument(
        "--allow-seconds",
        metavar="N",
        type=int,
        default=0,
        help="and anything else this long (0: ask every time)",
    )
    add_operations_options(parser)
    add_json_option(parser, "print its start and end as JSON lines")
