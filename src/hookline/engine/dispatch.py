"""The main path: an event goes in, one outcome comes out."""

from typing import TYPE_CHECKING, TypeVar

from hookline.engine.lanes import Armed, held, select
from hookline.engine.moment import Asked, Moment, field_of
from hookline.engine.run_lane import all_at_once, run_lane
from hookline.model.events import EventSpec, May
from hookline.model.outcome import GO_ON, Outcome

if TYPE_CHECKING:
    from hookline.engine.session import Session


async def recheck(moment: Moment) -> None:
    """Ask stale guards again, on the final payload. Only their votes count."""
    field = moment.event.rewrites
    if field is None or not moment.event.may & May.BLOCK:
        return
    stale = _stale_guards(moment, field)
    if stale:
        for one in await all_at_once(moment, stale, recheck=True):
            moment.add(one.armed.hook, Outcome(votes=one.outcome.votes))


def _stale_guards(moment: Moment, field: str) -> list[Armed]:
    final = field_of(moment.payload, field)
    last_editor = next(
        (one.armed for asked in reversed(moment.asked) for one in reversed(asked.said) if one.outcome.edits),
        None,
    )
    stale: list[Armed] = []
    for asked in moment.asked:
        changed_later = field_of(asked.left, field) != final
        if not (asked.lane.guards and (changed_later or asked.lane.rechecks_own)):
            continue
        fresh = {
            id(one.armed)
            for one in asked.said
            if field_of(one.seen, field) == final or (not changed_later and one.armed is last_editor)
        }
        stale.extend(armed for armed in _concerned(moment, asked) if id(armed) not in fresh)
    return stale


def _concerned(moment: Moment, asked: Asked) -> list[Armed]:
    """The guards of a lane that the final payload concerns, also those the first one did not concern."""
    event, payload, session = moment.event, moment.payload, moment.session
    before = [one.armed for one in asked.said]
    known = {id(armed) for armed in before}
    again = [armed for armed in before if held(armed, event, payload, session) is not None]
    newly = [armed for armed in select(asked.lane, event, payload, session) if id(armed) not in known]
    return [armed for armed in (*again, *newly) if armed.may & May.BLOCK and armed.hook.waiting == "wait"]


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
