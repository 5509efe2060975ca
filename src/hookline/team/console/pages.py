"""Build the page of an address: each view with its data."""

import hmac
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Final
from urllib.parse import parse_qs

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from hookline import __version__
from hookline.model.errors import HooklineError
from hookline.model.run import Run
from hookline.model.safe_text import one_line
from hookline.team.console.background import InBackground
from hookline.team.console.filter import (
    FILTER_PARAMETERS,
    BadAddressError,
    PageFilter,
    check_choice,
    check_parameters,
)
from hookline.team.console.html import Child, Html, h
from hookline.team.console.index import Index
from hookline.team.console.live import Live
from hookline.team.console.middleware import FORM_WORD
from hookline.team.console.ports import Document, Ports
from hookline.team.console.queries import PAGE, IndexAwayError, OpenPass, Queries, RunRow
from hookline.team.console.views import (
    approvals,
    backtests,
    fleet,
    guards,
    jobs,
    one_run,
    runs,
    sessions,
    start,
    times,
)
from hookline.team.console.views.layout import Frame, call_row, empty, page, section

_SESSIONS: Final = 100
#: Bytes of an answer's form.
_LARGEST_FORM: Final = 8192
_STATIC: Final[Mapping[str, str]] = {
    "console.css": "text/css; charset=utf-8",
    "console.js": "text/javascript; charset=utf-8",
}
_STOPPED: Final = 5
_PROBLEMS: Final = 20
#: Seconds that the first page waits for the checks: later ones use the last result.
_PATIENCE: Final = 2.0
#: Seconds after which the checks are made again.
_STALE: Final = 60.0


class View(Struct, frozen=True):
    """A page: its place in the navigation, its title, its HTML, and the data it shows, for programs."""

    path: str
    title: str
    body: Child
    data: object = None
    status: int = 200


_Handler = Callable[[Request], View | Response]
_WORD: Final = re.compile(r"[A-Za-z0-9._-]{1,100}")


class Pages:
    """Every view. Starlette calls methods without `async` in threads, so that none holds up the others."""

    def __init__(self, index: Index, queries: Queries, ports: Ports, machine: str) -> None:
        self._index = index
        self._queries = queries
        self._ports = ports
        self._machine = machine
        self._team = not all(source.local for source in index.sources.values())
        self._coverage = InBackground("coverage", ports.coverage)
        self._fleet = InBackground("fleet", lambda _: ports.fleet())
        self._doctor = InBackground("doctor", lambda _: ports.doctor())
        self._doctor.result()
        self.live = Live(index, queries, self._row)
        directory = files("hookline.team.console") / "static"
        self._static = {name: (directory / name).read_bytes() for name in _STATIC}

    def app(self) -> Starlette:
        pages: dict[str, tuple[_Handler, Sequence[str]]] = {
            "/": (self._start, ()),
            "/runs": (self._runs, FILTER_PARAMETERS),
            "/run/{segment}/{position}": (self._run, ()),
            "/run/{segment}/{position}/why": (self._why, ()),
            "/sessions": (self._sessions, FILTER_PARAMETERS),
            "/session/{session:path}": (self._session, ("machine",)),
            "/guards": (self._guards, (*FILTER_PARAMETERS, "again")),
            "/guards/coverage": (self._guards_coverage, FILTER_PARAMETERS),
            "/time": (self._time, FILTER_PARAMETERS),
            "/jobs": (self._jobs, ("state",)),
            "/approvals": (self._approvals, ("result",)),
            "/job/{id}": (self._job, ()),
            "/backtests": (self._backtests, ()),
            "/backtest/{name}": (self._backtest, ()),
        }
        if self._team:
            pages["/fleet"] = self._fleet_page, ()
        routes = [Route(path, self._timed(path, *view)) for path, view in pages.items()]
        routes.append(Route("/approvals/{id}", self._answer, methods=["POST"]))
        routes += [Route("/live", self._live), Route("/static/{name}", self._file)]
        return Starlette(routes=routes, exception_handlers={404: self._missing})

    def _timed(self, path: str, view: _Handler, parameters: Sequence[str]) -> Callable[[Request], Response]:
        """Wrap a view, with its time in a header that browsers' developer tools show.

        With `format=json` the page is its data.
        """

        def timed(request: Request) -> Response:
            started = time.perf_counter()
            try:
                check_parameters(request.query_params.multi_items(), (*parameters, "format"))
                form = request.query_params.get("format", "")
                check_choice("format", form, ("json",))
                response = view(request)
                if isinstance(response, View):
                    response = self._as_json(response) if form else self._as_page(response)
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

    # -- shared by all pages

    def _as_page(self, view: View) -> HTMLResponse:
        return HTMLResponse(page(self._frame(), view.path, view.title, view.body), view.status)

    def _as_json(self, view: View) -> Response:
        return Response(msgspec.json.encode(view.data), view.status, media_type="application/json")

    def _page(self, path: str, title: str, *body: Child, status: int = 200) -> HTMLResponse:
        return self._as_page(View(path, title, body, status=status))

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
            notes.append(f"Reading the journal: {self._index.progress:.0%}. The runs read so far are shown.")
        return Frame(
            fleet=self._team,
            version=__version__,
            machine=self._machine,
            last=last,
            notes=notes,
            reading=reading,
        )

    def _not_yet(self, path: str, why: str) -> HTMLResponse:
        waiting = empty("Reading the journal. This page will appear shortly.", h("br"), f"({why})")
        return self._page(path, "Reading", section("One moment", waiting))

    def _bad_address(self, path: str, why: str) -> HTMLResponse:
        back = h("a", "Show the page without parameters", href=path) if "{" not in path else None
        body = section("This address is not valid", empty(why, h("br"), back))
        return self._page(path, "Bad address", h("h1", "Bad address"), body, status=400)

    def _missing(self, request: Request, problem: Exception) -> Response:
        del request, problem
        gone = empty("This page does not exist, or its run is no longer in the journal.")
        return self._page("", "Not found", h("h1", "Not found"), section("Not found", gone), status=404)

    def _found(self, row: RunRow) -> Run | None:
        source = self._index.sources.get(row.origin)
        try:
            return source.run(row.segment, row.offset, row.nth) if source is not None else None
        except OSError:
            return None

    def _row(self, row: RunRow) -> tuple[int, Html]:
        """Draw the call of a new run, with all its hooks so far, and its number, which stays the same."""
        runs = self._queries.of_call(row) or [row]
        return min(each.n for each in runs), call_row(runs, None, self._elsewhere(row.machine))

    def _calls(self, rows: Sequence[RunRow]) -> Iterator[tuple[RunRow, list[RunRow]]]:
        """Group runs by call: the one that was found, and all that belong to its call."""
        seen: set[int] = set()
        for row in rows:
            if row.n not in seen:
                runs = self._queries.of_call(row) or [row]
                seen.update(each.n for each in runs)
                yield row, runs

    def _drawn(self, rows: Sequence[RunRow], now: float, *, chosen: bool = True) -> list[Html]:
        """Draw calls; with `chosen`, under the run that a filter found."""
        return [
            call_row(runs, now, self._elsewhere(row.machine), row if chosen else None)
            for row, runs in self._calls(rows)
        ]

    def _elsewhere(self, machine: str) -> str:
        """Return the machine if it is another one; if all runs are from this one, its name is noise."""
        return machine if machine != self._machine else ""

    def _only_here(self, what: str) -> Html | None:
        """Return a note for what the audit does not have."""
        if not self._team:
            return None
        text = (
            f"{what} of this machine only ({self._machine}); of other machines, only runs are available here."
        )
        return h("p", text, class_="note")

    # -- pages

    def _start(self, request: Request) -> View:
        del request
        now, week, day = time.time(), PageFilter(), PageFilter(since="24h")
        checked = self._doctor.result(stale=_STALE, wait=_PATIENCE)
        counted = self._coverage.last()
        known = start.StartFacts(
            doctor=checked.document,
            doctor_problem=checked.problem,
            runs=self._queries.newest(),
            today=self._queries.summary(day, now).totals,
            passes=self._queries.open_passes(week, now),
            hooks=self._queries.hooks(week, now),
            dead_letters=self._dead_letters(),
            approvals=self._waiting(),
            missed_calls=counted.document["unguarded"] if counted.document is not None else None,
        )
        answer = start.standing(known)
        stopped = self._queries.page(replace(day, status="blocked"), now, _STOPPED)
        problems = self._queries.problems(week, now, _STOPPED)
        body = start.body(answer, known, self._drawn(stopped, now), problems, now)
        data = {"standing": answer, "today": known.today, "stopped": stopped, "problems": problems}
        return View("/", "Start", body, data)

    def _fleet_page(self, request: Request) -> View:
        del request
        now = time.time()
        found = self._fleet.result(stale=_STALE, wait=_PATIENCE)
        failed = self._queries.problems(PageFilter(), now, _PROBLEMS)
        body = fleet.body(found.document, found.problem, failed, now)
        return View("/fleet", "Fleet", body, {"fleet": found.document, "failures": failed})

    def _waiting(self) -> int:
        try:
            return len(self._ports.approvals())
        except HooklineError:
            return 0

    def _dead_letters(self) -> int:
        try:
            return sum(job["state"] == "dead" for job in self._ports.jobs()["jobs"])
        except HooklineError:
            return 0

    def _approvals(self, request: Request) -> View:
        result = request.query_params.get("result", "")
        check_choice("result", result, approvals.RESULTS)
        waiting, now = self._ports.approvals(), time.time()
        body = approvals.body(waiting, result, request.scope[FORM_WORD], now)
        return View("/approvals", "Approvals", body, {"waiting": waiting})

    async def _answer(self, request: Request) -> Response:
        """Answer a call that waits, and show the page again."""
        given: dict[str, list[str]] = {}
        if int(request.headers.get("content-length") or _LARGEST_FORM + 1) <= _LARGEST_FORM:
            given = parse_qs((await request.body()).decode(errors="replace"))
        token, wanted, message = (given.get(name, [""])[0] for name in ("token", "answer", "message"))
        known = bool(request.scope[FORM_WORD]) and hmac.compare_digest(
            token.encode(), request.scope[FORM_WORD].encode()
        )
        name = request.path_params["id"]
        if not known or wanted not in ("allow", "deny") or not _WORD.fullmatch(name):
            body = section("This form is not valid", empty("Load the page again, and answer there."))
            return self._page("/approvals", "Not answered", body, status=403)
        allow = wanted == "allow"
        done = await run_in_threadpool(self._ports.answer, name, allow=allow, message=message[:500])
        result = ("allowed" if allow else "denied") if done else "late"
        return RedirectResponse(f"/approvals?result={result}", 303)

    def _runs(self, request: Request) -> View:
        wanted, now = PageFilter.of(request.query_params), time.time()
        rows = self._queries.page(replace(wanted, status=wanted.shown_status), now)
        summary = self._queries.summary(wanted, now)
        following = rows[-1].n if len(rows) >= PAGE else 0
        body = runs.body(
            wanted, self._queries.choices(), summary, self._drawn(rows, now, chosen=wanted.chooses), following
        )
        return View(
            "/runs", "Runs", body, {"filter": wanted, "summary": summary, "runs": rows, "before": following}
        )

    def _at(self, request: Request) -> tuple[RunRow, Run] | None:
        found = re.fullmatch(r"([0-9]{1,18})(?:\.([0-9]{1,6}))?", request.path_params["position"])
        if found is None:
            return None
        row = self._queries.at(request.path_params["segment"], int(found[1]), int(found[2] or 0))
        run = self._found(row) if row is not None else None
        return (row, run) if row is not None and run is not None else None

    def _run(self, request: Request) -> View | Response:
        found = self._at(request)
        if found is None:
            return self._missing(request, LookupError())
        row, run = found
        title = f"{one_line(run.hook, 60)} · Run"
        local = self._index.sources[row.origin].local
        kept = self._ports.payload(run) if local else None
        body = one_run.body(row, run, kept, explained=local, now=time.time())
        return View("/runs", title, body, {"run": run, "machine": row.machine, "payload": kept})

    def _why(self, request: Request) -> Response:
        found = self._at(request)
        if found is None or not self._index.sources[found[0].origin].local:
            return HTMLResponse(one_run.why_not("the run is not here"), 404)
        try:
            return HTMLResponse(one_run.why(self._ports.explain(found[1]), found[1]))
        except HooklineError as problem:
            return HTMLResponse(one_run.why_not(one_line(str(problem), 500)))

    def _sessions(self, request: Request) -> View:
        wanted, now = PageFilter.of(request.query_params), time.time()
        rows = self._queries.sessions(wanted, now, _SESSIONS)
        body = sessions.list_body(wanted, self._queries.choices(), rows, now, self._elsewhere)
        return View("/sessions", "Sessions", body, {"filter": wanted, "sessions": rows})

    def _session(self, request: Request) -> View:
        session, machine = request.path_params["session"], request.query_params.get("machine", "")
        rows = self._queries.of_session(session, machine, sessions.MOST)
        body = sessions.timeline_body(session, rows, time.time())
        return View("/sessions", f"Session {one_line(session, 40)}", body, {"session": session, "runs": rows})

    def _guards(self, request: Request) -> View:
        wanted, now = PageFilter.of(request.query_params), time.time()
        passes = self._queries.open_passes(wanted, now)
        counted = self._coverage.result(again="again" in request.query_params)
        runs = self._queries.summary(wanted, now).totals.runs
        coverage = guards.coverage(counted, self._of_this_machine(passes), now)
        body = guards.body(wanted, self._queries.choices(), runs, passes, self._elsewhere)
        shown = (body, self._only_here("Coverage is"), coverage)
        return View("/guards", "Guards", shown, {"failed_open": passes, "coverage": counted.document})

    def _of_this_machine(self, passes: list[OpenPass]) -> list[OpenPass]:
        return [each for each in passes if each.machine == self._machine]

    def _guards_coverage(self, request: Request) -> Response:
        now = time.time()
        passes = self._queries.open_passes(PageFilter.of(request.query_params), now)
        return HTMLResponse(guards.coverage(self._coverage.result(), self._of_this_machine(passes), now))

    def _time(self, request: Request) -> View:
        wanted, now = PageFilter.of(request.query_params), time.time()
        hooks, over_time = self._queries.hooks(wanted, now), self._queries.times(wanted, now)
        body = times.body(wanted, self._queries.choices(), hooks, over_time, now)
        return View("/time", "Time", body, {"filter": wanted, "hooks": hooks, "times": over_time})

    def _jobs(self, request: Request) -> View:
        state = request.query_params.get("state", "")
        check_choice("state", state, jobs.STATES)
        document: Document | None = None
        try:
            document = self._ports.jobs()
            body: Child = jobs.list_body(document, state, time.time())
        except HooklineError as problem:
            body = section("Jobs of durable hooks", empty(one_line(str(problem), 500)))
        return View("/jobs", "Jobs", (self._only_here("Jobs are those"), body), document)

    def _job(self, request: Request) -> View | Response:
        try:
            job = self._ports.job(request.path_params["id"])
        except HooklineError as problem:
            return self._page("/jobs", "Job", section("Job", empty(one_line(str(problem), 500))))
        if job is None:
            return self._missing(request, LookupError())
        return View("/jobs", f"{one_line(job['hook'], 60)} · Job", jobs.job_body(job, time.time()), job)

    def _backtests(self, request: Request) -> View:
        del request
        reports = self._ports.backtests()
        body = (self._only_here("Backtests are those"), backtests.list_body(reports, time.time()))
        return View("/backtests", "Backtests", body, reports)

    def _backtest(self, request: Request) -> View | Response:
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
        return View("/backtests", "Backtest", body, found)

    # -- other responses

    async def _live(self, request: Request) -> Response:
        last = request.headers.get("last-event-id") or request.query_params.get("after", "")
        return StreamingResponse(self._events(last[:100]), media_type="text/event-stream")

    def _events(self, last: str) -> AsyncIterator[bytes]:
        return self.live.listen(last)

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._static:
            return Response("no such file", 404)
        return Response(self._static[name], media_type=_STATIC[name])
