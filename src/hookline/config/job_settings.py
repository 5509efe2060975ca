"""Read how often and when failed jobs of durable hooks are tried again: `[jobs]` of the user's settings."""

from collections.abc import Mapping
from typing import Final

import msgspec

from hookline.dialects.files import user_setting
from hookline.jobs.port import JobSettings

JOBS: Final = "jobs"
#: Attempts after the first, and seconds between two, at most.
_MOST: Final = 50
_LONGEST: Final = 86_400.0


def job_settings(env: Mapping[str, str]) -> JobSettings:
    """Return the settings of this user; a mistake counts as no setting, and doctor reports it."""
    for _document, value in user_setting(JOBS, env):
        found = read_job_settings(value)
        if isinstance(found, JobSettings):
            return found
    return JobSettings()


def read_job_settings(value: object) -> JobSettings | str:
    """Return the settings in a table, or what is wrong with it."""
    try:
        found = msgspec.convert(value, JobSettings)
    except msgspec.ValidationError as problem:
        return str(problem)
    if len(found.delays) > _MOST or not all(0 <= each <= _LONGEST for each in found.delays):
        return f"delays are at most {_MOST} numbers of seconds, from 0 to {_LONGEST:.0f}"
    return found
