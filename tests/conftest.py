"""The same examples in every run: a property that fails once fails for everybody.

HYPOTHESIS_EXPLORE=1 looks for new ones.
"""

import os

from hypothesis import settings

settings.register_profile("steady", derandomize=True, database=None)
settings.register_profile("explore", max_examples=1000)
settings.load_profile("explore" if os.environ.get("HYPOTHESIS_EXPLORE") else "steady")
