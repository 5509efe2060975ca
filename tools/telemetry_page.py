"""Write docs/reference/telemetry.md: the names of spans, attributes and metrics."""

from hookline.telemetry.vocabulary import (
    AT_BEGINNING,
    AT_END,
    DISPATCH_SPAN,
    HOOK_SPAN,
    MACHINE,
    METRICS,
    OF_HOOK,
    Attribute,
)
from tools.markdown import GENERATED, code, page, table

_INTRO = """\
What Hookline sends to OpenTelemetry; [Telemetry](../how-to/telemetry.md) shows how to enable it. Names from
OpenTelemetry's conventions are reused (`gen_ai.*`, `code.*`, `process.*`, `error.type`), the others begin
with `hookline.`. Events, decisions and kinds of tools have Hookline's names, whichever agent calls, so that one query
finds the denials of all of them.

Attributes marked **text** may contain text of the user, the model or a hook. Hookline sends them only with
`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true`, or `Telemetry(content=True)`, and with known
[secrets](secrets.md) redacted."""


def _rows(attributes: tuple[Attribute, ...]) -> list[tuple[str, str]]:
    return [(code(each.name), each.meaning + (" **text**" if each.content else "")) for each in attributes]


def telemetry_page() -> str:
    head = ("Attribute", "Meaning")
    return page(
        "# Telemetry names",
        GENERATED,
        _INTRO,
        f"## The span {code(DISPATCH_SPAN.format(event='EVENT'))}",
        "One event and its hooks, under the span that is current there. An event without hooks has none.",
        table(head, _rows((*AT_BEGINNING, *AT_END))),
        f"## The span {code(HOOK_SPAN.format(hook='NAME'))}",
        "One hook, under its dispatch. It has failed (status error) if the hook gave no answer.",
        table(head, _rows(OF_HOOK)),
        "## The resource",
        f"`service.name`, `service.version`, `host.name`, and {code(MACHINE)}: the machine's name in its fleet.",
        "## Metrics",
        table(
            ("Metric", "Kind", "Unit", "Meaning", "By"),
            [
                (code(each.name), each.kind, code(each.unit), each.meaning, ", ".join(map(code, each.by)))
                for each in METRICS
            ],
        ),
    )
