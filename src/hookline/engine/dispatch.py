"""The main path: an event goes in, one outcome comes out."""

from typing import TYPE_CHECKING, TypeVar

from hookline.engine.moment import Moment
from hookline.engine.rechecking import recheck
from hookline.engine.running import run_lane
from hookline.engine.selection import select
from hookline.model.events import EventSpec
from hookline.model.outcome import GO_ON, Outcome

if TYPE_CHECKING:
    from hookline.engine.sessions import Session

P = TypeVar("P")


async def dispatch(session: "Session", event: EventSpec[P], payload: P) -> Outcome:
    """Run the hooks that concern this event and merge what they say, in config order.

    Nothing is raised but cancellation: whatever goes wrong in a hook is judged by its policy and recorded.
    The host alone changes the world; the outcome only says what the hooks want.
    """
    if event.ticks is not None:
        session.counts.tick(event.ticks)
    lanes = session.lanes(event.name)
    if not lanes:
        return GO_ON

    moment = Moment(session, event, payload)
    for lane in lanes:  # every lane runs: a block in one must not blind the audit in another
        chosen = select(lane, event, moment.payload, session)  # matcher, condition, once
        said = await run_lane(lane, moment, chosen) if chosen else ()  # run, decode, failure reaction, clip
        moment.take(lane, said)  # fold; what was rewritten is what the next lane sees
    if moment.outcome.edits:
        await recheck(moment)  # a guard must have judged the final value
    return moment.limited()  # an agent held back too often goes on
