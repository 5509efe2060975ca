"""Servers that want to know who asks, machines that want to know whom they ask, and settings that are wrong."""

import asyncio
import base64
import json
import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from hookline.events import POST_TOOL_USE
from hookline.team.fleet.access import FleetError, needs_tls
from hookline.team.fleet.connection import connected
from hookline.team.fleet.settings import FleetSettings, SettingsError, read_settings
from hookline.team.fleet.worker import Worker
from tests.certificates import make_certificate
from tests.team.fleet.server import Server, home, needs_server
from tests.team.fleet.test_worker import agent, at_work, hooks, result
from tests.waiting import until

pytestmark = pytest.mark.unmeasured

nkeys: Any = pytest.importorskip("nkeys")


@contextmanager
def serving(directory: Path, config: str) -> Generator[Server]:
    server = Server(directory / "server", config)
    try:
        yield server
    finally:
        server.kill()


def secret(file: Path, text: str) -> str:
    file.write_text(text)
    file.chmod(0o600)
    return str(file)


def joined(directory: Path, server: Server, /, **settings: object) -> str:
    """Return the message of a connection with these settings, or nothing."""
    name = f"m{len(list(directory.iterdir()))}"

    async def main() -> None:
        async with connected(read_settings(home(directory, name, server, "", **settings))) as fleet:
            await fleet.prepare()

    try:
        asyncio.run(main())
    except FleetError as problem:
        return str(problem).replace(f"{directory / name}/.config/hookline/", "")
    return ""


# The client leaves the transport of a handshake that failed to the garbage collector, which warns of it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@needs_server
def test_tls_and_passwords(tmp_path: Path) -> None:
    for name, signer in (("ca", None), ("server", "ca"), ("machine", "ca"), ("other", None)):
        make_certificate(tmp_path, name, signer)
    ca, other = str(tmp_path / "ca.crt"), str(tmp_path / "other.crt")
    right = {"user": "ann", "password_file": secret(tmp_path / "right", "let-me-in\n")}
    wrong = {"user": "ann", "password_file": secret(tmp_path / "wrong", "let-me-out\n")}
    config = (
        f'tls {{ cert_file: "{tmp_path}/server.crt", key_file: "{tmp_path}/server.key" }}\n'
        'authorization { users: [{user: ann, password: "let-me-in"}] }\n'
    )
    with serving(tmp_path, config) as server:
        secured = f"tls://127.0.0.1:{server.port}"
        env = home(tmp_path, "desk", server, "", server=secured, ca=ca, **right)
        command = [sys.executable, "-m", "hookline", "fleet", "status"]
        ran = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert joined(tmp_path, server, ca=ca, **right) == ""
        said = joined(tmp_path, server, ca=ca, **wrong)
        assert "cannot be reached: it refuses the user ann with the password in" in said
        assert "wrong (fleet.toml:4)" in said
        assert "let-me" not in said
        assert "it refuses machines without credentials: set credentials, nkey, user or token_file" in joined(
            tmp_path, server, ca=ca
        )
        said = joined(tmp_path, server, ca=other, **right)
        assert "its certificate is not trusted: unable to get local issuer certificate" in said
        assert "(fleet.toml:3)" in said
        assert "its certificate is not trusted" in joined(tmp_path, server, **right), (
            "the system's authorities"
        )
        (tmp_path / "right").chmod(0o604)
        said = joined(tmp_path, server, ca=ca, **right)
        assert said.startswith(f"fleet.toml:5: password_file: {tmp_path}/right cannot be used: ")
        assert "can be used by others" in said
        said = joined(
            tmp_path, server, ca=str(tmp_path / "none"), user="ann", password_file=wrong["password_file"]
        )
        assert said == f"fleet.toml:3: ca: {tmp_path}/none cannot be used: No such file or directory"


@needs_server
def test_certificates_of_machines(tmp_path: Path) -> None:
    for name, signer in (("ca", None), ("server", "ca"), ("machine", "ca"), ("other", None)):
        make_certificate(tmp_path, name, signer)
    tls = {"ca": str(tmp_path / "ca.crt")}
    config = f'tls {{ ca_file: "{tmp_path}/ca.crt", verify: true, cert_file: "{tmp_path}/server.crt", '
    with serving(tmp_path, config + f'key_file: "{tmp_path}/server.key" }}\n') as server:
        own = {"certificate": str(tmp_path / "machine.crt"), "key": str(tmp_path / "machine.key")}
        assert joined(tmp_path, server, **tls, **own) == ""
        assert joined(tmp_path, server, **tls, certificate=str(tmp_path / "machine.pem")) == ""
        for strange in ({}, {"certificate": str(tmp_path / "other.pem")}):
            said = joined(tmp_path, server, **tls, **strange)
            assert "it requires a certificate of this machine that it trusts: set certificate and key" in said
        mixed = {**own, "key": str(tmp_path / "other.key")}
        assert "certificate: " in joined(tmp_path, server, **tls, **mixed)


@needs_server
def test_tokens_and_keys(tmp_path: Path) -> None:
    token = secret(tmp_path / "token", "a-word-that-only-we-know")
    with serving(tmp_path, 'authorization { token: "a-word-that-only-we-know" }\n') as server:
        assert joined(tmp_path, server, token_file=token) == ""
        assert "it offers no TLS, so nothing was sent" in joined(
            tmp_path, server, server=f"tls://127.0.0.1:{server.port}", token_file=token
        )
        other = secret(tmp_path / "other", "guessed")
        assert f"it refuses the token in {other} (fleet.toml:3)" in joined(tmp_path, server, token_file=other)
        assert "token_file: " in joined(tmp_path, server, token_file=str(tmp_path / "none"))
    seed, public = keys(nkeys.PREFIX_BYTE_USER)
    with serving(tmp_path, f"authorization {{ users: [{{nkey: {public}}}] }}\n") as server:
        assert joined(tmp_path, server, nkey=secret(tmp_path / "seed", seed)) == ""
        stranger = secret(tmp_path / "stranger", keys(nkeys.PREFIX_BYTE_USER)[0])
        assert f"it refuses the nkey in {stranger}" in joined(tmp_path, server, nkey=stranger)
        assert "it is not the seed of a user" in joined(tmp_path, server, nkey=token)


def keys(prefix: int) -> tuple[str, str]:
    """The seed of a new key, and its public half."""
    seed = nkeys.encode_seed(os.urandom(32), prefix)
    return seed.decode(), nkeys.from_seed(bytearray(seed)).public_key.decode()


def signed(seed: str, issuer: str, subject: str, **claims: object) -> str:
    """A claim as `nsc` makes it."""
    body = {
        "iss": issuer,
        "sub": subject,
        "name": "x",
        "iat": int(time.time()),
        "nats": {**claims, "version": 2},
    }
    body["jti"] = sha256(json.dumps(body).encode()).hexdigest()
    head = {"typ": "JWT", "alg": "ed25519-nkey"}
    text = ".".join(_part(json.dumps(each).encode()) for each in (head, body))
    return f"{text}.{_part(nkeys.from_seed(bytearray(seed.encode())).sign(text.encode()))}"


def _part(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


@needs_server
def test_a_machine_that_is_refused_keeps_its_jobs_and_comes_in_with_a_right_token(tmp_path: Path) -> None:
    token = tmp_path / "token"

    async def main(server: Server) -> None:
        env = home(tmp_path, "alpha", server, hooks(tmp_path), token_file=secret(token, "guessed"))
        async with at_work(env) as said, agent(env, tmp_path) as engine:
            session = engine.session("s", cwd=tmp_path)
            await session.dispatch(POST_TOOL_USE, result())
            await until(lambda: said)
            assert [job.state for job in engine.jobs.queue.open_jobs("s")] == ["queued"]
            secret(tmp_path / "new", "known")
            os.replace(tmp_path / "new", token)
            assert await session.inbox.next_wake() is not None
            assert len(said) == 2
            assert "it refuses the token in" in said[0]
            assert "alpha is in the fleet" in said[1]

    with serving(tmp_path, "authorization { token: known }\n") as server:
        asyncio.run(main(server))


@needs_server
def test_too_few_rights_are_said_with_what_is_missing(tmp_path: Path) -> None:
    rights = 'permissions: {publish: {deny: ["$JS.API.>"]}}'
    password = secret(tmp_path / "password", "x")
    with serving(tmp_path, f"authorization {{ users: [{{user: ann, password: x, {rights}}}] }}\n") as server:
        said = joined(tmp_path, server, user="ann", password_file=password, timeout=0.5)
    assert (
        'denies this machine a permission: permissions violation for publish to "$js.api.stream'
        in said.lower()
    )


@needs_server
def test_a_server_without_streams_is_said(tmp_path: Path) -> None:
    server = Server(tmp_path / "server", streams=False)
    try:
        assert "has no JetStream" in joined(tmp_path, server)
    finally:
        server.kill()


@needs_server
def test_a_worker_with_too_few_rights_says_so_once(tmp_path: Path) -> None:
    """It comes in and is thrown out, again and again."""
    said: list[str] = []

    async def main(server: Server) -> None:
        password = secret(tmp_path / "password", "x")
        env = home(tmp_path, "alpha", server, "", user="ann", password_file=password)
        worker = Worker(read_settings(env), env, said.append)
        task = asyncio.ensure_future(worker.run())
        await until(lambda: worker._problems.count >= 3)  # pyright: ignore[reportPrivateUsage]
        task.cancel()
        await asyncio.wait({task})

    rights = 'permissions: {subscribe: {deny: ["hl.moved"]}}'
    with serving(tmp_path, f"authorization {{ users: [{{user: ann, password: x, {rights}}}] }}\n") as server:
        asyncio.run(main(server))
    denied = 'denies this machine a permission: permissions violation for subscription to "hl.moved"'
    assert sum(denied in line.lower() for line in said) == 1, said
    assert sum("alpha is in the fleet" in line for line in said) <= 2, said


@needs_server
def test_credentials(tmp_path: Path) -> None:
    operator, account, system, user = (
        keys(prefix)
        for prefix in (
            nkeys.PREFIX_BYTE_OPERATOR, nkeys.PREFIX_BYTE_ACCOUNT, nkeys.PREFIX_BYTE_ACCOUNT, nkeys.PREFIX_BYTE_USER,
        )
    )  # fmt: skip
    names = (
        "subs",
        "data",
        "payload",
        "imports",
        "exports",
        "conn",
        "leaf",
        "mem_storage",
        "disk_storage",
        "streams",
    )
    limits: dict[str, Any] = dict.fromkeys((*names, "consumer"), -1) | {"wildcards": True}
    accounts = {
        account[1]: signed(*operator, account[1], type="account", limits=limits),
        # Of the server itself: it may not use JetStream.
        system[1]: signed(*operator, system[1], type="account", limits={"conn": -1, "subs": -1}),
    }
    config = f"operator: {signed(*operator, operator[1], type='operator')}\nsystem_account: {system[1]}\n"
    preload = "\n".join(f"{public}: {claim}" for public, claim in accounts.items())
    config += f"resolver: MEMORY\nresolver_preload: {{\n{preload}\n}}\n"
    unlimited: dict[str, Any] = {"subs": -1, "data": -1, "payload": -1, "pub": {}, "sub": {}}

    def credentials(name: str, by: tuple[str, str]) -> str:
        claim = signed(*by, user[1], type="user", **unlimited)
        parts = (("NATS USER JWT", claim), ("USER NKEY SEED", user[0]))
        text = "".join(
            f"-----BEGIN {what}-----\n{value}\n------END {what}------\n\n" for what, value in parts
        )
        return secret(tmp_path / name, text)

    with serving(tmp_path, config) as server:
        assert joined(tmp_path, server, credentials=credentials("own.creds", account)) == ""
        strange = credentials("strange.creds", keys(nkeys.PREFIX_BYTE_ACCOUNT))
        assert f"it refuses the credentials in {strange} (fleet.toml:3)" in joined(
            tmp_path, server, credentials=strange
        )
        said = joined(tmp_path, server, credentials=secret(tmp_path / "empty.creds", "nothing\n"))
        assert "empty.creds cannot be used: it is not a credentials file" in said


@needs_server
def test_nothing_is_said_to_a_server_without_tls_where_tls_is_needed(tmp_path: Path) -> None:
    """The server says in clear text whether there is TLS: so anyone in between can say it."""
    make_certificate(tmp_path, "ca")
    heard: list[bytes] = []

    async def main() -> str:
        async def pretend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(
                b'INFO {"server_id":"x","version":"2.12.0","auth_required":true,"max_payload":1048576}\r\n'
            )
            heard.append(await reader.read(4096))
            writer.close()

        listening = await asyncio.start_server(pretend, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        file = tmp_path / "x/.config/hookline/fleet.toml"
        file.parent.mkdir(parents=True)
        file.write_text(
            f'server = "nats://127.0.0.1:{port}"\nca = "{tmp_path}/ca.crt"\nuser = "ann"\n'
            f'password_file = "{secret(tmp_path / "password", "let-me-in")}"\n'
        )
        async with listening:
            with pytest.raises(FleetError) as problem:
                async with connected(read_settings({"HOME": str(tmp_path / "x")})):
                    pass
            return str(problem.value)

    assert "it offers no TLS, so nothing was sent" in asyncio.run(main())
    assert heard
    assert b"".join(heard) == b""


@pytest.mark.parametrize(
    ("address", "settings", "needed"),
    [
        ("nats://10.0.0.1:4222", {}, False),
        ("nats://10.0.0.1:4222", {"credentials": "c"}, False),  # it signs, and says no secret
        ("nats://10.0.0.1:4222", {"token_file": "t"}, True),
        ("nats://nats.example", {"user": "ann", "password_file": "p"}, True),
        ("nats://127.0.0.1:4222", {"user": "ann", "password_file": "p"}, False),
        ("nats://[::1]:4222", {"token_file": "t"}, False),
        ("nats://localhost", {"ca": "c"}, True),
        ("nats://localhost", {"certificate": "c"}, True),
        ("tls://localhost", {}, True),
    ],
)
def test_where_tls_is_needed(address: str, settings: dict[str, Any], *, needed: bool) -> None:
    assert needs_tls(FleetSettings(servers=(address,), **settings), address) == needed


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name = "a"', "no server is set"),
        ('server = "nats://x"\nnmae = "a"', ":2: no field is called 'nmae'; did you mean name?"),
        ('server = "nats://x"\n\nslots = "8"', ":3: slots is text, not a whole number"),
        ('server = "nats://x"\nname = "a b"', ":2: name: 'a b' is not a valid machine name; only letters, digits"),
        ('server = "nats://x"\nslots = 0', ":2: slots: 0 cannot be used; at least 1"),
        ('server = "nats://x"\nlease = nan', ":2: lease: nan cannot be used; at least 1"),
        ('server = "nats://x"\nmask = ["hook"]', ":2: mask: a run has no field 'hook' that could be left out; one of "),
        ('server = ["nats://x", "http://y"]', ":1: server: 'http://y' is not a server address; nats://host:4222 or"),
        ('server = "nats://x:99999"', ":1: server: it is not an address"),
        ('server = "nats://me:hunter2@x"', ":1: server: an address has no password in it; write user and"),
        ('server = "nats://x"\nuser = "ann"', ":2: user has no effect without password_file; write both"),
        ('server = "nats://x"\nkey = "k"', ":2: key has no effect without certificate"),
        ('server = "nats://x"\nnkey = "k"\ncredentials = "c"', ":2: credentials and nkey both identify this machine"),
        ("server = ", "fleet.toml:1: "),
    ],
)  # fmt: skip
def test_settings_that_are_wrong_are_said_with_their_place(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / ".config/hookline/fleet.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    with pytest.raises(SettingsError, match=r"fleet\.toml") as problem:
        read_settings({"HOME": str(tmp_path)}, managed=str(tmp_path / "none"))
    assert said in str(problem.value)
    assert "hunter2" not in str(problem.value)


def test_all_mistakes_are_said_at_once(tmp_path: Path) -> None:
    file = tmp_path / ".config/hookline/fleet.toml"
    file.parent.mkdir(parents=True)
    file.write_text('server = "nats://x"\nslots = 0\nreplicas = "3"\n')
    with pytest.raises(SettingsError) as problem:
        read_settings({"HOME": str(tmp_path)}, managed=str(tmp_path / "none"))
    assert len(str(problem.value).splitlines()) == 2


def test_the_administrator_goes_before_the_user(tmp_path: Path) -> None:
    file, managed = tmp_path / ".config/hookline/fleet.toml", tmp_path / "managed.toml"
    file.parent.mkdir(parents=True)
    file.write_text('server = "nats://user"\nname = "mine"\ncredentials = "~/me.creds"\n')
    managed.write_text('server = ["nats://one", "nats://two"]\nca = "ca.pem"\n')
    found = read_settings({"HOME": str(tmp_path)}, managed=str(managed))
    assert (found.servers, found.name) == (("nats://one", "nats://two"), "mine")
    assert found.ca == str(tmp_path / "ca.pem")
    assert (found.position("ca"), found.position("name")) == (f"{managed}:2", f"{file}:2")
