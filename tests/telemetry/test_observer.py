"""Test what a host with OpenTelemetry gets: spans under its own, metrics, and no text by default."""

import asyncio
import inspect
import json
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from hookline import Engine, Outcome, deny
from hookline.events import PRE_TOOL_USE, USER_PROMPT_SUBMIT, EventSpec, Prompt, ToolCall
from hookline.handlers.http.handler import TRACE_PARENT
from hookline.model.run import Run
from hookline.telemetry import Telemetry, vocabulary
from tests.handlers.calls import finished
from tests.handlers.servers import serving

CALL = ToolCall(tool_name="Bash", tool_input={"command": "echo hunter2-secret"}, tool_use_id="call-1")


class Watched:
    def __init__(self, *, content: bool = False) -> None:
        self.exporter = InMemorySpanExporter()
        self.tracers = TracerProvider(shutdown_on_exit=False)
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.reader = InMemoryMetricReader()
        self.meters = MeterProvider([self.reader], shutdown_on_exit=False)
        self.engine = Engine(observer=Telemetry(self.tracers, self.meters, content=content))

    @property
    def spans(self) -> dict[str, ReadableSpan]:
        return {span.name: span for span in self.exporter.get_finished_spans()}

    def metric(self, name: str) -> list[tuple[dict[str, Any], float]]:
        data: Any = self.reader.get_metrics_data()
        points: Sequence[Any] = [
            point
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]
        return [(dict(each.attributes), getattr(each, "value", getattr(each, "count", 0))) for each in points]

    async def dispatch(self, event: EventSpec[Any] = PRE_TOOL_USE, payload: Any = CALL) -> Outcome:
        return await self.engine.session("conversation", cwd="/").dispatch(event, payload)


@pytest.fixture
def watched() -> Iterator[Watched]:
    made = Watched()
    yield made
    made.tracers.shutdown()
    made.meters.shutdown()


async def refuse(call: ToolCall) -> Outcome | None:
    await asyncio.sleep(0)
    return deny("hunter2-reason")


def crash(call: ToolCall) -> Outcome | None:
    raise ValueError("hunter2-crash")


def test_spans_of_a_dispatch_are_under_that_of_the_host(watched: Watched) -> None:
    inside: list[int] = []

    async def guard(call: ToolCall) -> Outcome | None:
        with watched.tracers.get_tracer("mine").start_as_current_span("of the hook itself"):
            inside.append(1)
        return deny("no")

    watched.engine.add(PRE_TOOL_USE, guard, name="guard")
    watched.engine.add(PRE_TOOL_USE, "exit 0", name="audit", waiting="async")

    async def info() -> None:
        with watched.tracers.get_tracer("host").start_as_current_span("turn"):
            await watched.dispatch()
        await watched.engine.close()

    finished(info())
    spans = watched.spans
    assert {*spans} == {
        "turn", "hookline.dispatch PreToolUse", "hookline.hook guard", "hookline.hook audit", "of the hook itself",
    }  # fmt: skip
    dispatch = spans["hookline.dispatch PreToolUse"]
    assert dispatch.parent is not None
    assert spans["turn"].context is not None
    assert dispatch.parent.span_id == spans["turn"].context.span_id
    for name in ("hookline.hook guard", "hookline.hook audit", "of the hook itself"):
        parent = spans[name].parent
        assert parent is not None
        assert dispatch.context is not None
        assert parent.span_id == dispatch.context.span_id, name
    assert dict(dispatch.attributes or {}) == {
        "hookline.event": "PreToolUse", "gen_ai.conversation.id": "conversation", "gen_ai.tool.name": "Bash",
        "gen_ai.tool.call.id": "call-1", "hookline.tool.kinds": ("shell",), "hookline.permission_mode": "default",
        "hookline.decision": "deny",
    }  # fmt: skip
    assert inside == [1]
    assert TRACE_PARENT.get() == ""


def test_metrics_count_runs_verdicts_and_open_passes(watched: Watched) -> None:
    watched.engine.add(PRE_TOOL_USE, refuse, name="guard")
    watched.engine.add(PRE_TOOL_USE, crash, name="broken", on_failure="open")

    async def info() -> None:
        for _ in range(3):
            await watched.dispatch()
        # No hook, no span and no count.
        await watched.dispatch(USER_PROMPT_SUBMIT, Prompt(prompt="hi"))
        await watched.engine.close()

    finished(info())
    by_hook = {
        "hookline.hook.type": "function",
        "hookline.hook.dialect": "native",
        "hookline.event": "PreToolUse",
    }
    guard, broken = {"hookline.hook.name": "guard", **by_hook}, {"hookline.hook.name": "broken", **by_hook}
    runs = watched.metric("hookline.hook.runs")
    assert ({**guard, "hookline.hook.status": "blocked"}, 3) in runs
    assert ({**broken, "hookline.hook.status": "failed", "error.type": "crashed"}, 3) in runs
    assert watched.metric("hookline.hook.decisions") == [({**guard, "hookline.decision": "deny"}, 3)]
    assert watched.metric("hookline.hook.open_passes") == [({**broken, "error.type": "crashed"}, 3)]
    assert {count for _, count in watched.metric("hookline.hook.duration")} == {3}
    assert watched.metric("hookline.dispatch.duration") == [
        ({"hookline.event": "PreToolUse", "hookline.decision": "deny"}, 3)
    ]
    assert not watched.spans["hookline.hook broken"].status.is_ok


def test_no_text_is_sent_unless_it_is_asked_for_and_never_a_secret() -> None:
    for content in (False, True):
        watched = Watched(content=content)
        watched.engine.add(PRE_TOOL_USE, refuse, name="guard")
        watched.engine.add(PRE_TOOL_USE, crash, name="broken")
        token = "ghp_" + "a1B2" * 9
        call = ToolCall(tool_name="Bash", tool_input={"command": f"echo hunter2 {token}"})

        async def info(watched: Watched = watched, call: ToolCall = call) -> None:
            await watched.dispatch(PRE_TOOL_USE, call)
            await watched.engine.close()

        finished(info())
        sent = "".join(span.to_json() for span in watched.exporter.get_finished_spans())
        found = [word for word in ("echo hunter2", "hunter2-reason", "hunter2-crash") if word in sent]
        assert len(found) == (3 if content else 0), found
        assert token not in sent
        texts = {name for span in watched.spans.values() for name in span.attributes or {}}
        tables = (*vocabulary.AT_BEGINNING, *vocabulary.AT_END, *vocabulary.OF_HOOK)
        assert texts <= {each.name for each in tables}
        assert bool(texts & {each.name for each in tables if each.content}) is content
        watched.tracers.shutdown()
        watched.meters.shutdown()


def test_a_server_that_http_hooks_ask_goes_on_with_the_trace(watched: Watched, tmp_path: Path) -> None:
    async def info() -> None:
        async with serving() as server:
            file = tmp_path / "hooks.json"
            entry = {"type": "http", "url": server.url, "name": "asked"}
            file.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [entry]}]}}))
            watched.engine.load(tmp_path, [str(file)])
            await watched.dispatch()
            context = watched.spans["hookline.dispatch PreToolUse"].context
            assert context is not None
            sent = server.requests[0].header("traceparent")
            assert sent == f"00-{context.trace_id:032x}-{context.span_id:016x}-{int(context.trace_flags):02x}"
            await watched.engine.close()

    finished(info())
    # And the other side: what a caller sent is the parent of what happens here.
    other = Watched()
    other.engine.add(PRE_TOOL_USE, refuse)

    async def called() -> None:
        TRACE_PARENT.set("00-" + "a" * 32 + "-" + "b" * 16 + "-01")
        await other.dispatch()
        await other.engine.close()

    finished(called())
    parent = other.spans["hookline.dispatch PreToolUse"].parent
    assert parent is not None
    assert (parent.trace_id, parent.span_id) == (int("a" * 32, 16), int("b" * 16, 16))


class Broken:
    """Raises wherever it is called."""

    def __init__(self, where: str) -> None:
        self._where = where

    def began(self, session: Any, event: EventSpec[Any], payload: Any) -> Any:
        return self._raise if self._where == "end" else self._raise() if self._where == "began" else len

    def ran(self, run: Run) -> None:
        if self._where == "ran":
            self._raise()

    def closed(self) -> None:
        if self._where == "closed":
            self._raise()

    def _raise(self, *_: object) -> Any:
        raise RuntimeError("the observer broke")


@pytest.mark.parametrize("where", ["began", "ran", "end", "closed"])
def test_an_observer_that_breaks_changes_nothing_and_is_named_once(where: str) -> None:
    async def info() -> tuple[str, ...]:
        engine = Engine(observer=Broken(where))
        engine.add(PRE_TOOL_USE, refuse)
        for _ in range(3):
            outcome = await engine.session("s").dispatch(PRE_TOOL_USE, CALL)
            assert outcome.reason == "hunter2-reason"
        await engine.close()
        return engine.journal.problems

    assert sum("the observer broke" in each for each in finished(info())) == 1


def test_names_of_the_conventions_are_spelled_as_they_are() -> None:
    modules = (
        "attributes.code",
        "attributes.error",
        "_incubating.attributes.gen_ai",
        "_incubating.attributes.process",
    )
    known = {
        value
        for module in modules
        for value in vars(import_module(f"opentelemetry.semconv.{module}_attributes")).values()
        if isinstance(value, str)
    }
    names = {each.name for each in (*vocabulary.AT_BEGINNING, *vocabulary.AT_END, *vocabulary.OF_HOOK)}
    theirs = {name for name in names if not name.startswith("hookline.")}
    assert theirs <= known
    # The package calls all of gen_ai deprecated, because it moved; names that were replaced or removed are others.
    text = inspect.getsource(import_module("opentelemetry.semconv._incubating.attributes.gen_ai_attributes"))
    entries = re.findall(r': Final = "(gen_ai[^"]+)"\n"""(.*?)"""', text, re.DOTALL)
    gone = {name for name, about in entries if re.search(r"Deprecated: (Replaced|Removed)", about)}
    assert "gen_ai.system" in gone
    assert not theirs & gone
