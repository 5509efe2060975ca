"""Every request the model was sent, for whoever wants to see them afterwards."""

from collections.abc import AsyncIterator

from hookline.agent.modelport import ModelPort, Piece, Request


class RequestLog:
    """A port that remembers what went through it, if somebody will ask."""

    def __init__(self, port: ModelPort, *, keep: bool = True) -> None:
        self._port = port
        self._keep = keep
        self.requests: list[Request] = []

    async def stream(self, request: Request) -> AsyncIterator[Piece]:
        if self._keep:
            self.requests.append(request)
        async for piece in self._port.stream(request):
            yield piece

    async def close(self) -> None:
        await self._port.close()
