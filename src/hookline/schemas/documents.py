"""The JSON Schemas (2020-12) of the native format, all derived from the event rows; a host's own rows work too.

`payload_schema` is what a hook is given, `answer_schema` what it may answer, `config_schema` the file that
configures it.
"""

from hookline.schemas.answer import answer_schema
from hookline.schemas.config import config_schema
from hookline.schemas.payload import payload_schema

__all__ = ["answer_schema", "config_schema", "payload_schema"]
