"""Hold both relays to the table of options of `hookline hook`."""

from hookline.config.commands import HOOK_OPTIONS
from hookline.hook.daemon.calls import read_call
from tests.every import every
from tests.hook.relay.options import spellings
from tests.hook.relay.programs import Relay
from tests.hook.relay.server import Connection, answer, frame, serving


@every(("name", "words"), list(spellings()))
def test_both_relays_pass_on_every_call_with_options(relay: Relay, name: str, words: tuple[str, ...]) -> None:
    """And nothing that the daemon does not read."""

    def respond(connection: Connection) -> None:
        connection.request()
        connection.send(frame(b"A", answer(0, b"answered")))

    own = () if name == "--dialect" else ("--dialect", "native")
    line = ("hook", *words, *own, "PreToolUse")
    with serving(relay.directory, respond) as server:
        ran = relay.run(*line)
    asked = server.connections == 1
    assert asked is (read_call(line) is not None)
    assert asked is (
        HOOK_OPTIONS[name].field != "print_config" and (bool(HOOK_OPTIONS[name].value) or "=" not in line[1])
    )
    assert ran.stdout == (b"answered" if asked else b"")
