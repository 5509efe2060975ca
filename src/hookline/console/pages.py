"""From an address to a page: each view with what it needs."""

import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from importlib.resources import files
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from hookline import __version__
from hookline.console.coverage import Coverage
from hookline.console.filter import (
    FILTER_PARAMETERS,
    BadAddressError,
    Filter,
    check_choice,
    check_parameters,
)
from hookline.console.html import Child, Html, h
from hookline.console.index import ALLOW, PASS, Index
from hookline.console.live import Live
from hookline.console.ports import Ports
from hookline.console.queries import PAGE, IndexAwayError, OpenPass, Queries, Row
from hookline.console.views import backtests, guards, jobs, one_run, runs, sessions, times
from hookline.console.views.layout import Frame, empty, page, run_row, section
from hookline.model.errors import HooklineError
from hookline.model.run import Run
from hookline.model.safe_text import one_line

_SESSIONS: Final = 100
_STATIC: Final[Mapping[str, str]] = {
    "console.css": "text/css; charset=utf-8",
    "console.js": "text/javascript; charset=utf-8",
    "uplot.css": "text/css; charset=utf-8",
    "uplot.js": "text/javascript; charset=utf-8",
}
_View = Callable[[Request], Response]
_WORD: Final = re.compile(r"[A-Za-z0-9._-]{1,100}")


class Pages:
    """Every view. Methods that Starlette calls without `async` run in its threads, so that none holds up the others."""

    def __init__(self, index: Index, queries: Queries, ports: Ports, machine: str) -> None:
        self._index = index
        self._queries = queries
        self._ports = ports
        self._machine = machine
        self._team = not all(source.local for source in index.sources.values())
        self._coverage = Coverage(ports)
        self.live = Live(index, queries, self._row)
        folder = files("hookline.console") / "static"
        self._static = {name: (folder / name).read_bytes() for name in _STATIC}

    def app(self) -> Starlette:
        pages: dict[str, tuple[_View, Sequence[str]]] = {
            "/": (self._runs, FILTER_PARAMETERS),
            "/run/{segment}/{place}": (self._run, ()),
            "/run/{segment}/{place}/why": (self._why, ()),
            "/sessions": (self._sessions, FILTER_PARAMETERS),
            "/session/{session:path}": (self._session, ("machine",)),
            "/guards": (self._guards, (*FILTER_PARAMETERS, "again")),
            "/guards/coverage": (self._guards_coverage, FILTER_PARAMETERS),
            "/time": (self._time, FILTER_PARAMETERS),
            "/jobs": (self._jobs, ("state",)),
            "/job/{id}": (self._job, ()),
            "/backtests": (self._backtests, ()),
            "/backtest/{name}": (self._backtest, ()),
        }
        routes = [Route(path, self._timed(path, *view)) for path, view in pages.items()]
        routes += [Route("/live", self._live), Route("/static/{name}", self._file)]
        return Starlette(routes=routes, exception_handlers={404: self._missing})

    def _timed(self, path: str, view: _View, parameters: Sequence[str]) -> _View:
        """The view, with its time in a header that the tools of browsers show."""

        def timed(request: Request) -> Response:
            started = time.perf_counter()
            try:
                check_parameters(request.query_params.multi_items(), parameters)
                response = view(request)
            except BadAddressError as problem:
                response = self._bad_address(path, str(problem))
            except IndexAwayError as problem:
                response = self._not_yet(path, str(problem))
            except Exception as problem:  # noqa: BLE001 - one page that breaks is not the end of the others
                text = f"the page {path} broke: {type(problem).__name__}: {problem}"
                self._ports.say(text)
                response = self._page(
                    path, "Broken", section("This page broke", empty(one_line(text, 500))), status=500
                )
            took = (time.perf_counter() - started) * 1000
            response.headers["server-timing"] = f"page;dur={took:.1f}"
            return response

        return timed

    # -- what all pages share

    def _page(self, path: str, title: str, *body: Child, status: int = 200) -> HTMLResponse:
        return HTMLResponse(page(self._frame(), path, title, *body), status)

    def _frame(self) -> Frame:
        notes = list(self._index.notes)
        notes += [one_line(note, 500) for source in self._index.sources.values() for note in source.notes()]
        try:
            last = f"{self._queries.born()}-{self._queries.newest()}"
            damaged, problem = self._queries.damage()
            if damaged:
                some = f"{damaged} lines" if damaged > 1 else "1 line"
                notes.append(f"{some} of the journal could not be read: {problem}")
        except IndexAwayError:
            last = ""
        reading = self._index.progress < 1 or not last
        if reading:
            notes.append(f"Reading the journal: {self._index.progress:.0%}. What is here so far is shown.")
        return Frame(version=__version__, machine=self._machine, last=last, notes=notes, reading=reading)

    def _not_yet(self, path: str, why: str) -> HTMLResponse:
        waiting = empty(
            "The journal is being read. This page comes by itself in a moment.", h("br"), f"({why})"
        )
        return self._page(path, "Reading", section("One moment", waiting))

    def _bad_address(self, path: str, why: str) -> HTMLResponse:
        back = h("a", "Show the page without parameters", href=path) if "{" not in path else None
        body = section("This address is not valid", empty(why, h("br"), back))
        return self._page(path, "Bad address", h("h1", "Bad address"), body, status=400)

    def _missing(self, request: Request, problem: Exception) -> Response:
        del request, problem
        gone = empty("There is no such page, or what it showed is not in the journal any more.")
        return self._page("", "Not found", h("h1", "Not found"), section("Not found", gone), status=404)

    def _found(self, row: Row) -> Run | None:
        source = self._index.sources.get(row.origin)
        try:
            return source.run(row.segment, row.offset, row.nth) if source is not None else None
        except OSError:
            return None

    def _row(self, row: Row, now: float | None = None) -> Html:
        """Only what needs a reason is read from the journal."""
        run = self._found(row) if row.verdict not in (PASS, ALLOW) else None
        return run_row(row, run, now, self._elsewhere(row.machine))

    def _elsewhere(self, machine: str) -> str:
        """The machine, if it is another one: where all are this one, its name says nothing."""
        return machine if machine != self._machine else ""

    def _only_here(self, what: str) -> Html | None:
        """What the audit does not have."""
        if not self._team:
            return None
        text = (
            f"{what} of this machine alone ({self._machine}): of the others, only their runs are known here."
        )
        return h("p", text, class_="note")

    # -- pages

    def _runs(self, request: Request) -> Response:
        wanted, now = Filter.of(request.query_params), time.time()
        rows = self._queries.page(wanted, now)
        summary = self._queries.summary(wanted, now)
        shown = [self._row(row, now) for row in rows]
        following = rows[-1].n if len(rows) >= PAGE else 0
        return self._page("/", "Runs", runs.body(wanted, self._queries.choices(), summary, shown, following))

    def _at(self, request: Request) -> tuple[Row, Run] | None:
        found = re.fullmatch(r"([0-9]{1,18})(?:\.([0-9]{1,6}))?", request.path_params["place"])
        if found is None:
            return None
        row = self._queries.place(request.path_params["segment"], int(found[1]), int(found[2] or 0))
        run = self._found(row) if row is not None else None
        return (row, run) if row is not None and run is not None else None

    def _run(self, request: Request) -> Response:
        found = self._at(request)
        if found is None:
            return self._missing(request, LookupError())
        row, run = found
        title = f"{one_line(run.hook, 60)} · Run"
        local = self._index.sources[row.origin].local
        kept = self._ports.payload(run) if local else None
        body = one_run.body(row, run, kept, explained=local, now=time.time())
        return self._page("/", title, body)

    def _why(self, request: Request) -> Response:
        found = self._at(request)
        if found is None or not self._index.sources[found[0].origin].local:
            return HTMLResponse(one_run.why_not("the run is not here"), 404)
        try:
            return HTMLResponse(one_run.why(self._ports.explain(found[1])))
        except HooklineError as problem:
            return HTMLResponse(one_run.why_not(one_line(str(problem), 500)))

    def _sessions(self, request: Request) -> Response:
        wanted, now = Filter.of(request.query_params), time.time()
        rows = self._queries.sessions(wanted, now, _SESSIONS)
        body = sessions.list_body(wanted, self._queries.choices(), rows, now, self._elsewhere)
        return self._page("/sessions", "Sessions", body)

    def _session(self, request: Request) -> Response:
        session, machine = request.path_params["session"], request.query_params.get("machine", "")
        rows = self._queries.of_session(session, machine, sessions.MOST)
        details = {
            row.n: run for row in rows if row.verdict not in (PASS, ALLOW) and (run := self._found(row))
        }
        body = sessions.timeline_body(session, rows, details, time.time())
        return self._page("/sessions", f"Session {one_line(session, 40)}", body)

    def _guards(self, request: Request) -> Response:
        wanted, now = Filter.of(request.query_params), time.time()
        passes = self._queries.open_passes(wanted, now)
        counted = self._coverage.counted(again="again" in request.query_params)
        coverage = guards.coverage(counted, self._of_this_machine(passes), now)
        body = guards.body(wanted, self._queries.choices(), passes, self._elsewhere)
        return self._page("/guards", "Guards", body, self._only_here("Coverage is"), coverage)

    def _of_this_machine(self, passes: list[OpenPass]) -> list[OpenPass]:
        return [each for each in passes if each.machine == self._machine]

    def _guards_coverage(self, request: Request) -> Response:
        now = time.time()
        passes = self._queries.open_passes(Filter.of(request.query_params), now)
        return HTMLResponse(guards.coverage(self._coverage.counted(), self._of_this_machine(passes), now))

    def _time(self, request: Request) -> Response:
        wanted, now = Filter.of(request.query_params), time.time()
        hooks, over_time = self._queries.hooks(wanted, now), self._queries.times(wanted, now)
        return self._page("/time", "Time", times.body(wanted, self._queries.choices(), hooks, over_time, now))

    def _jobs(self, request: Request) -> Response:
        state = request.query_params.get("state", "")
        check_choice("state", state, jobs.STATES)
        try:
            body: Child = jobs.list_body(self._ports.jobs(), state, time.time())
        except HooklineError as problem:
            body = section("Jobs of durable hooks", empty(one_line(str(problem), 500)))
        return self._page("/jobs", "Jobs", self._only_here("Jobs are those"), body)

    def _job(self, request: Request) -> Response:
        try:
            job = self._ports.job(request.path_params["id"])
        except HooklineError as problem:
            return self._page("/jobs", "Job", section("Job", empty(one_line(str(problem), 500))))
        if job is None:
            return self._missing(request, LookupError())
        return self._page("/jobs", f"{one_line(job['hook'], 60)} · Job", jobs.job_body(job, time.time()))

    def _backtests(self, request: Request) -> Response:
        del request
        return self._page(
            "/backtests",
            "Backtests",
            self._only_here("Backtests are those"),
            backtests.list_body(self._ports.backtests(), time.time()),
        )

    def _backtest(self, request: Request) -> Response:
        name = request.path_params["name"]
        found = self._ports.backtest(name) if _WORD.fullmatch(name) else None
        if found is None:
            return self._missing(request, LookupError())
        try:
            body: Child = backtests.report(found["report"], found["at"])
        except (KeyError, TypeError, ValueError, AttributeError):
            body = section(
                "Backtest", empty("This report was written by another version, and cannot be shown.")
            )
        return self._page("/backtests", "Backtest", body)

    # -- what is no page

    async def _live(self, request: Request) -> Response:
        last = request.headers.get("last-event-id") or request.query_params.get("after", "")
        return StreamingResponse(self._events(last[:100]), media_type="text/event-stream")

    def _events(self, last: str) -> AsyncIterator[bytes]:
        return self.live.listen(last)

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._static:
            return Response("there is no such file", 404)
        return Response(self._static[name], media_type=_STATIC[name])
