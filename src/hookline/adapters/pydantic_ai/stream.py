"""Hold back a streamed answer of a Pydantic AI model until hooks have judged it."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai import messages as m
from pydantic_ai.models import CompletedStreamedResponse, Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings


class JudgedModel(WrapperModel):
    """A model whose streams begin when the answer is complete and `judge` has returned what may be shown of it."""

    def __init__(self, model: Model, judge: Callable[[m.ModelResponse], Awaitable[m.ModelResponse]]) -> None:
        super().__init__(model)
        self._judge = judge

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[m.ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        async with self.wrapped.request_stream(
            messages, model_settings, model_request_parameters, run_context
        ) as stream:
            events = [event async for event in stream]
            given = stream.get()
        judged = await self._judge(given)
        # An answer that hooks leave as it is comes in the pieces of the model.
        made = m.FinalResultEvent, m.PartEndEvent  # by the stream itself
        replayed: list[m.ModelResponseStreamEvent] = [each for each in events if not isinstance(each, made)]
        yield CompletedStreamedResponse(
            judged,
            model_request_parameters=model_request_parameters,
            replay_events=replayed if judged is given else True,
        )
