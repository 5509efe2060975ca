"""A guard must have judged the final value. Those that saw an older one are asked once more."""

from hookline.engine.folding import field_of
from hookline.engine.lanes import Armed
from hookline.engine.moment import Asked, Moment
from hookline.engine.running import all_at_once
from hookline.engine.selection import held, select
from hookline.model.events import May
from hookline.model.outcome import Outcome


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
