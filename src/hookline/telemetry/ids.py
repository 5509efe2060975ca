"""Give spans the ids that they had in the process that made them."""

from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator


class SpanIds(IdGenerator):
    """Random ids, or those of a `traceparent` for the next span."""

    def __init__(self) -> None:
        self._random = RandomIdGenerator()
        self._next = ("", "")

    def use(self, traceparent: str) -> None:
        """Set the ids of the next span."""
        _, trace, span, _ = traceparent.split("-")
        self._next = (trace, span)

    def generate_trace_id(self) -> int:
        return int(self._next[0], 16) if self._next[0] else self._random.generate_trace_id()

    def generate_span_id(self) -> int:
        found, self._next = self._next[1], (self._next[0], "")
        return int(found, 16) if found else self._random.generate_span_id()
