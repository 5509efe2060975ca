"""Every prompt says which ticket it is about."""

import json
import sys

prompt = json.load(sys.stdin)["text"]
print(json.dumps({"text": f"{prompt} (ticket 12: the tax is 20 %, and amounts are whole cents)"}))
