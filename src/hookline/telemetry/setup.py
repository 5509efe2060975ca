"""Telemetry as the environment says: the standard variables of OpenTelemetry, sent by OTLP over http.

Only for Hookline's own processes; a program that has Hookline in it sets OpenTelemetry up itself. Nothing here is read
from files, least of all from those of a project: who can write there must not learn what happens elsewhere.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from hookline.telemetry.observer import Telemetry

_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_SIGNALS = ("TRACES", "METRICS")
#: As OpenTelemetry's own instrumentations for agents call it.
_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_TRUE = frozenset({"true", "1", "yes", "on", "span_only", "span_and_event"})

Say = Callable[[str], None]


def wanted_signals(env: Mapping[str, str]) -> list[str]:
    """What is to be sent: TRACES, METRICS or both, where an endpoint or `otlp` is named for it."""
    if env.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return []
    return [
        signal
        for signal in _SIGNALS
        if env.get(f"OTEL_{signal}_EXPORTER", "").strip().lower() != "none" and _is_asked_for(env, signal)
    ]


def _is_asked_for(env: Mapping[str, str], signal: str) -> bool:
    names = (_ENDPOINT, f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT")
    return (
        any(env.get(name) for name in names)
        or env.get(f"OTEL_{signal}_EXPORTER", "").strip().lower() == "otlp"
    )


def refusal(env: Mapping[str, str], signals: list[str], *, only_here: bool) -> str | None:
    """Why nothing is sent, although it is asked for."""
    for signal in signals:
        names = (f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
        protocol = next((env[name] for name in names if env.get(name)), "http/protobuf")
        if protocol.strip() != "http/protobuf":
            return f"it is sent by http/protobuf, and {protocol[:40]} is asked for: set OTEL_EXPORTER_OTLP_PROTOCOL"
        names = (f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT", _ENDPOINT)
        endpoint = next((env[name] for name in names if env.get(name)), "http://localhost:4318")
        if only_here and not _on_this_machine(endpoint):
            return (
                f"{_shown(endpoint)} is another machine, and this process has its environment from an agent, which may "
                "have it from a project: run a collector on this machine"
            )
    return None


def observer_from(
    env: Mapping[str, str], say: Say, *, only_here: bool, seconds: float | None
) -> "Telemetry | None":
    """An observer, if the environment asks for one and the packages are there; what is wrong is said, once.

    `only_here`: nothing is sent to other machines. `seconds`: when the engine is closed, what was not sent yet is
    waited for as long as this; None: the process goes on.
    """
    signals = wanted_signals(env)
    if not signals:
        return None
    told = SaidOnce(say, _header_texts(env))
    why = refusal(env, signals, only_here=only_here)
    if why is not None:
        told.say(why)
        return None
    try:
        return _observer(env, signals, told, seconds)
    except ModuleNotFoundError as missing:
        told.say(f"{missing.name} is missing: pip install 'hookline[otel]'")
    except Exception as problem:  # noqa: BLE001 whatever is wrong with the settings, hooks run
        told.say(f"{type(problem).__name__}: {problem}")
    return None


def _observer(
    env: Mapping[str, str], signals: list[str], told: "SaidOnce", seconds: float | None
) -> "Telemetry":
    import requests
    from opentelemetry.metrics import NoOpMeterProvider
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.trace import NoOpTracerProvider

    from hookline import __version__
    from hookline.telemetry.observer import Telemetry

    _listen(told)
    # Neither proxies nor passwords from the environment or the home directory.
    http = requests.Session()
    http.trust_env = False
    own = {} if env.get("OTEL_SERVICE_NAME") else {"service.name": "hookline"}
    resource = Resource.create({**own, "service.version": __version__})
    tracers, meters = None, None
    if "TRACES" in signals:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
        tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(session=http)))
    if "METRICS" in signals:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

        reader = PeriodicExportingMetricReader(OTLPMetricExporter(session=http))
        meters = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
    providers = [each for each in (tracers, meters) if each is not None]
    told.sending = True
    return Telemetry(
        tracers or NoOpTracerProvider(),
        meters or NoOpMeterProvider(),
        content=env.get(_CONTENT, "").strip().lower() in _TRUE,
        send_rest=lambda limit: flush(providers, limit, told),
        close_seconds=seconds,
        parent=env.get("TRACEPARENT", ""),
    )


def flush(providers: list[Any], seconds: float, told: "SaidOnce") -> None:
    """Send what is left, in the time that there is: an exporter tries again and again for longer than anybody waits."""

    def send() -> None:
        for provider in providers:
            provider.force_flush(int(seconds * 1000))

    sending = threading.Thread(target=send, daemon=True, name="hookline telemetry")
    sending.start()
    sending.join(seconds)
    if sending.is_alive():
        told.say(f"the collector took more than {seconds:g} s")


class SaidOnce(logging.Handler):
    """Says the first thing that goes wrong. OpenTelemetry itself would log every attempt.

    `hidden`: texts that may be passwords, and that OpenTelemetry shows when it cannot read them.
    """

    def __init__(self, say: Say, hidden: Sequence[str] = ()) -> None:
        super().__init__(logging.WARNING)
        self._say = say
        self._said = False
        self._hidden = hidden
        self._settings: set[str] = set()
        #: Until then OpenTelemetry speaks of settings that it goes on without.
        self.sending = False

    def say(self, why: str) -> None:
        if not self._said:
            self._said = True
            self._say(f"telemetry is not sent: {why}; hooks are not affected")

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(Exception):  # an exporter must not break on its own complaint
            text = record.getMessage()
            for each in self._hidden:
                text = text.replace(each, "[redacted]")
            if self.sending:
                self.say(text)
            elif text not in self._settings:  # each signal reads them
                self._settings.add(text)
                self._say(f"a setting of telemetry is wrong: {text}; hooks are not affected")


def _header_texts(env: Mapping[str, str]) -> list[str]:
    """What the variables with headers say, whole and in parts, the longest first."""
    values = [value for name, value in env.items() if name.startswith("OTEL_") and name.endswith("_HEADERS")]
    parts = [part.strip() for value in values for part in (value, *value.split(","))]
    return sorted({part for part in parts if part}, key=len, reverse=True)


def _listen(told: SaidOnce) -> None:
    for name in ("opentelemetry", "urllib3"):
        logger = logging.getLogger(name)
        logger.propagate = False
        logger.addHandler(told)


def _on_this_machine(endpoint: str) -> bool:
    from hookline.handlers.http.addresses import is_loopback

    try:
        return is_loopback(urlsplit(endpoint).hostname or "")
    except ValueError:
        return False


def _shown(endpoint: str) -> str:
    """Without what may be a password."""
    try:
        return (urlsplit(endpoint).hostname or "the endpoint")[:100]
    except ValueError:
        return "the endpoint"
