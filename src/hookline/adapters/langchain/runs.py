"""Watch the runs of LangChain's graphs, to report those that end with an error.

Middleware sees a request or a call that failed, not whether other middleware tries again. LangChain's callbacks see
the end of the run itself: after the last try, and whatever raised.
"""

from collections.abc import Awaitable, Callable, Hashable
from contextvars import ContextVar
from functools import cache
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tracers.context import register_configure_hook
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp

#: Reports the error that a run ended with.
Report = Callable[[BaseException], Awaitable[None]]


class GraphRuns(BaseCallbackHandler):
    """The graphs that run now and have hooks, by the ids of their runs."""

    run_inline = True

    def __init__(self) -> None:
        #: The graph of each node that runs now.
        self._graphs: dict[Any, Any] = {}
        self._reports: dict[Any, dict[Hashable, Report]] = {}

    @property
    def ignore_llm(self) -> bool:
        return True

    @property
    def ignore_chat_model(self) -> bool:
        return True

    def watch(self, key: Hashable, report: Report) -> None:
        """Call `report`, once per key, if the graph whose node runs here ends with an error."""
        graph = self._graphs.get(getattr(get_config().get("callbacks"), "parent_run_id", None))
        if graph is not None:
            self._reports.setdefault(graph, {})[key] = report

    def on_chain_start(self, *_given: Any, run_id: Any, parent_run_id: Any = None, **_more: Any) -> None:
        if parent_run_id is not None:
            self._graphs[run_id] = parent_run_id

    def on_chain_end(self, *_given: Any, run_id: Any, **_more: Any) -> None:
        self._ended(run_id)

    async def on_chain_error(self, error: BaseException, *, run_id: Any, **_more: Any) -> None:
        reports = self._ended(run_id)
        if isinstance(error, GraphBubbleUp):  # it is paused, or hands over to another agent
            return
        for report in reports:
            await report(error)

    def _ended(self, run_id: Any) -> list[Report]:
        self._graphs.pop(run_id, None)
        return [*self._reports.pop(run_id, {}).values()]


@cache
def graph_runs() -> GraphRuns:
    """Return the one handler of this process. LangChain passes it the events of all runs from now on."""
    runs = GraphRuns()
    register_configure_hook(ContextVar("hookline_runs", default=runs), inheritable=True)
    return runs
