"""All models of a session behind one port: a route, a command or a sub-agent may name another one."""

from collections.abc import AsyncIterator, Callable

from hookline.agent.modelport import ModelError, ModelPort, Piece, Request
from hookline.model.errors import HooklineError


class Models:
    """Ports by name, each opened when the first request goes there."""

    def __init__(self, first: str, opened: ModelPort, open_port: Callable[[str], ModelPort]) -> None:
        self._ports: dict[str, ModelPort] = {first: opened}
        self._open = open_port
        #: A script plays every part: whoever is named, it is the script that answers.
        self._only = opened if first.startswith("scripted:") else None

    async def stream(self, request: Request) -> AsyncIterator[Piece]:
        async for piece in self._port(request.model).stream(request):
            yield piece

    def _port(self, name: str) -> ModelPort:
        if self._only is not None:
            return self._only
        port = self._ports.get(name)
        if port is None:
            try:
                port = self._ports[name] = self._open(name)
            except HooklineError as problem:
                raise ModelError("auth_failed", str(problem)) from None
        return port

    async def close(self) -> None:
        for port in self._ports.values():
            await port.close()
