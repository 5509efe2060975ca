"""Set up telemetry as the environment says: OpenTelemetry's standard variables, sent by OTLP over HTTP.

Only for Hookline's own processes; a program that embeds Hookline sets up OpenTelemetry itself. Nothing here
is read from files, least of all a project's: someone who can write there must not learn what happens
elsewhere.
"""

import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec import Struct

from hookline.extras import how_to_add
from hookline.model.safe_text import one_line

if TYPE_CHECKING:
    from hookline.telemetry.observer import Telemetry
    from hookline.telemetry.replay import SpanIds
    from hookline.telemetry.spool import Spool

_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_ATTRIBUTES = "OTEL_RESOURCE_ATTRIBUTES"
_TEMPORALITY = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"
_NAMES = {"TRACES": "spans", "METRICS": "metrics"}
_SIGNALS = tuple(_NAMES)
_UNAFFECTED = "hooks are not affected"
#: As OpenTelemetry's own instrumentations for agents call it.
_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_TRUE = frozenset({"true", "1", "yes", "on", "span_only", "span_and_event"})

Say = Callable[[str], None]


def wanted_signals(env: Mapping[str, str]) -> list[str]:
    """Return the signals to send: TRACES, METRICS or both, where an endpoint or `otlp` is set for them."""
    if _is_disabled(env):
        return []
    return [signal for signal in _SIGNALS if _is_asked_for(env, signal)]


def unknown_exporters(env: Mapping[str, str]) -> list[str]:
    """Return one sentence for each exporter that the environment asks for and Hookline lacks."""
    if _is_disabled(env):
        return []
    return [
        f"OTEL_{signal}_EXPORTER asks for {one_line(name, 40)}, which Hookline does not have: "
        f"{_NAMES[signal]} go to a collector by otlp, or nowhere. Set it to otlp or none"
        for signal in _SIGNALS
        for name in _exporters(env, signal)
        if name not in ("otlp", "none")
    ]


def _is_disabled(env: Mapping[str, str]) -> bool:
    return env.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"


def _exporters(env: Mapping[str, str], signal: str) -> list[str]:
    names = env.get(f"OTEL_{signal}_EXPORTER", "").lower().split(",")
    return [name.strip() for name in names if name.strip()]


def _is_asked_for(env: Mapping[str, str], signal: str) -> bool:
    named = _exporters(env, signal)
    return "otlp" in named if named else _endpoint(env, signal)[0] != _default(signal)


def _endpoint(env: Mapping[str, str], signal: str) -> tuple[str, str]:
    """Return the variable that says where a signal goes, and its value."""
    names = (f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT", _ENDPOINT)
    return next(
        ((name, env[name]) for name in names if env.get(name)), (_default(signal), "http://localhost:4318")
    )


def _default(signal: str) -> str:
    """Return the variable that asks for the default address, where none is named."""
    return f"OTEL_{signal}_EXPORTER"


def refusal(env: Mapping[str, str], signals: list[str], *, only_here: bool) -> str | None:
    """Return why nothing is sent although it is asked for, or None."""
    for signal in signals:
        names = (f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
        protocol = next((env[name] for name in names if env.get(name)), "http/protobuf")
        if protocol.strip() != "http/protobuf":
            return (
                f"Hookline sends http/protobuf only, not {protocol[:40]}: change OTEL_EXPORTER_OTLP_PROTOCOL"
            )
        variable, endpoint = _endpoint(env, signal)
        if not _is_address(endpoint):
            return f"{variable} is not an address of a collector: write it as http://127.0.0.1:4318"
        if only_here and not _on_this_machine(endpoint):
            return (
                f"{_shown(endpoint)} is on another machine, and a project may have set it, because an agent started "
                "this process: run a collector on this machine"
            )
    return None


def observer_from(
    env: Mapping[str, str],
    say: Say,
    *,
    only_here: bool,
    seconds: float | None,
    lasting: bool = False,
    machine: str = "",
) -> "Telemetry | None":
    """Return an observer if the environment asks for one and the packages are installed; report the first
    error.

    `only_here`: send nothing to other machines. `seconds`: how long to wait for unsent data when the engine
    closes; None: the process lives on. `lasting`: it is a server, whose metrics are sums since its start.
    `machine`: its name in the fleet.
    """
    lasting = lasting or seconds is None
    made = providers_from(env, say, only_here=only_here, lasting=lasting, machine=machine)
    if made is None:
        return None
    from hookline.telemetry.observer import Telemetry

    return Telemetry(
        made.tracers,
        made.meters,
        content=is_content_wanted(env),
        send_rest=lambda limit: flush(made.all, limit, made.warnings),
        close_seconds=seconds,
        parent=env.get("TRACEPARENT", ""),
    )


class Providers(Struct, frozen=True):
    """The providers of OpenTelemetry that send where the environment says."""

    tracers: Any
    meters: Any
    #: Those of the signals that are sent.
    all: list[Any]
    warnings: "SaidOnce"
    #: The ids of new spans.
    ids: "SpanIds"


def providers_from(
    env: Mapping[str, str], say: Say, *, only_here: bool, lasting: bool = False, machine: str = ""
) -> Providers | None:
    """Return providers if the environment asks for them and the packages are installed; report the first error."""
    warnings = SaidOnce(say, _header_texts(env))
    signals = signals_to_send(env, warnings, only_here=only_here)
    try:
        return _providers(env, signals, warnings, lasting=lasting, machine=machine) if signals else None
    except ModuleNotFoundError as missing:
        warnings.say(f"{missing.name} is missing: {how_to_add('otel')}")
    except Exception as problem:  # noqa: BLE001 whatever is wrong with the settings, hooks run
        warnings.say(f"{type(problem).__name__}: {problem}")
    return None


def signals_to_send(env: Mapping[str, str], warnings: "SaidOnce", *, only_here: bool) -> list[str]:
    """Return what is to be sent; say why not, where it is asked for."""
    for text in unknown_exporters(env):
        warnings.wrong_setting(text)
    signals = wanted_signals(env)
    why = refusal(env, signals, only_here=only_here)
    if why is None:
        return signals
    warnings.say(why)
    return []


def spool_from(env: Mapping[str, str], say: Say, module: str) -> "Spool | None":
    """Return an observer that leaves sending to another process, `module`, if the environment asks for one."""
    warnings = SaidOnce(say, _header_texts(env))
    if not signals_to_send(env, warnings, only_here=True):
        return None
    if find_spec("opentelemetry") is None:
        warnings.say(f"opentelemetry is missing: {how_to_add('otel')}")
        return None
    from hookline.telemetry.spool import Spool

    return Spool(env, module, say, content=is_content_wanted(env))


def is_content_wanted(env: Mapping[str, str]) -> bool:
    return env.get(_CONTENT, "").strip().lower() in _TRUE


def _providers(
    env: Mapping[str, str], signals: list[str], warnings: "SaidOnce", *, lasting: bool, machine: str
) -> Providers:
    from opentelemetry.metrics import NoOpMeterProvider
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.trace import NoOpTracerProvider

    from hookline import __version__
    from hookline.telemetry.collector import CollectorSession
    from hookline.telemetry.replay import SpanIds
    from hookline.telemetry.vocabulary import MACHINE

    _listen(warnings)

    def session(signal: str) -> CollectorSession:
        return CollectorSession(_endpoint(env, signal)[0], warnings.note, lasting=lasting)

    own = {} if env.get("OTEL_SERVICE_NAME") else {"service.name": "hookline"}
    # Attributes of OTEL_RESOURCE_ATTRIBUTES come before these.
    resource = Resource.create(
        {
            **own,
            "service.version": __version__,
            **({} if "host.name=" in env.get(_ATTRIBUTES, "") else {"host.name": os.uname().nodename}),
            **({MACHINE: machine} if machine else {}),
        }
    )
    tracers, meters, ids = None, None, SpanIds()
    if "TRACES" in signals:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        tracers = TracerProvider(resource=resource, shutdown_on_exit=False, id_generator=ids)
        tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(session=session("TRACES"))))
    if "METRICS" in signals:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

        exporter = OTLPMetricExporter(
            session=session("METRICS"),
            preferred_temporality=None if lasting else _of_one_process(env),
        )
        reader = PeriodicExportingMetricReader(exporter)
        meters = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
    providers = [each for each in (tracers, meters) if each is not None]
    warnings.sending = True
    return Providers(tracers or NoOpTracerProvider(), meters or NoOpMeterProvider(), providers, warnings, ids)


def _of_one_process(env: Mapping[str, str]) -> Any:
    """Return differences for a process that ends soon: each would begin a series of sums that nobody continues.

    None: the environment chooses, or its default applies.
    """
    if env.get(_TEMPORALITY):
        return None
    from opentelemetry.sdk.metrics import Counter, Histogram, ObservableCounter
    from opentelemetry.sdk.metrics.export import AggregationTemporality

    return dict.fromkeys((Counter, Histogram, ObservableCounter), AggregationTemporality.DELTA)


def flush(providers: list[Any], seconds: float, warnings: "SaidOnce") -> None:
    """Send pending data within this time: an exporter retries for longer than users wait."""

    def send() -> None:
        for provider in providers:
            provider.force_flush(int(seconds * 1000))

    sending = threading.Thread(target=send, daemon=True, name="hookline telemetry")
    sending.start()
    sending.join(seconds)
    if sending.is_alive():
        warnings.say(f"the collector took more than {seconds:g} s", of_sending=True)


class SaidOnce(logging.Handler):
    """Reporter of the first failure only; OpenTelemetry would log every attempt.

    `hidden`: texts that may be passwords, which OpenTelemetry shows when it cannot read them.
    """

    def __init__(self, say: Say, hidden: Sequence[str] = ()) -> None:
        super().__init__(logging.WARNING)
        self._say = say
        self._said = False
        self._hidden = hidden
        self._settings: set[str] = set()
        #: The error of the last request; None: it was accepted.
        self._last: str | None = None
        #: Until then OpenTelemetry reports settings that it ignores.
        self.sending = False

    def say(self, why: str, *, of_sending: bool = False) -> None:
        """Report a failure once. `of_sending`: prefer the last request's error, which is more precise."""
        if not self._said:
            self._said = True
            self._say(f"telemetry is not sent: {(self._last if of_sending else None) or why}; {_UNAFFECTED}")

    def note(self, last: str | None) -> None:
        self._last = last

    def wrong_setting(self, text: str) -> None:
        if text not in self._settings:  # each signal reads them
            self._settings.add(text)
            self._say(f"a setting of telemetry is wrong: {text}; {_UNAFFECTED}")

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(Exception):  # an exporter must not break on its own complaint
            text = record.getMessage()
            for each in self._hidden:
                text = text.replace(each, "[redacted]")
            if not self.sending:
                self.wrong_setting(text)
            # A warning about a request that failed: it is tried again.
            elif record.levelno >= logging.ERROR or self._last is None:
                self.say(text, of_sending=True)


def _header_texts(env: Mapping[str, str]) -> list[str]:
    """Return the values of variables with headers, whole and in parts, longest first."""
    values = [value for name, value in env.items() if name.startswith("OTEL_") and name.endswith("_HEADERS")]
    parts = [part.strip() for value in values for part in (value, *value.split(","))]
    return sorted({part for part in parts if part}, key=len, reverse=True)


def _listen(warnings: SaidOnce) -> None:
    for name in ("opentelemetry", "urllib3"):
        logger = logging.getLogger(name)
        logger.propagate = False
        logger.addHandler(warnings)


def _is_address(endpoint: str) -> bool:
    try:
        found = urlsplit(endpoint)
        return found.scheme in ("http", "https") and bool(found.hostname) and (found.port or 1) > 0
    except ValueError:
        return False


def _on_this_machine(endpoint: str) -> bool:
    from hookline.handlers.http.addresses import is_loopback

    try:
        return is_loopback(urlsplit(endpoint).hostname or "")
    except ValueError:
        return False


def _shown(endpoint: str) -> str:
    """Return the host of an endpoint, without user name and password."""
    try:
        return (urlsplit(endpoint).hostname or "the endpoint")[:100]
    except ValueError:
        return "the endpoint"
