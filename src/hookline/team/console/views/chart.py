"""Draw charts over time as SVG: they need no script, and their text keeps its size on every screen."""

import math
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from hookline.team.console.html import Html, h

#: Pixels above the highest line of the grid, of the drawing, and of the row of times below it.
_HEAD, _TALL, _FOOT = 14, 128, 20
_MARKS: Final = 6
#: Seconds between two times below a chart; the first that leaves room for the others is used.
_STEPS: Final = (
    300, 900, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86_400, 2 * 86_400, 7 * 86_400, 14 * 86_400, 28 * 86_400,
)  # fmt: skip


class Series(Struct, frozen=True):
    label: str
    #: The name of its colour in the style sheet.
    colour: str
    #: One value per column; None where there is nothing.
    values: Sequence[float | None]


class Chart(Struct, frozen=True, kw_only=True):
    """Columns of equal length in time, from `begin` on."""

    label: str
    begin: int
    step: int
    series: Sequence[Series]
    bars: bool = False
    log: bool = False
    unit: str = ""
    #: The address that shows a part of the time; the script adds `from` and `to`.
    zoom: str = ""

    @property
    def columns(self) -> int:
        return len(self.series[0].values)


def shown(value: float, unit: str) -> str:
    if unit != "ms":
        return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"
    return f"{value / 1000:g} s" if value >= 1000 else f"{value:g} ms"


def draw(chart: Chart) -> Html:
    """Return the chart with its legend. The script adds the values under the pointer, and zooms by dragging."""
    scale = _Scale(chart)
    shapes = _bars(chart, scale) if chart.bars else _lines(chart, scale)
    picture = h(
        "svg",
        [_grid_line(value, scale, chart.unit) for value in scale.marks],
        shapes,
        [_time_mark(at, chart) for at in _times(chart)],
        class_="chart",
        role="img",
        aria_label=chart.label,
        width="100%",
        height=_HEAD + _TALL + _FOOT,
    )
    legend = [
        h("span", h("i", class_=f"key key-{each.colour}"), each.label, h("b", class_="at"))
        for each in chart.series
    ]
    data: dict[str, Any] = {
        "begin": chart.begin, "step": chart.step, "columns": chart.columns, "unit": chart.unit, "zoom": chart.zoom,
        "values": [each.values for each in chart.series],
    }  # fmt: skip
    return h(
        "figure",
        picture,
        h("figcaption", legend, h("span", class_="when")),
        class_="plot",
        data_plot=msgspec.json.encode(data).decode(),
    )


class _Scale:
    """From values to pixels, top down."""

    def __init__(self, chart: Chart) -> None:
        values = [value for each in chart.series for value in each.values if value is not None]
        self._log = chart.log
        if chart.log:
            present = [value for value in values if value > 0] or [1.0]
            low, high = math.floor(math.log10(min(present))), math.ceil(math.log10(max(present)))
            self._low, self._high = float(low), float(max(high, low + 1))
            self.marks: Sequence[float] = [10.0**power for power in range(low, int(self._high) + 1)]
        else:
            self._low, self._high = 0.0, _round_up(max(values, default=0.0))
            self.marks = [0.0, self._high / 2, self._high] if self._high > 1 else [0.0, self._high]

    def y(self, value: float) -> float:
        at = math.log10(max(value, 10**self._low)) if self._log else value
        return round(_HEAD + _TALL * (1 - (at - self._low) / (self._high - self._low)), 1)


def _round_up(value: float) -> float:
    """Return the next number whose half is also easy to read."""
    if value <= 1:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= value)


def _grid_line(value: float, scale: _Scale, unit: str) -> Html:
    y = scale.y(value)
    text = h("text", shown(value, unit), x=2, y=y - 3, class_="mark") if value else None
    return h("g", h("line", x1=0, x2="100%", y1=y, y2=y, class_="grid"), text)


def _bars(chart: Chart, scale: _Scale) -> Iterator[Html]:
    floor, wide = scale.y(0), 100 / chart.columns
    for each in chart.series:
        for column, value in enumerate(each.values):
            if value:
                # A bar of one is seen beside one of a thousand.
                y = min(scale.y(value), floor - 2)
                yield h(
                    "rect",
                    h("title", f"{_when(chart.begin + column * chart.step)}: {shown(value, chart.unit)} {each.label}"),
                    x=f"{(column + 0.14) * wide:.3f}%",
                    y=y,
                    width=f"{0.72 * wide:.3f}%",
                    height=round(floor - y, 1),
                    class_=f"fill-{each.colour}",
                )  # fmt: skip


def _lines(chart: Chart, scale: _Scale) -> Html:
    """Draw the lines in a picture of their own, which is stretched; its lines keep their width."""
    paths: list[Html] = []
    for each in chart.series:
        points = [(column, value) for column, value in enumerate(each.values) if value is not None]
        if len(points) == 1:
            column, value = points[0]
            steps = f"M{column} {scale.y(value)}H{column + 1}"
        else:
            steps = " ".join(
                f"{'L' if number else 'M'}{column + 0.5:g} {scale.y(value)}"
                for number, (column, value) in enumerate(points)
            )
        paths.append(h("path", d=steps, class_=f"line line-{each.colour}"))
    tall = _HEAD + _TALL
    return h(
        "svg", paths, viewBox=f"0 0 {chart.columns} {tall}", preserveAspectRatio="none", width="100%", height=tall
    )  # fmt: skip


def _times(chart: Chart) -> Iterator[int]:
    """Yield the times to write below: whole hours or days of this place, with room between them."""
    end = chart.begin + chart.columns * chart.step
    step = next((each for each in _STEPS if (end - chart.begin) / each <= _MARKS), 364 * 86_400)
    east = time.localtime(chart.begin).tm_gmtoff
    at = (chart.begin + east + step - 1) // step * step - east
    while at < end:
        yield at
        at += step


def _time_mark(at: int, chart: Chart) -> Html:
    share = 100 * (at - chart.begin) / (chart.columns * chart.step)
    anchor = "start" if share < 4 else "end" if share > 96 else "middle"
    local = time.localtime(at)
    midnight = local.tm_hour == 0 and local.tm_min == 0
    text = f"{local.tm_mday} {time.strftime('%b', local)}" if midnight else time.strftime("%H:%M", local)
    return h("text", text, x=f"{share:.2f}%", y=_HEAD + _TALL + 15, class_="mark", text_anchor=anchor)


def _when(at: int) -> str:
    return time.strftime("%d %b %H:%M", time.localtime(at))
